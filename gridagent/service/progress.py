"""Proof of progress: that every avatar's loop still gets round, and that the store still answers (Spec: OPS-3).

Owns the asking and the judging. Every few seconds each avatar's loop is made to turn and the store to write nothing;
only they move the times that are judged. So a loop that is stuck shows although timers and sockets go on, and an avatar
to whom nothing happens for hours is well. What the grid or a model does counts for nothing here: an outage of theirs is
no reason to kill a service. Causes nothing in the world (Spec: MND-18).

Invariant: where nobody asks, nothing is proved: without `Progress.run`, everything counts as stalled after a while.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
import trio

from gridagent.errors import OutcomeUnknown, ResourceClosed
from gridagent.runtime.ports import Clock
from gridagent.service.service import Service
from gridagent.session import SessionHandle
from gridagent.storage.base import StorageFailed, Store

__all__ = ("PROBE_EVERY_S", "STALL_AFTER_S", "Part", "PartState", "Progress")

PROBE_EVERY_S: Final = 5.0
"""Seconds between two questions."""
STALL_AFTER_S: Final = 45.0
"""Seconds without a turn or an answer that count as stalled: more than one commit to a stuck disk takes to fail."""


class PartState(StrEnum):
    """What is known of one part."""

    TURNING = "turning"
    """An avatar's loop gets round."""
    STOPPING = "stopping"
    """The avatar is about to stop, and within its time-out."""
    STOPPED = "stopped"
    """Nothing of the avatar is left."""
    WRITING = "writing"
    """The store answers."""
    SAFE_MODE = "safe_mode"
    """The store answers that it failed: alive, and an operator has something to mend (Spec: EFX-4)."""
    STALLED = "stalled"
    """No sign of life for too long."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part whose progress is proved."""

    kind: str
    """``avatar`` or ``store``."""
    name: str
    state: PartState


class Progress:
    """What of a service still makes progress.

    Args:
        service: whose avatars are asked.
        store: asked too; None where nothing is kept.
        clock: by which the avatars' turns are stamped.
        stall_after_s: seconds without a sign of life that count as stalled.
    """

    __slots__ = ("_began", "_clock", "_service", "_stall_after", "_store", "_stored_at")

    def __init__(
        self, service: Service, *, store: Store | None, clock: Clock, stall_after_s: float = STALL_AFTER_S
    ) -> None:
        self._service = service
        self._store = store
        self._clock = clock
        self._stall_after = stall_after_s
        self._began = self._stored_at = clock.monotonic()

    async def run(self) -> None:
        """Ask, until cancelled.

        Cancellation: safe; a commit that has begun is waited for, as always.
        """
        async with trio.open_nursery(strict_exception_groups=True) as nursery:
            if self._store is not None:
                nursery.start_soon(self._ask_store, self._store, name="progress.store")
            while True:
                for key in self._service.avatars:
                    self._service.avatar(key).probe()
                await trio.sleep(PROBE_EVERY_S)

    async def _ask_store(self, store: Store) -> None:
        while True:
            try:
                await store.commit()
            except ResourceClosed:
                return  # the service ends
            except (StorageFailed, OutcomeUnknown):
                await trio.lowlevel.checkpoint()  # an answer all the same, and safe mode says which
            self._stored_at = self._clock.monotonic()
            await trio.sleep(PROBE_EVERY_S)

    def parts(self) -> tuple[Part, ...]:
        """Return what is known of every part."""
        now = self._clock.monotonic()
        handles = map(self._service.avatar, self._service.avatars)
        avatars = [Part(kind="avatar", name=handle.key, state=self._avatar(handle, now)) for handle in handles]
        store = [] if self._store is None else [Part(kind="store", name="ledger", state=self._kept(self._store, now))]
        return (*avatars, *store)

    @property
    def alive(self) -> bool:
        """Whether no part is stalled."""
        return all(part.state is not PartState.STALLED for part in self.parts())

    def _avatar(self, handle: SessionHandle, now: float) -> PartState:
        if handle.stopped:
            return PartState.STOPPED
        # one that winds up turns no more, and has its own time for that
        allowed = self._stall_after + (handle.stop_timeout_s if handle.winding_up else 0.0)
        if now - max(handle.turned_at, self._began) > allowed:
            return PartState.STALLED
        return PartState.STOPPING if handle.winding_up else PartState.TURNING

    def _kept(self, store: Store, now: float) -> PartState:
        if now - self._stored_at > self._stall_after:
            return PartState.STALLED
        return PartState.WRITING if store.safe_mode is None else PartState.SAFE_MODE
