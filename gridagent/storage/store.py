"""The store of a service: one SQLite database, one writer, one task that tends it.

Owns the life of the database and the questions put to it; `gridagent.storage.writer` owns the order of
writing, `gridagent.storage.transactions` what is written. Opened once by the composition root, before any
session; sessions see it as `gridagent.storage.base.Store`. Its invariant: every touch of the database goes
through the blocking port, one at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

import apsw
import trio

from gridagent.conversation.changes import StoredEntry
from gridagent.errors import OutcomeUnknown, ResourceClosed
from gridagent.ids import AvatarId, AvatarKey, EffectKey
from gridagent.memory.facts import Fact, Reader
from gridagent.memory.recall import RecallQuestion
from gridagent.runtime.ports import Ports
from gridagent.storage import audit, conversations, effects, facts, learning
from gridagent.storage.audit_chain import ChainReport, check_segment, export_segment, segment_heads
from gridagent.storage.backup import BackupReport, PagedBackup
from gridagent.storage.base import SafeMode, StorageFailed, StorageFault, StorageStatus, Watcher
from gridagent.storage.database import Database, Holder, open_database
from gridagent.storage.files import Files, SystemFiles
from gridagent.storage.records import (
    AuditQuery,
    EffectRow,
    HeldAbout,
    Readable,
    Record,
    Recovered,
    StoredAudit,
)
from gridagent.storage.settings import StorageSettings
from gridagent.storage.transactions import Ledger
from gridagent.storage.writer import Writer

__all__ = ("Report", "SqliteStore", "open_store")

T = TypeVar("T")

Report = Callable[[str, BaseException], None]
"""Takes a stable code and an error for the log; must not block or raise."""

SLICES_A_ROUND: Final = 8
"""Each lets at most a segment and a thousand rows of a table go."""
_LEDGER_ID_BYTES: Final = 16


def _ignore(code: str, error: BaseException) -> None:
    """Log nowhere: the default for embedding."""


class SqliteStore:
    """A store in one SQLite database; made by `open_store` only."""

    __slots__ = ("_ledger", "_ports", "_reopen", "_report", "_settings", "_writer")

    def __init__(
        self,
        ledger: Ledger,
        *,
        reopen: Callable[[], Ledger],
        ports: Ports,
        settings: StorageSettings,
        report: Report,
    ) -> None:
        self._ledger = ledger
        self._reopen = reopen
        self._ports = ports
        self._settings = settings
        self._report = report
        self._writer = Writer(self._write, blocking=ports.blocking, clock=ports.clock, settings=settings, report=report)

    def _write(self, batch: Sequence[Sequence[Record]]) -> list[tuple[bool, ...]]:
        return self._ledger.write(batch)  # looked up late: leaving safe mode brings another ledger

    # --- the port ---------------------------------------------------------------------------------

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set from the first failure on."""
        return self._writer.safe_mode

    def submit(self, *records: Record, urgent: bool = False) -> None:
        """Have records written without waiting; see `gridagent.storage.base.Store.submit`."""
        self._writer.submit(*records, urgent=urgent)

    async def commit(self, *records: Record) -> tuple[bool, ...]:
        """Write records durably; see `gridagent.storage.base.Store.commit`."""
        return await self._writer.commit(*records)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell ``watcher`` when safe mode begins and ends; see `gridagent.storage.base.Store.watch`."""
        return self._writer.watch(watcher)

    async def open_avatar(self, avatar: AvatarKey) -> Recovered:
        """Begin a run of an avatar; see `gridagent.storage.base.Store.open_avatar`."""
        return await self._after_all(lambda ledger: ledger.open_avatar(avatar))

    async def audit(self, query: AuditQuery) -> tuple[StoredAudit, ...]:
        """Return one page of the audit trail.

        Raises:
            LimitExceeded: it takes too long to find.
        """
        return await self._read(partial(audit.query, wanted=query))

    async def leave_safe_mode(self) -> None:
        """Open the database anew, write to it, and go on; see `gridagent.storage.base.Store.leave_safe_mode`."""
        if self.safe_mode is None:
            await trio.lowlevel.checkpoint()
            return
        self._ledger = await self._ports.blocking.run(self._again, name="storage reopen")
        self._writer.leave_safe_mode()

    def status(self) -> StorageStatus:
        """Return what an operator may want to know."""
        return self._writer.status()

    # --- what an avatar learnt --------------------------------------------------------------------

    async def conversations(self, avatar: AvatarKey) -> tuple[int, ...]:
        """Return the numbers of the conversations kept, the least recently used first."""
        return await self._read(partial(conversations.numbers, avatar=avatar))

    async def entries(self, avatar: AvatarKey, numbers: Sequence[int]) -> tuple[StoredEntry, ...]:
        """Return the entries of some conversations."""
        return await self._read(partial(conversations.entries_of, avatar=avatar, conversations=numbers))

    async def recall(self, avatar: AvatarKey, question: RecallQuestion) -> tuple[Fact, ...]:
        """Return the facts that fit best, ranked by BM25."""
        return await self._read(partial(facts.recall, avatar=avatar, question=question))

    async def readable(self, avatar: AvatarKey, reader: Reader) -> Readable:
        """Return all that one conversation may be asked about in SQL."""
        return await self._read(partial(learning.readable, avatar=avatar, reader=reader))

    async def held_about(self, avatar: AvatarKey, person: AvatarId) -> HeldAbout:
        """Return all that forgetting a person would delete."""
        return await self._read(partial(learning.held_about, avatar=avatar, person=person))

    # --- the operator -----------------------------------------------------------------------------

    async def effect(self, avatar: AvatarKey, effect: EffectKey) -> EffectRow | None:
        """Return what is stored of an effect."""
        return await self._read(partial(effects.find, avatar=avatar, effect=effect))

    async def in_doubt(self, avatar: AvatarKey | None = None) -> tuple[EffectRow, ...]:
        """Return every effect in doubt that may have cost something, the oldest first."""
        return await self._read(partial(effects.doubtful, avatar=avatar))

    async def verify_audit(self) -> ChainReport:
        """Check every segment of the audit trail, one at a time, so that commits go on in between.

        Cancellation: safe.
        """
        report = ChainReport()
        after: int | None = 0
        while after is not None:
            check = partial(check_segment, ledger=self._ledger.database.ledger, after=after, report=report)
            after = await self._read(check)
        return report

    async def segments(self) -> tuple[int, ...]:
        """Return the numbers of the segments of the audit trail, the oldest first."""
        heads = await self._read(segment_heads)
        return tuple(head.segment for head in heads)

    async def export_segment(self, number: int) -> bytes:
        """Return one segment of the audit trail as lines of JSON.

        Raises:
            KeyError: there is no such segment.
        """
        return await self._read(partial(export_segment, number=number))

    async def back_up(self, target: str) -> BackupReport:
        """Copy the whole database to another file, piece by piece, so that commits go on in between.

        Args:
            target: absolute path of the copy; it must not exist.

        Raises:
            LedgerRefused: there is something at ``target``, or the copy turned out unusable.
            StorageFailed: a disk failed.

        Cancellation: safe; the unfinished copy is removed.
        """
        await self.flush()
        run = partial(self._ports.blocking.run, name="backup")
        copy = await run(PagedBackup, self._ledger.database, target)
        try:
            while not await run(copy.step):
                pass
            return await run(copy.finish)
        except BaseException:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + self._settings.flush_timeout_s):
                await run(copy.discard)
            raise

    async def tend(self) -> int:
        """Let go what is older than it is kept; return how many rows went."""
        now = self._ports.clock.wall()
        return await self._ports.blocking.run(lambda: self._ledger.tend(now), name="storage tend")

    async def flush(self) -> None:
        """Wait until everything submitted before is durable; in safe mode, don't."""
        if self.safe_mode is None:
            await self._writer.commit()

    # --- life -------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Write and tend until cancelled."""
        async with trio.open_nursery(strict_exception_groups=True) as nursery:
            nursery.start_soon(self._writer.run, name="storage.writer")
            nursery.start_soon(self._tend_for_ever, name="storage.tend")

    async def _tend_for_ever(self) -> None:
        while True:
            await trio.sleep(self._settings.tend_every_s)
            # Some slices and no more: a clock that jumps ahead must not empty the trail before anybody looks.
            for _ in range(SLICES_A_ROUND):
                if self.safe_mode is not None or not await self._tend_once():
                    break

    async def _tend_once(self) -> bool:
        try:
            return await self.tend() > 0
        except (StorageFailed, OutcomeUnknown) as error:
            # Not a failed commit: nothing was promised. The next commit tells whether the disk is sound.
            self._report("storage_tend", error)
            return False

    async def close(self) -> None:
        """Give the database back; if it is stuck, the lock goes with the process.

        Cancellation: shielded for as long as a flush may take, and the blocking port's bound.
        """
        with trio.CancelScope(shield=True, deadline=trio.current_time() + self._settings.flush_timeout_s) as bound:
            try:
                await self._ports.blocking.run(self._ledger.database.close, name="storage close")
            except (StorageFailed, OutcomeUnknown) as error:
                self._report("storage_close", error)
        if bound.cancelled_caught:
            self._report("storage_close", StorageFailed(StorageFault.STUCK))

    async def _after_all(self, question: Callable[[Ledger], T]) -> T:
        """Block for an answer that knows of everything submitted before."""
        await self.flush()
        return await self._ports.blocking.run(lambda: question(self._ledger), name="storage read")

    async def _read(self, question: Callable[[apsw.Connection], T]) -> T:
        return await self._after_all(lambda ledger: ledger.read(question))

    def _again(self) -> Ledger:
        """Close what failed and open it anew, which writes to it."""
        self._ledger.database.abandon()
        return self._reopen()


