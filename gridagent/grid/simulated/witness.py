"""An avatar moved by hand, which remembers what it perceived: for tests of worlds and of characters.

Owns a login and a bounded memory; adds nothing to the world. `Witness.do` performs an action and lets the
world move on until the action's evidence has come, as a backend would, but without trio. For a backend
moved by hand see `gridagent.grid.puppet`. Invariant: it remembers the newest `REMEMBERED_MAX` events.
"""

from __future__ import annotations

from collections import deque
from typing import Final, TypeVar

from gridagent.actions import Action, InDoubt, Outcome
from gridagent.events import DisconnectCause, GridEvent
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.grid.simulated.sessions import Session
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId

__all__ = ("REMEMBERED_MAX", "Witness")

REMEMBERED_MAX: Final = 4_096

E = TypeVar("E", bound=GridEvent)


class Witness:
    """Somebody in a world whose every move the caller makes.

    Args:
        world: where.
        avatar_id: who; logs in at once.
        now: seconds; the world's present moment by default.
    """

    __slots__ = ("_acted", "_outcome", "_waiting", "avatar_id", "ended_by", "events", "session", "world")

    def __init__(self, world: World, avatar_id: AvatarId, now: float | None = None) -> None:
        self.world = world
        self.avatar_id = avatar_id
        self.events: deque[GridEvent] = deque(maxlen=REMEMBERED_MAX)
        self.ended_by: DisconnectCause | None = None
        self._acted = 0
        self._waiting: tuple[Action, str] | None = None
        self._outcome: Outcome | None = None
        moment = world.now if now is None else now
        self.session: Session = world.login(avatar_id, moment)
        world.attach(avatar_id, self._on_event, self._on_end, now=moment)

    def do(self, action: Action) -> Outcome:
        """Perform an action and let time pass until its evidence has come, or its deadline.

        Returns:
            What the evidence says, or `InDoubt` when none came.
        """
        self._acted += 1
        reference = f"w{self._acted}"
        self._waiting = (action, reference)
        self._outcome = None
        until = self.world.now + action.spec.deadline_s
        self.world.perform(self.avatar_id, action, self.world.now, reference)
        while self._verdict() is None:
            due = self.world.next_timer()
            if due is None or due > until:
                self.world.advance(until)
                break
            self.world.advance(due)
        self._waiting = None
        return self._verdict() or InDoubt(reason="no_evidence")

    def pass_time(self, seconds: float) -> None:
        """Let the world move on."""
        self.world.advance(self.world.now + seconds)

    def saw(self, kind: type[E]) -> list[E]:
        """Return what was perceived of a kind, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def leave(self) -> None:
        """Log out."""
        self.world.logout(self.avatar_id, self.world.now, self.session)

    def _verdict(self) -> Outcome | None:
        return self._outcome

    def _on_event(self, event: GridEvent) -> None:
        self.events.append(event)
        if self._waiting is not None and self._outcome is None:
            action, reference = self._waiting
            context = EvidenceContext(me=self.avatar_id, where=self.world.position)
            self._outcome = judge(action, reference, event, context)

    def _on_end(self, cause: DisconnectCause) -> None:
        self.ended_by = cause
