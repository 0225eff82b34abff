"""A store without a disk: for tests, and for embedding where nothing need survive the process.

Owns the port over `gridagent.policy.history.History`, which folds changes without SQL; the same tests run against
this and against SQLite, and the same history must leave both with the same snapshot. Its invariant: everything is
bounded; what is kept for after safe mode and finds no room is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import trio

from gridagent.conversation.changes import StoredEntry
from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarId, AvatarKey, EffectKey
from gridagent.limits import AUDIT_RECORDS_IN_MEMORY_MAX
from gridagent.memory.facts import Fact, Reader
from gridagent.memory.recall import RecallQuestion
from gridagent.policy.changes import EffectReserved, EffectSent, EffectSettled
from gridagent.policy.history import History
from gridagent.runtime.ports import Clock
from gridagent.storage.base import SafeMode, StorageFailed, StorageFault, StorageStatus, Watcher
from gridagent.storage.learnt import LearntInMemory
from gridagent.storage.records import (
    AuditAppended,
    AuditQuery,
    HeldAbout,
    Kept,
    Learnt,
    Readable,
    Record,
    Recovered,
    StoredAudit,
)
from gridagent.storage.settings import QUEUE_RECORDS_MAX
from gridagent.storage.writer import WATCHERS_MAX

__all__ = ("MemoryStore",)


class _Avatar:
    """What is kept of one avatar."""

    __slots__ = ("audited", "history", "learnt", "reserved_in", "run")

    def __init__(self) -> None:
        self.run = 0
        self.audited = (0, 0)
        self.history = History()
        self.learnt = LearntInMemory()
        self.reserved_in: dict[EffectKey, int] = {}  # one entry an effect that has not ended


class MemoryStore:
    """A `gridagent.storage.base.Store` in memory; opening an avatar again is a restart after a crash.

    Args:
        clock: wall time.

    Bounds: those of `gridagent.policy.history.History` for each avatar, and `AUDIT_RECORDS_IN_MEMORY_MAX` audit
        rows; the oldest go first.
    """

    __slots__ = (
        "_audit",
        "_avatars",
        "_clock",
        "_commits",
        "_kept",
        "_lost",
        "_records",
        "_rows",
        "_safe_mode",
        "_watchers",
    )

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._avatars: dict[AvatarKey, _Avatar] = {}  # one entry an avatar
        self._audit: deque[StoredAudit] = deque(maxlen=AUDIT_RECORDS_IN_MEMORY_MAX)
        self._rows = 0
        self._watchers: dict[int, Watcher] = {}
        self._safe_mode: SafeMode | None = None
        self._kept: deque[tuple[Record, ...]] = deque(maxlen=QUEUE_RECORDS_MAX)
        self._commits = 0
        self._records = 0
        self._lost = 0

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set by `break_down` until `leave_safe_mode`."""
        return self._safe_mode

    def break_down(self, fault: StorageFault) -> None:
        """Fail as a disk does, until `leave_safe_mode`."""
        self._safe_mode = SafeMode(fault=fault, since=self._clock.wall())
        self._tell()

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

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell ``watcher`` when safe mode begins and ends."""
        if len(self._watchers) >= WATCHERS_MAX:
            raise LimitExceeded("watchers of a store", allowed=WATCHERS_MAX)
        key = max(self._watchers, default=0) + 1
        self._watchers[key] = watcher
        return lambda: self._watchers.pop(key, None) and None

    async def open_avatar(self, avatar: AvatarKey) -> Recovered:
        """Begin a run of an avatar; see `gridagent.storage.base.Store.open_avatar`."""
        await self.commit()
        mine = self._avatars.setdefault(avatar, _Avatar())
        mine.run += 1
        return Recovered(run=mine.run, snapshot=mine.history.snapshot())

    async def audit(self, query: AuditQuery) -> tuple[StoredAudit, ...]:
        """Return one page of the newest rows."""
        await trio.lowlevel.checkpoint()
        found = [row for row in self._audit if _wanted(row, query)]
        if query.avatar is not None:
            found.sort(key=lambda row: row.cursor)
        return tuple(found[: query.limit])

    async def leave_safe_mode(self) -> None:
        """Work again, and apply what was kept."""
        await trio.lowlevel.checkpoint()
        if self._safe_mode is None:
            return
        self._safe_mode = None
        while self._kept:
            self._apply(self._kept.popleft())
        self._tell()

    def status(self) -> StorageStatus:
        """Return figures."""
        return StorageStatus(
            safe_mode=self._safe_mode,
            waiting=sum(map(len, self._kept)),
            commits=self._commits,
            records=self._records,
            lost=self._lost,
        )

    # --- what an avatar learnt --------------------------------------------------------------------

    async def conversations(self, avatar: AvatarKey) -> tuple[int, ...]:
        """Return the numbers of the conversations kept, the least recently used first."""
        await trio.lowlevel.checkpoint()
        return self._learnt(avatar).numbers()

    async def entries(self, avatar: AvatarKey, numbers: Sequence[int]) -> tuple[StoredEntry, ...]:
        """Return the entries of some conversations."""
        await trio.lowlevel.checkpoint()
        return self._learnt(avatar).entries_of(numbers)

    async def recall(self, avatar: AvatarKey, question: RecallQuestion) -> tuple[Fact, ...]:
        """Return the facts that fit best."""
        await trio.lowlevel.checkpoint()
        return self._learnt(avatar).recall(question)

    async def readable(self, avatar: AvatarKey, reader: Reader) -> Readable:
        """Return all that one conversation may be asked about in SQL."""
        await trio.lowlevel.checkpoint()
        return self._learnt(avatar).readable(reader)

    async def held_about(self, avatar: AvatarKey, person: AvatarId) -> HeldAbout:
        """Return all that forgetting a person would delete."""
        await trio.lowlevel.checkpoint()
        return self._learnt(avatar).held_about(person)

    # --- inside -----------------------------------------------------------------------------------

    def _tell(self) -> None:
        for watcher in tuple(self._watchers.values()):
            watcher(self._safe_mode)

    def _apply(self, records: tuple[Record, ...]) -> tuple[bool, ...]:
        self._commits += 1
        self._records += len(records)
        return tuple([self._take(each) for each in records])

    def _take(self, record: Record) -> bool:
        match record:
            case Kept():
                return self._keep(record)
            case Learnt():
                return self._learnt(record.avatar).learn(record.change)
            case _:
                return self._append(record)

    def _learnt(self, avatar: AvatarKey) -> LearntInMemory:
        return self._avatars.setdefault(avatar, _Avatar()).learnt

    def _keep(self, kept: Kept) -> bool:
        mine = self._avatars.setdefault(kept.avatar, _Avatar())
        change = kept.change
        mine.history.apply(change)
        match change:
            case EffectReserved(effect=effect):
                return mine.reserved_in.setdefault(effect, kept.run) == kept.run
            case EffectSent(effect=effect):
                return mine.reserved_in.get(effect) == kept.run
            case EffectSettled(effect=effect):
                return mine.reserved_in.pop(effect, None) is not None
        return True

    def _append(self, record: AuditAppended) -> bool:
        mine = self._avatars.setdefault(record.avatar, _Avatar())
        mark = (record.run, record.record.seq)
        if mark <= mine.audited:
            return False
        mine.audited = mark
        self._rows += 1
        self._audit.append(StoredAudit(row=self._rows, avatar=record.avatar, run=record.run, record=record.record))
        return True


def _wanted(row: StoredAudit, query: AuditQuery) -> bool:
    at = row.record.at
    after = query.after is None or (row.row > query.after[1] if query.avatar is None else row.cursor > query.after)
    return (
        after
        and query.avatar in {None, row.avatar}
        and (query.since is None or at >= query.since)
        and (query.until is None or at < query.until)
        and query.kind in {None, row.record.kind}
    )
