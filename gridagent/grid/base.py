"""The port between a session and a grid: what every backend gives and takes.

Owns the two protocols and nothing else; knows no adapter. The session calls it; adapters
(`gridagent.grid.simulated`, ``live_grid.backend``) implement it. Its invariant: events come in only as
bounded `GridEvent` values (Spec: SUP-12), and the world is changed only by `WorldMutator.apply`, which
takes nothing but an `AuthorizedAction` and redeems it before it sends anything (Spec: POL-1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from gridagent.actions import Action, Outcome
from gridagent.events import AvatarView, GridEvent, ObjectView, PartHealth
from gridagent.ids import EffectKey, Generation
from gridagent.limits import Label
from gridagent.policy.authorized import AuthorizedAction

__all__ = (
    "REFERENCE_CHARS",
    "BackendFactory",
    "EventSink",
    "GridBackend",
    "Redeem",
    "RedeemedAction",
    "Traces",
    "WorldMutator",
)

REFERENCE_CHARS: Final = 16
"""Characters of the effect key that go to the grid as the action's nonce: 64 bits of it."""


class RedeemedAction(Protocol):
    """What the ledger hands out for a handle, once: the only place an adapter reads arguments from."""

    @property
    def action(self) -> Action:
        """The action, as it was authorised; later changes to the asker's copy have no effect."""
        ...

    @property
    def effect(self) -> EffectKey:
        """Key of the effect; adapters put its first characters where the grid can carry a nonce."""
        ...


Redeem: TypeAlias = Callable[[AuthorizedAction], RedeemedAction]
"""Synchronous and one-shot: pops the record from the ledger or raises `AuthorityRefused`."""


class Traces(msgspec.Struct, frozen=True, kw_only=True):
    """What a grid still shows of one deed of ours, asked for by its nonce."""

    told: tuple[GridEvent, ...] = ()
    """What was told of it, told again, at most 16: payments (`BalanceChanged`), items (`InventoryChanged`) and objects
    (`ObjectSeen`) that bear the nonce. Only what nobody else can mark: our debits, what we made, what is ours."""
    money_since: float | None = None
    """From when on, by our wall clock, the payments come from a record of the grid's own that misses none of ours and
    keeps their nonces: what was sent later and is not among them was not paid. None where there is no such record."""


class EventSink(Protocol):
    """Where a backend puts what the grid tells; bounded, belongs to one generation."""

    async def send(self, event: GridEvent) -> None:
        """Put one event; waits while the queue is full.

        Cancellation: safe; the event is then not put.

        Raises:
            ResourceClosed: the generation is over; the backend must end.
        """
        ...

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Put several events in order with one checkpoint when there is room."""
        ...


class WorldMutator(Protocol):
    """The one door to the world."""

    async def apply(self, authorized: AuthorizedAction) -> Outcome:
        """Redeem the handle, send the action, and wait for the evidence that its spec names.

        Redeeming and encoding happen without an await between them. Each handle gets exactly one
        outcome: `Refused` when nothing was sent or the grid said no, `Confirmed` on evidence,
        `InDoubt` when neither came within the action's deadline.

        Cancellation: may have acted. A cancelled call raises; the session then settles the effect
        from the ledger (sent → in doubt, not redeemed → refused).

        Raises:
            AuthorityRefused: the handle is forged, replayed, expired or stale; nothing was sent.
        """
        ...


class GridBackend(WorldMutator, Protocol):
    """One connection to a grid: lives for one generation and is never reused."""

    async def run(self, sink: EventSink) -> None:
        """Log in, then put events until the connection ends.

        Returns when the grid closed the session in order. Cancellation is how the session ends it.

        Raises:
            BackendError: the connection failed, with a typed cause; its detail goes to the log only.
        """
        ...

    async def logout(self) -> None:
        """Tell the grid that the avatar leaves. Called at most once, under a deadline, also after a failed run."""
        ...

    def halt(self) -> None:
        """Cease what goes on by itself (walking, following); synchronous, idempotent, begins nothing new."""
        ...

    def avatars(self) -> Sequence[AvatarView]:
        """Return who is near now, nearest first; at most 256. Reading causes nothing."""
        ...

    def objects(self) -> Sequence[ObjectView]:
        """Return what is near now, nearest first; at most 256. Reading causes nothing."""
        ...

    def vitals(self) -> Sequence[PartHealth]:
        """Return how the connection's parts are now, at most 16 figures; none where there is nothing to measure."""
        ...

    def traces(self, reference: Label) -> Traces:
        """Return what the grid still shows of a deed of ours, now; nothing where it keeps no record. Causes nothing."""
        ...


class BackendFactory(Protocol):
    """Makes one backend a generation; the composition root chooses it."""

    def __call__(self, *, generation: Generation, redeem: Redeem) -> GridBackend:
        """Return a backend that has not begun to connect."""
        ...
