"""Group commit: records queue up, one transaction takes them all, and whoever waits returns when it is durable.

Owns the queue, the order, and safe mode; knows no SQL. One task runs `Writer.run`; sessions submit and commit
through the store. Everything that blocks goes through the blocking port, one transaction at a time.

Invariants: records are written in the order they came, those of one call in one transaction; a commit is
reported only after its fsync; after a failure nothing more is written until an operator says so, and what
nobody waited for is kept for then, as far as there is room (Spec: EFX-4; Fault: 39).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import trio

from gridagent.errors import GridAgentError, LimitExceeded, OutcomeUnknown, ResourceClosed
from gridagent.runtime.ports import Blocking, Clock
from gridagent.storage.base import SafeMode, StorageFailed, StorageFault, StorageStatus, Watcher
from gridagent.storage.records import Record
from gridagent.storage.settings import QUEUE_RECORDS_MAX, ROWS_PER_COMMIT_MAX, StorageSettings

__all__ = ("WATCHERS_MAX", "Write", "Writer")

WATCHERS_MAX: Final = 1_024
"""One an avatar."""

Write: TypeAlias = Callable[[Sequence[Sequence[Record]]], list[tuple[bool, ...]]]
"""Writes a batch in one transaction; blocks."""


class _Entry:
    """The records of one call, and the task that waits for them, if any."""

    __slots__ = ("error", "records", "results", "started", "task", "weight")

    def __init__(self, records: Sequence[Record], task: trio.lowlevel.Task | None) -> None:
        self.records = records
        self.task = task
        self.weight = max(1, len(records))
        self.started = False
        self.results: tuple[bool, ...] = ()
        self.error: GridAgentError | None = None

    def wake(self) -> None:
        """Let the waiting task go on, once."""
        if self.task is not None:
            task, self.task = self.task, None
            trio.lowlevel.reschedule(task)


class Writer:
    """The queue of one database.

    Args:
        write: writes a batch; raises `StorageFailed`.
        blocking: where it runs.
        clock: wall time of safe mode.
        settings: bounds.
        report: takes a stable code and the error that began safe mode; must not block or raise.
    """

    __slots__ = (
        "_blocking",
        "_clock",
        "_closed",
        "_commits",
        "_hurry",
        "_lost",
        "_queue",
        "_records",
        "_report",
        "_room",
        "_safe_mode",
        "_settings",
        "_signal",
        "_waiting",
        "_watchers",
        "_write",
    )

    def __init__(
        self,
        write: Write,
        *,
        blocking: Blocking,
        clock: Clock,
        settings: StorageSettings,
        report: Callable[[str, BaseException], None],
    ) -> None:
        self._write = write
        self._blocking = blocking
        self._clock = clock
        self._settings = settings
        self._report = report
        # What failed goes back to the front, so a batch more than may wait has to fit.
        self._queue: deque[_Entry] = deque(maxlen=QUEUE_RECORDS_MAX + ROWS_PER_COMMIT_MAX)
        self._waiting = 0
        self._watchers: dict[int, Watcher] = {}
        self._room = trio.lowlevel.ParkingLot()
        self._signal = trio.Event()
        self._hurry = False
        self._safe_mode: SafeMode | None = None
        self._closed = False
        self._commits = 0
        self._records = 0
        self._lost = 0

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set from the first failure on."""
        return self._safe_mode

    def status(self) -> StorageStatus:
        """Return the figures of the queue."""
        return StorageStatus(
            safe_mode=self._safe_mode,
            waiting=self._waiting,
            commits=self._commits,
            records=self._records,
            lost=self._lost,
        )

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell ``watcher`` when safe mode begins and ends.

        Returns:
            What takes it off again; idempotent.

        Raises:
            LimitExceeded: there are `WATCHERS_MAX` already.
        """
        if len(self._watchers) >= WATCHERS_MAX:
            raise LimitExceeded("watchers of a store", allowed=WATCHERS_MAX)
        key = max(self._watchers, default=0) + 1
        self._watchers[key] = watcher
        return lambda: self._watchers.pop(key, None) and None

    # --- putting ----------------------------------------------------------------------------------

    def submit(self, *records: Record, urgent: bool = False) -> None:
        """Queue records that nobody waits for; see `gridagent.storage.base.Store.submit`."""
        entry = self._entry(records, None)
        if self._closed or (self._waiting + entry.weight > self._settings.queue_records_max):
            self._lost += len(records)
            if not self._closed and self._safe_mode is None:
                self._enter_safe_mode(StorageFailed(StorageFault.BACKLOG, f"{self._waiting} records wait"))
            return
        self._put(entry, urgent=urgent)

    async def commit(self, *records: Record) -> tuple[bool, ...]:
        """Queue records and wait until they are durable; see `gridagent.storage.base.Store.commit`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        entry = self._entry(records, trio.lowlevel.current_task())
        self._raise_if_unable()
        while self._waiting + entry.weight > self._settings.queue_records_max:
            await self._room.park()
            self._raise_if_unable()
        self._put(entry, urgent=True)

        def withdraw(_: object) -> trio.lowlevel.Abort:
            if entry.started:
                return trio.lowlevel.Abort.FAILED
            self._queue.remove(entry)
            self._waiting -= entry.weight
            self._room.unpark()
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(withdraw)
        if entry.error is not None:
            raise entry.error
        return entry.results

    def _entry(self, records: Sequence[Record], task: trio.lowlevel.Task | None) -> _Entry:
        if len(records) > self._settings.rows_per_commit_max:
            raise LimitExceeded("records of one call", allowed=self._settings.rows_per_commit_max, seen=len(records))
        return _Entry(records, task)

    def _raise_if_unable(self) -> None:
        if self._closed:
            raise ResourceClosed("storage")
        if self._safe_mode is not None:
            raise StorageFailed(self._safe_mode.fault, "safe mode")

    def _put(self, entry: _Entry, *, urgent: bool) -> None:
        self._queue.append(entry)
        self._waiting += entry.weight
        if urgent:
            self._hurry = True
        self._signal.set()

    # --- writing ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Write what comes, until cancelled.

        Cancellation: a transaction that has begun is waited for; then every task that still waits for its
        records is told that storage is closed.
        """
        try:
            while True:
                await self._wait_for_work()
                await self._write_batch()
        finally:
            self._closed = True
            for entry in self._queue:
                entry.error = ResourceClosed("storage")
                entry.wake()
            self._room.unpark_all()

    async def _wait_for_work(self) -> None:
        """Return when there is something to write and, unless somebody waits for it, company had time to come."""
        linger: float | None = None
        while True:
            self._signal = trio.Event()
            if self._safe_mode is not None or not self._queue:
                linger = None
                await self._signal.wait()
                continue
            if self._hurry:
                await trio.lowlevel.checkpoint()  # whoever is ready to run may still join
                return
            linger = trio.current_time() + self._settings.linger_s if linger is None else linger
            with trio.move_on_at(linger) as over:
                await self._signal.wait()
            if over.cancelled_caught:
                return

    async def _write_batch(self) -> None:
        batch = self._take_batch()
        try:
            results = await self._blocking.run(self._write, [entry.records for entry in batch], name="storage commit")
        except StorageFailed as error:
            self._fail(batch, error)
        except OutcomeUnknown as error:
            self._fail(batch, StorageFailed(StorageFault.STUCK), instead=error)
        except BaseException:
            self._put_back(batch)
            raise
        else:
            self._commits += 1
            for entry, applied in zip(batch, results, strict=True):
                self._records += len(entry.records)
                entry.results = applied
                entry.wake()

    def _take_batch(self) -> list[_Entry]:
        batch: list[_Entry] = []
        rows = 0
        while self._queue and (not batch or rows + self._queue[0].weight <= self._settings.rows_per_commit_max):
            entry = self._queue.popleft()
            entry.started = True
            batch.append(entry)
            rows += entry.weight
        self._waiting -= rows
        self._hurry = any(entry.task is not None for entry in self._queue)
        self._room.unpark_all()
        return batch

    # --- failing ----------------------------------------------------------------------------------

    def _fail(self, batch: Sequence[_Entry], error: StorageFailed, *, instead: GridAgentError | None = None) -> None:
        """Tell who waited, keep what nobody waited for, and write nothing more."""
        for entry in batch:
            if entry.task is not None:
                entry.error = StorageFailed(error.fault, error.detail) if instead is None else instead
                entry.wake()
        self._put_back([entry for entry in batch if entry.error is None])
        self._enter_safe_mode(error)

    def _put_back(self, batch: Sequence[_Entry]) -> None:
        self._queue.extendleft(reversed(batch))
        self._waiting += sum(entry.weight for entry in batch)

    def _enter_safe_mode(self, error: StorageFailed) -> None:
        self._safe_mode = SafeMode(fault=error.fault, since=self._clock.wall())
        kept = [entry for entry in self._queue if entry.task is None]
        for entry in self._queue:
            entry.error = StorageFailed(error.fault, "safe mode")
            entry.wake()
        self._queue.clear()
        self._queue.extend(kept)
        self._waiting = sum(entry.weight for entry in kept)
        self._room.unpark_all()
        self._report("storage_safe_mode", error)
        self._tell()

    def leave_safe_mode(self) -> None:
        """Go on writing, with what was kept."""
        self._safe_mode = None
        self._hurry = True
        self._signal.set()
        self._tell()

    def _tell(self) -> None:
        for watcher in tuple(self._watchers.values()):
            watcher(self._safe_mode)
