"""A store without a disk: for tests, and for embedding where nothing need survive the process.

Owns the port over `gridagent.storage.memory_tables`; the same tests run against it and against SQLite. Its
invariant: what is kept for after safe mode is bounded, and what finds no room is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio

from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarKey, EffectKey
from gridagent.runtime.ports import Clock
from gridagent.storage.base import Rider, SafeMode, StorageFailed, StorageFault, StorageStatus
from gridagent.storage.memory_tables import Tables
from gridagent.storage.records import (
    AuditQuery,
    EffectRow,
    Record,
    Recovered,
    StoredAudit,
)
from gridagent.storage.settings import QUEUE_RECORDS_MAX
from gridagent.storage.writer import RIDERS_MAX

__all__ = ("MemoryStore",)


class MemoryStore:
    """A `gridagent.storage.base.Store` in memory; opening an avatar again is a restart after a crash.

    Args:
        clock: wall time.

    Bounds: as `gridagent.storage.memory_tables.Tables`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tables = Tables()
        self._riders: dict[int, Rider] = {}
        self._safe_mode: SafeMode | None = None
        self._kept: deque[tuple[Record, ...]] = deque(maxlen=QUEUE_RECORDS_MAX)
        self._commits = 0
        self._records = 0
        self._lost = 0

    # --- the port ---------------------------------------------------------------------------------

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set by `break_down` until `leave_safe_mode`."""
        return self._safe_mode

    def break_down(self, fault: StorageFault) -> None:
        """Fail as a disk does, until `leave_safe_mode`."""
        self._safe_mode = SafeMode(fault=fault, since=self._clock.wall())

    def submit(self, *records: Record, urgent: bool = False) -> None:  # noqa: ARG002 - the port's signature
        """Apply records now; in safe mode keep them for later."""
        if self._safe_mode is None:
            self._apply(records)
        elif len(self._kept) < QUEUE_RECORDS_MAX:
            self._kept.append(records)
        else:
            self._lost += len(records)

    async def commit(self, *records: Record) -> tuple[bool, ...]:
        """Apply records now.

        Raises:
            StorageFailed: in safe mode.

        Cancellation: safe; they are then not applied.
        """
        await trio.lowlevel.checkpoint()
        if self._safe_mode is not None:
            raise StorageFailed(self._safe_mode.fault, "safe mode")
        return self._apply(records)

    def ride(self, rider: Rider) -> Callable[[], None]:
        """Ask ``rider`` before records are applied."""
        if len(self._riders) >= RIDERS_MAX:
            raise LimitExceeded("riders of a store", allowed=RIDERS_MAX)
        key = max(self._riders, default=0) + 1
        self._riders[key] = rider
        return lambda: self._riders.pop(key, None) and None

    async def open_avatar(self, avatar: AvatarKey) -> Recovered:
        """Begin a run of an avatar; see `gridagent.storage.base.Store.open_avatar`."""
        await self.commit()
        return self._tables.open_avatar(avatar, self._clock.wall())

    async def effect(self, effect: EffectKey) -> EffectRow | None:
        """Return what is kept of an effect."""
        await trio.lowlevel.checkpoint()
        return self._tables.effects.get(effect)

    async def in_doubt(self, avatar: AvatarKey | None = None) -> tuple[EffectRow, ...]:
        """Return every effect in doubt, the oldest first."""
        await trio.lowlevel.checkpoint()
        return self._tables.doubtful(avatar)

    async def audit(self, query: AuditQuery) -> tuple[StoredAudit, ...]:
        """Return one page of the newest rows."""
        await trio.lowlevel.checkpoint()
        return self._tables.audit(query)

    async def leave_safe_mode(self) -> None:
        """Work again, and apply what was kept."""
        await trio.lowlevel.checkpoint()
        self._safe_mode = None
        while self._kept:
            self._apply(self._kept.popleft())

    def status(self) -> StorageStatus:
        """Return figures."""
        return StorageStatus(
            safe_mode=self._safe_mode,
            waiting=sum(map(len, self._kept)),
            commits=self._commits,
            records=self._records,
            lost=self._lost,
        )

    def _apply(self, records: tuple[Record, ...]) -> tuple[bool, ...]:
        along = [record for rider in self._riders.values() for record in rider()]
        results = tuple([self._tables.apply(record) for record in records])
        for record in along:
            self._tables.apply(record)
        self._commits += 1
        self._records += len(records) + len(along)
        return results
