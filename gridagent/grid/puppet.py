"""A backend moved by hand: for tests of what stands above the grid.

Owns no world. A `Puppet` makes one `PuppetBackend` a generation and remembers them all; the test pushes
events, ends connections with any cause, and says how actions end. For a living world use the simulated
grid. Bounded: it remembers the newest 1,024 backends and applied actions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import trio

from gridagent.actions import Action, Confirmed, Outcome, Position
from gridagent.errors import BackendError
from gridagent.events import (
    AvatarView,
    BackendReady,
    DisconnectCause,
    GridEvent,
    GridProfile,
    ObjectView,
    PartHealth,
    TransportUp,
)
from gridagent.grid.base import EventSink, Redeem, Traces
from gridagent.ids import AvatarId, EffectKey, Generation
from gridagent.limits import Label
from gridagent.policy import AuthorizedAction

__all__ = ("PUPPET_ID", "Puppet", "PuppetBackend", "ready_event")

PUPPET_ID = AvatarId("00000000-0000-4000-8000-00000000a1a1")
_REMEMBERED_MAX = 1024

Applier: TypeAlias = Callable[[Action], Awaitable[Outcome]]


def ready_event(name: str = "Robin Resident") -> BackendReady:
    """Return the event with which a puppet says that it is in world."""
    return BackendReady(
        avatar_id=PUPPET_ID,
        name=name,
        region="Stage",
        position=Position(x=128.0, y=128.0, z=25.0),
        profile=GridProfile(grid="puppet"),
    )


async def _confirm(action: Action) -> Outcome:
    """Confirm at once with the evidence that the action names."""
    await trio.lowlevel.checkpoint()
    return Confirmed(evidence=action.spec.evidence)


class PuppetBackend:
    """One generation's backend; implements `gridagent.grid.GridBackend`."""

    def __init__(self, puppet: Puppet, generation: Generation, redeem: Redeem) -> None:
        self.generation = generation
        self.sink: EventSink | None = None
        self.running = False
        self.logouts = 0
        self.halts = 0
        self.applied: deque[Action] = deque(maxlen=_REMEMBERED_MAX)
        self.effects: deque[EffectKey] = deque(maxlen=_REMEMBERED_MAX)
        """Keys of what was applied, in the same order."""
        self._puppet = puppet
        self._redeem = redeem
        self.logged_in = False
        self._end = trio.Event()
        self._error: Exception | None = None

    async def run(self, sink: EventSink) -> None:
        """Log in if told to, then wait until the test ends the connection."""
        puppet = self._puppet
        self.sink, self.running = sink, True
        try:
            if puppet.refuse_login is not None:
                await trio.lowlevel.checkpoint()
                raise BackendError(puppet.refuse_login.value, detail=puppet.detail)
            self.logged_in = puppet.log_in or puppet.become_ready
            if puppet.log_in:
                await sink.send(TransportUp(avatar_id=PUPPET_ID, name="Robin Resident"))
            if puppet.become_ready:
                await sink.send(ready_event())
            await self._end.wait()
        finally:
            self.running = False
        if self._error is not None:
            raise self._error

    async def push(self, *events: GridEvent) -> None:
        """Put events as if the grid had told them."""
        if self.sink is None:
            raise RuntimeError("the backend has not been run")
        await self.sink.send_many(events)

    def end(self, cause: DisconnectCause | None = None) -> None:
        """End the connection: with a cause as a failure, without one in order."""
        self.crash(None if cause is None else BackendError(cause.value, detail=self._puppet.detail))

    def crash(self, error: Exception | None) -> None:
        """End the connection with this very error."""
        self._error = error
        self._end.set()

    async def apply(self, authorized: AuthorizedAction) -> Outcome:
        """Redeem, remember, and end as the puppet was told."""
        record = self._redeem(authorized)
        self.applied.append(record.action)
        self.effects.append(record.effect)
        return await self._puppet.applier(record.action)

    async def logout(self) -> None:
        """Count, and take as long as the puppet was told."""
        self.logouts += 1
        await trio.sleep(self._puppet.logout_takes_s)

    def halt(self) -> None:
        """Count."""
        self.halts += 1

    def avatars(self) -> Sequence[AvatarView]:
        """Show whom the test put there."""
        return self._puppet.near

    def objects(self) -> Sequence[ObjectView]:
        """Show what the test put there."""
        return self._puppet.things

    def vitals(self) -> Sequence[PartHealth]:
        """Show what the test put there."""
        return self._puppet.vitals

    def traces(self, reference: Label) -> Traces:
        """Show what the test says is left of a deed."""
        return self._puppet.left.get(reference, Traces(money_since=self._puppet.money_since))


class Puppet:
    """Makes puppet backends; implements `gridagent.grid.BackendFactory`."""

    def __init__(self) -> None:
        self.backends: deque[PuppetBackend] = deque(maxlen=_REMEMBERED_MAX)
        self.log_in = True
        """Say that the transport is up."""
        self.become_ready = True
        """Say that the avatar is in world."""
        self.refuse_login: DisconnectCause | None = None
        self.detail = ""
        """Text of the failures, as a grid would send it."""
        self.logout_takes_s = 0.0
        self.applier: Applier = _confirm
        """How actions end."""
        self.near: Sequence[AvatarView] = ()
        self.things: Sequence[ObjectView] = ()
        self.vitals: Sequence[PartHealth] = ()
        """How the connection is said to be."""
        self.left: dict[Label, Traces] = {}  # as many as the test puts there
        """What is left of each deed, by its nonce."""
        self.money_since: float | None = None
        """From when on a payment that left nothing was not made."""

    def __call__(self, *, generation: Generation, redeem: Redeem) -> PuppetBackend:
        """Make the backend of one generation."""
        backend = PuppetBackend(self, generation, redeem)
        self.backends.append(backend)
        return backend

    @property
    def now(self) -> PuppetBackend:
        """The newest backend."""
        return self.backends[-1]
