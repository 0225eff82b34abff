"""Hosting scripted characters: giving them senses, and doing what they ask for when it is due.

Owns the life of each character: logging inhabitants in, again after the grid threw them out, and the
bounded list of what waits for each. Decides nothing a character decides. Invariant: a character has at
most `PENDING_MAX` requests waiting; more are dropped and counted, so that no character can grow the world
(Spec: SIM-1, BND-1). An exception out of a character is a bug and is not caught.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias, get_args

from gridagent.actions import ACTIONS, Action, Position
from gridagent.errors import BackendError, OperatorError
from gridagent.events import AvatarView, DisconnectCause, GridEvent, ObjectView
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.characters import (
    PENDING_MAX,
    Act,
    Character,
    ObjectAction,
    ObjectEvent,
    Request,
)
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.presence import attach, log_in
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.scripts import act
from gridagent.grid.simulated.state import State
from gridagent.grid.simulated.surroundings import avatars_near, objects_near
from gridagent.grid.simulated.timers import Timer
from gridagent.ids import AvatarId, ObjectId

__all__ = ("REACTION_S", "RETURN_S", "Hosting", "Perform")

REACTION_S: Final = 0.02
"""Nobody reacts faster; without it, two characters that echo each other would stop time."""
RETURN_S: Final = 30.0
"""An inhabitant whom the grid threw out, or would not let in, tries again after so long."""
_OBJECT_ACTIONS: Final = get_args(ObjectAction)

Perform: TypeAlias = Callable[[Avatar, Action], None]


class _Scene:
    """What one character can see; shared by inhabitants and objects."""

    __slots__ = ("_state", "_who", "me", "rng")

    def __init__(self, state: State, who: Avatar | GridObject, rng: random.Random) -> None:
        self._state = state
        self._who = who
        self.me: AvatarId | ObjectId = who.avatar_id if isinstance(who, Avatar) else who.object_id
        self.rng = rng

    @property
    def now(self) -> float:
        return self._state.now

    @property
    def name(self) -> str:
        return self._who.name if isinstance(self._who, Avatar) else self._who.thing.name

    @property
    def region(self) -> str:
        return self._where().name

    @property
    def region_size_m(self) -> int:
        return self._where().size_m

    @property
    def position(self) -> Position:
        if isinstance(self._who, Avatar):
            return self._state.body(self._who).position_at(self._state.now)
        return self._who.position

    @property
    def balance(self) -> int:
        return self._who.balance if isinstance(self._who, Avatar) else 0

    def avatars(self) -> Sequence[AvatarView]:
        return avatars_near(self._state, self._where(), self.position, self.me)

    def objects(self) -> Sequence[ObjectView]:
        return objects_near(self._where(), self.position, self.me)

    def _where(self) -> Region:
        return self._state.body(self._who).region if isinstance(self._who, Avatar) else self._who.region


class _Host:
    """One character and what waits for it."""

    __slots__ = ("_carry_out", "_character", "_hosting", "_numbers", "_pending", "_scene", "_state")

    def __init__(
        self,
        hosting: Hosting,
        state: State,
        scene: _Scene,
        character: Character,
        carry_out: Callable[[Action | ObjectAction], bool],
    ) -> None:
        self._hosting = hosting
        self._state = state
        self._scene = scene
        self._character = character
        self._carry_out = carry_out
        self._pending: dict[int, Timer] = {}
        self._numbers = 0

    def start(self) -> None:
        self._take(self._character.start(self._scene))

    def on_event(self, event: GridEvent | ObjectEvent) -> None:
        self._take(self._character.on_event(event, self._scene))

    def forget(self) -> None:
        """Drop what waits: the character is no longer there."""
        for timer in self._pending.values():
            timer.cancel()
        self._pending.clear()

    def _take(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if len(self._pending) >= PENDING_MAX:
                self._hosting.dropped += 1
                continue
            self._numbers += 1
            delay_s = max(request.after_s, REACTION_S)
            self._pending[self._numbers] = self._state.after(delay_s, partial(self._due, self._numbers, request))

    def _due(self, number: int, request: Request) -> None:
        del self._pending[number]
        if not isinstance(request, Act):
            self._take(self._character.on_wake(request.name, self._scene))
        elif not self._carry_out(request.action):
            self._hosting.misfits += 1


class Hosting:
    """Every character of one world.

    Args:
        state: the world's state.
        perform: does an action for an inhabitant.
    """

    __slots__ = ("_begun", "_perform", "_state", "_waiting", "dropped", "misfits")

    def __init__(self, state: State, perform: Perform) -> None:
        self._state = state
        self._perform = perform
        self._begun = False
        self._waiting: list[tuple[float, Callable[[], None]]] = []  # one a character, until the world begins
        self.dropped = 0
        """Requests over `PENDING_MAX`."""
        self.misfits = 0
        """Requests in the other kind's words, or that a script could not carry out."""

    def begin(self) -> None:
        """Let everybody come who was announced before the world began."""
        self._begun = True
        waiting, self._waiting = self._waiting, []
        for after_s, enter in waiting:
            self._state.after(after_s, enter)

    def inhabit(self, avatar: Avatar, character: Character, after_s: float) -> None:
        """Let a character live as an avatar."""
        scene = _Scene(self._state, avatar, self._state.stream(f"character/{avatar.avatar_id}"))
        host = _Host(self, self._state, scene, character, partial(self._act, avatar))
        self._enter_later(after_s, partial(self._come, avatar, host))

    def script(self, thing: GridObject, character: Character, after_s: float) -> None:
        """Let a character live in an object.

        Raises:
            OperatorError: the object has a script already.
        """
        if thing.script is not None:
            raise OperatorError(f"object {thing.thing.name!r} has a script already; one object holds one")
        scene = _Scene(self._state, thing, self._state.stream(f"character/{thing.object_id}"))
        host = _Host(self, self._state, scene, character, partial(self._act_as_object, thing))
        thing.script = host.on_event
        thing.region.listeners[thing.object_id] = thing
        self._enter_later(after_s, host.start)

    def _enter_later(self, after_s: float, enter: Callable[[], None]) -> None:
        if self._begun:
            self._state.after(after_s, enter)
        else:
            self._waiting.append((after_s, enter))

    def _come(self, avatar: Avatar, host: _Host) -> None:
        try:
            log_in(self._state, avatar).hosted = True
        except BackendError:
            # Expected while a region is down or somebody else uses the account; come back later.
            self._state.after(RETURN_S, partial(self._come, avatar, host))
            return
        host.start()
        attach(self._state, avatar, host.on_event, partial(self._thrown_out, avatar, host))

    def _thrown_out(self, avatar: Avatar, host: _Host, cause: DisconnectCause) -> None:
        del cause
        host.forget()
        self._state.after(RETURN_S, partial(self._come, avatar, host))

    def _act(self, avatar: Avatar, action: Action | ObjectAction) -> bool:
        if not isinstance(action, ACTIONS):
            return False
        self._perform(avatar, action)
        return True

    def _act_as_object(self, thing: GridObject, action: Action | ObjectAction) -> bool:
        # A deleted object's script is gone, but what it asked for before may still be due.
        if not isinstance(action, _OBJECT_ACTIONS) or thing.script is None:
            return False
        return act(self._state, thing, action)