@asynccontextmanager
async def open_store(
    path: str,
    *,
    ports: Ports,
    holder: Holder,
    settings: StorageSettings | None = None,
    files: Files | None = None,
    report: Report = _ignore,
    synchronous: str = "FULL",
) -> AsyncIterator[SqliteStore]:
    """Open the database of a service for as long as the ``async with`` block lasts.

    Args:
        path: absolute path of the database.
        ports: clock, ids and the blocking port.
        holder: who opens it, for whoever comes second.
        settings: bounds; None takes the defaults.
        files: the disk; None is this machine's.
        report: takes a stable code and the error of a failure; the log.
        synchronous: anything but ``FULL`` loses commits in a power cut, and is for tests that show it.

    Yields:
        The store. Leaving the block writes what waits, bounded by ``flush_timeout_s``, and gives the lock back.

    Raises:
        LedgerRefused: the database may not be used as it is; the sentence says how to mend it.
        StorageFailed: the disk failed.

    Cancellation: as leaving the block.
    """
    chosen = StorageSettings() if settings is None else settings
    disk = SystemFiles() if files is None else files
    new_ledger = ports.ids.token(_LEDGER_ID_BYTES)

    def open_ledger() -> Ledger:
        database = open_database(
            path,
            files=disk,
            holder=holder,
            new_ledger=new_ledger,
            wal_pages=chosen.wal_pages,
            synchronous=synchronous,
        )
        return _ledger(database, chosen)

    ledger = await ports.blocking.run(open_ledger, name="storage open")
    store = SqliteStore(ledger, reopen=open_ledger, ports=ports, settings=chosen, report=report)
    failed: BaseException | None = None
    try:
        async with trio.open_nursery(strict_exception_groups=True) as nursery:
            # Whoever is cancelled still has something to say: how what it had begun ended. So the writer goes on.
            writing = trio.CancelScope(shield=True)
            nursery.start_soon(_run_within, writing, store, name="storage")
            try:
                yield store
            except BaseException as error:
                failed = error
                raise
            finally:
                await _flush_within(store, chosen.flush_timeout_s, report)
                writing.cancel(reason="the store is closed")
    except BaseExceptionGroup as group:
        if failed is not None and group.exceptions == (failed,):
            raise failed from failed.__cause__  # whoever uses the block need not know of the nursery
        raise
    finally:
        await store.close()


def _ledger(database: Database, settings: StorageSettings) -> Ledger:
    try:
        ledger = Ledger(database, settings)
        ledger.probe()
    except BaseException:
        database.abandon()
        raise
    return ledger


async def _run_within(scope: trio.CancelScope, store: SqliteStore) -> None:
    with scope:
        await store.run()


async def _flush_within(store: SqliteStore, seconds: float, report: Report) -> None:
    with trio.CancelScope(shield=True, deadline=trio.current_time() + seconds) as bound:
        try:
            await store.flush()
        except (StorageFailed, OutcomeUnknown, ResourceClosed) as error:
            report("storage_flush", error)
    if bound.cancelled_caught:
        report("storage_flush", StorageFailed(StorageFault.STUCK))
