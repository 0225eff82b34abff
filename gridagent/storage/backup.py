"""Copies of the whole database, made while it is in use, and the way back (see the how-to).

Owns copying page by page, judging a copy, and putting one in place of a lost database. Blocks; the store runs
each step through the blocking port, so that commits go on in between (they go into the copy as well, since one
connection makes both). Invariants: a copy appears under its name only when it is complete, checked and synced;
restoring never overwrites a database, it moves it aside.
"""

from __future__ import annotations

import os.path
from typing import Final

import apsw
import msgspec

from gridagent.storage.audit_chain import ChainReport, check_segment
from gridagent.storage.base import LedgerInUse, LedgerRefused
from gridagent.storage.database import (
    MARKER,
    Database,
    Holder,
    force_close,
    holder_path,
    marker_of,
    open_database,
    refused_when_damaged,
    storage_errors,
)
from gridagent.storage.files import Files
from gridagent.storage.migrations import MIGRATIONS, migrate
from gridagent.storage.rows import select
from gridagent.storage.schema import APPLICATION_ID

__all__ = ("BackupReport", "PagedBackup", "restore")

PAGES_A_STEP: Final = 256
"""A mebibyte: milliseconds, while commits wait."""
_COPIED_BY: Final = Holder(pid=0, since="the backup")


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a copy holds."""

    path: str
    bytes: int
    effects: int
    audit_rows: int
    in_doubt: int = 0
    """Effects that may have cost something and are in doubt."""


class PagedBackup:
    """One copy being made.

    Args:
        database: what is copied.
        target: absolute path of the copy; it must not exist.

    Raises:
        LedgerRefused: there is something at ``target``.
        StorageFailed: a disk failed.
    """

    __slots__ = ("_backup", "_copy", "_files", "_part", "_target")

    def __init__(self, database: Database, target: str) -> None:
        self._files = database.files
        self._target = target
        self._part = f"{target}.part"
        with storage_errors():
            if self._files.size(target) is not None:
                raise LedgerRefused(f"there is a file at {target} already; give the backup another name")
            _clear(self._files, self._part)
            self._files.prepare(self._part)
            self._copy = _connect(self._part, self._files)
            self._backup = self._copy.backup("main", database.connection, "main")

    def step(self) -> bool:
        """Copy some pages; tell whether it was the last of them.

        Raises:
            StorageFailed: a disk failed.
        """
        with storage_errors():
            self._backup.step(PAGES_A_STEP)
            return self._backup.done

    def finish(self) -> BackupReport:
        """Check the copy as it would be checked when it is used, and give it its name.

        Raises:
            LedgerRefused: it cannot be used.
            StorageFailed: a disk failed.
        """
        with storage_errors():
            self._backup.finish()
            # A copy lies still: one file, no write-ahead log beside it.
            self._copy.pragma("journal_mode", "DELETE")
            self._copy.close()
            self._files.sync(self._part)
            report, _ = _judge(self._part, self._files, named=self._target)
            self._files.move_durably(self._part, self._target)
            return report

    def discard(self) -> None:
        """Leave nothing of an unfinished copy. Idempotent."""
        force_close(self._copy)
        with storage_errors():
            _clear(self._files, self._part)


def _judge(path: str, files: Files, *, named: str, chain: bool = False) -> tuple[BackupReport, str]:
    """Check a copy, with its audit trail if that is wished; return what it holds, and which ledger it is of."""
    copy = open_database(path, files=files, holder=_COPIED_BY, new_ledger="", read_only=True)
    try:
        ((said,),) = select(copy.connection, tuple[str], "PRAGMA integrity_check(1)")
        if said != "ok":
            raise LedgerRefused(f"the copy for {named} is damaged ({said}); check the database itself and its disk")
        ((effects, rows, doubts),) = select(
            copy.connection,
            tuple[int, int, int],
            "SELECT (SELECT count(*) FROM effect), (SELECT count(*) FROM audit),"
            " (SELECT count(*) FROM effect WHERE ended IS NULL AND once AND state IN ('sent', 'in_doubt'))",
        )
        if chain and (problem := _broken_chain(copy)):
            raise LedgerRefused(f"the audit trail in it was changed ({problem}); keep the file, and use another backup")
    finally:
        copy.close()
    size = files.size(path) or 0
    return BackupReport(path=named, bytes=size, effects=effects, audit_rows=rows, in_doubt=doubts), copy.ledger


def _broken_chain(copy: Database) -> str:
    """Return what does not fit in the whole audit trail; empty when all does."""
    report = ChainReport()
    after: int | None = 0
    while after is not None:
        after = check_segment(copy.connection, ledger=copy.ledger, after=after, report=report)
    return report.problem


def _make_ready(path: str, files: Files, *, hold: bool) -> None:
    """Bring a copy that an older version made up to date, and have its avatars held if that is wished."""
    connection = _connect(path, files)
    try:
        with refused_when_damaged(path):
            ours = connection.pragma("application_id") == APPLICATION_ID
            version = int(str(connection.pragma("user_version")))
            if ours and 0 < version <= len(MIGRATIONS):  # what is not is judged later
                connection.pragma("journal_mode", "DELETE")
                migrate(connection, found=version)
                if hold:
                    connection.execute("UPDATE avatar SET held = 1")
    finally:
        force_close(connection)
    files.sync(path)


def restore(backup: str, database: str, *, files: Files, aside: str, hold: bool = False) -> BackupReport:
    """Put a copy in the place of a lost or damaged database; the service must be stopped.

    Args:
        backup: absolute path of a copy; it stays as it is.
        database: absolute path of the database.
        files: the disk.
        aside: what is added to the names of files that are in the way.
        hold: have every avatar held, so that none acts before an operator releases it (Spec: POL-12).

    Raises:
        LedgerRefused: the copy cannot be used, or the database is in use.
        StorageFailed: a disk failed.
    """
    with storage_errors():
        if not files.size(backup):
            raise LedgerRefused(f"there is no backup at {backup}")
        _refuse_if_in_use(database, files)
        part = f"{database}.part"
        _clear(files, part)
        files.prepare(part)
        files.copy(backup, part)
        files.sync(part)
        try:
            _make_ready(part, files, hold=hold)
            report, ledger = _judge(part, files, named=database, chain=True)
        except LedgerRefused as refused:
            _clear(files, part)
            raise LedgerRefused(f"the backup {backup} cannot be used: {refused}") from refused
        directory, name = os.path.split(database)
        marker = os.path.join(directory, MARKER)  # noqa: PTH118 - a path of the files port
        if files.size(marker) is None:
            # While nothing is in place, a start must find that something is missing.
            files.write_durably(marker, marker_of(ledger))
        for each in (f"{name}-wal", name):
            path = os.path.join(directory, each)  # noqa: PTH118 - a path of the files port
            if files.size(path) is not None:
                files.move_durably(path, path + aside)
        files.move_durably(part, database)
        files.write_durably(marker, marker_of(ledger))
        return report


def _refuse_if_in_use(database: str, files: Files) -> None:
    if not files.size(database):
        return
    connection = _connect(database, files)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("BEGIN").execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.BusyError:
        held = files.read(holder_path(database), max_bytes=256) or b"by a process that did not say which"
        raise LedgerInUse(
            f"the database {database} is in use ({held.decode(errors='replace').strip()}); stop the service first"
        ) from None
    except (apsw.CorruptError, apsw.NotADBError):
        pass  # that is what restoring is for
    finally:
        force_close(connection)


def _connect(path: str, files: Files) -> apsw.Connection:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=files.vfs or None)
    connection.set_busy_timeout(0)
    connection.pragma("locking_mode", "EXCLUSIVE")  # so that no shared memory is needed
    return connection


def _clear(files: Files, path: str) -> None:
    for ending in ("", "-wal", "-journal", ".holder"):
        files.remove(path + ending)
