"""Opening the one database: locked for life, checked, upgraded, and never begun anew beside an old one.

Owns the connection and the question whether a file may be used at all; knows no record. Everything here
blocks and runs inside the blocking port. The store calls it at start, the backup and the commands that read
a stopped service's database call it too.

Invariants (Spec: EFX-4, OPS-4; Fault: 41): one connection, whose lock no second process gets; a file that is
newer, damaged, foreign or missing where one was begun is refused with a sentence that says how to mend it,
and nothing is written to it.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import apsw
import msgspec

from gridagent.storage.base import LedgerInUse, LedgerRefused, StorageFailed, StorageFault
from gridagent.storage.files import Files
from gridagent.storage.migrations import MIGRATIONS, Migration, expected_schema, migrate, schema_of
from gridagent.storage.rows import one, select
from gridagent.storage.schema import APPLICATION_ID, LEDGER_TABLES

__all__ = (
    "MARKER",
    "SQLITE_MIN",
    "Database",
    "Holder",
    "check_sqlite",
    "damaged",
    "force_close",
    "holder_path",
    "marker_of",
    "open_database",
    "refused_when_damaged",
    "storage_errors",
)

SQLITE_MIN: Final = (3, 51, 3)
"""Older ones can corrupt a write-ahead log that is reset while it is read (fixed in 3.51.3)."""
MARKER: Final = "ledger.begun"
"""Beside the database from its first moment on: while it stands, a missing database is a loss."""
_SMALL_FILE_MAX_BYTES: Final = 4_096
_MEND: Final = "see docs/how-to/back-up-and-restore.md"
_FAULTS: Final[tuple[tuple[type[apsw.Error], StorageFault], ...]] = (
    (apsw.FullError, StorageFault.DISK_FULL),
    (apsw.IOError, StorageFault.IO_ERROR),
    (apsw.CorruptError, StorageFault.CORRUPT),
    (apsw.NotADBError, StorageFault.CORRUPT),
)


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who has the database open; written beside it for whoever comes second."""

    pid: int
    since: str
    """Wall clock, as a person reads it."""


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What the marker says."""

    ledger: str
    """The database's own id."""


def check_sqlite(version: str) -> None:
    """Refuse an SQLite that can corrupt what it keeps.

    Raises:
        LedgerRefused: it is older than `SQLITE_MIN`.
    """
    if tuple(int(part) for part in version.split(".")[:3]) < SQLITE_MIN:
        wanted = ".".join(map(str, SQLITE_MIN))
        raise LedgerRefused(
            f"SQLite {version} can corrupt its write-ahead log; install an apsw that brings {wanted} or newer"
        )


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn what SQLite and the disk raise into `StorageFailed`."""
    try:
        yield
    except apsw.Error as error:
        fault = next((fault for kind, fault in _FAULTS if isinstance(error, kind)), StorageFault.UNUSABLE)
        raise StorageFailed(fault, f"{type(error).__name__}: {error}"[:256]) from error
    except OSError as error:
        raise StorageFailed(StorageFault.IO_ERROR, f"{type(error).__name__}: {error.strerror}"[:256]) from error


class Database:
    """One open database; made by `open_database` only.

    Closing it is not optional: it gives the lock back.
    """

    __slots__ = ("connection", "files", "ledger", "path")

    def __init__(self, connection: apsw.Connection, *, path: str, files: Files, ledger: str) -> None:
        self.connection = connection
        self.path = path
        self.files = files
        self.ledger = ledger
        """The id it was given when it was begun."""

    @property
    def directory(self) -> str:
        """Where it lies."""
        return os.path.dirname(self.path)  # noqa: PTH120 - a path of the files port

    def close(self) -> None:
        """Give everything back; what is in the write-ahead log moves into the database first. Idempotent.

        Raises:
            StorageFailed: the disk failed while doing so; it is closed all the same.
        """
        try:
            with storage_errors():
                # First the name, then the lock: whoever takes it next writes its own.
                self.files.remove(holder_path(self.path))
                self.connection.close()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close it after a failure, without hoping for anything."""
        force_close(self.connection)


def force_close(connection: apsw.Connection) -> None:
    """Close a connection whatever the disk says to what SQLite would still like to do."""
    with suppress(apsw.Error):
        connection.close(True)


def holder_path(path: str) -> str:
    """Return where it is written who has a database open."""
    return f"{path}.holder"


def open_database(
    path: str,
    *,
    files: Files,
    holder: Holder,
    new_ledger: str,
    wal_pages: int = 4_000,
    synchronous: str = "FULL",
    read_only: bool = False,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> Database:
    """Open, lock, upgrade and check a database; begin one where none ever was.

    Args:
        path: absolute.
        files: the same disk, for what lies beside it.
        holder: who opens it.
        new_ledger: id of the ledger, if one is begun.
        wal_pages: pages in the write-ahead log before they are moved into the database.
        synchronous: anything but ``FULL`` loses commits in a power cut, and is for tests that show it.
        read_only: change nothing in it; the file must exist and be of the newest schema.
        migrations: the steps known; another sequence is for tests.

    Raises:
        LedgerRefused: it may not be used as it is.
        StorageFailed: the disk failed.
    """
    check_sqlite(apsw.sqlite_lib_version())
    with storage_errors():
        fresh = _is_new(path, files)
        if read_only and fresh:
            raise LedgerRefused(
                f"there is no database at {path}; start the service once, or set paths.state_dir", start_mends=True
            )
        files.prepare(path)
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=files.vfs or None)
    try:
        with storage_errors(), refused_when_damaged(path):
            _configure(connection, path, files, read_only=read_only)
            _check_origin(connection, path, known=len(migrations), upgrades=not read_only)
            if not read_only:
                _enter_wal(connection, wal_pages, synchronous)
                migrate(connection, found=_version(connection), migrations=migrations)
            _check_content(connection, path, migrations)
            ledger = _ledger_id(connection, None if read_only else new_ledger)
            if not read_only:
                _leave_marker(path, files, ledger)
            files.write_durably(holder_path(path), msgspec.json.encode(holder) + b"\n")
            return Database(connection, path=path, files=files, ledger=ledger)
    except BaseException:
        force_close(connection)
        raise


def _is_new(path: str, files: Files) -> bool:
    """Tell whether a database is to be begun; refuse when one was begun here before and is gone."""
    if files.size(path):
        return False
    directory, name = os.path.split(path)
    remains = [each for each in files.names(directory) if _is_trace(each, name)]
    if remains:
        raise LedgerRefused(
            f"the database {path} is missing, but {remains[0]} says that one was begun here: restore a backup"
            f" ({_MEND}); or, to begin anew and forget every payment and budget, move {remains[0]} away first"
        )
    return True


def _is_trace(name: str, database: str) -> bool:
    """Tell whether a file beside a database means that there must be one."""
    return (
        name in {MARKER, f"{database}-wal"}
        or name.endswith(".backup")
        or (name.startswith("audit-") and name.endswith(".jsonl"))
    )


def _configure(connection: apsw.Connection, path: str, files: Files, *, read_only: bool) -> None:
    connection.set_busy_timeout(0)
    # Before the first read: the lock is then taken once, for life, and no shared memory is needed.
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.pragma("mmap_size", 0)
    connection.pragma("trusted_schema", 0)
    connection.pragma("cell_size_check", 1)
    # What somebody wants forgotten is overwritten with zeros, and does not lie on in a free page (Spec: MEM-5).
    connection.pragma("secure_delete", 1)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("fullfsync", 1)
    connection.pragma("checkpoint_fullfsync", 1)
    if read_only:
        connection.pragma("query_only", 1)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        # A write lock at once, so that two processes never both believe they are first.
        connection.execute("BEGIN" if read_only else "BEGIN IMMEDIATE")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.execute("COMMIT")
    except apsw.BusyError:
        raise LedgerInUse(
            f"the database {path} is in use {_held_by(path, files)}; stop that service first, or set"
            " paths.state_dir to another directory"
        ) from None


def _held_by(path: str, files: Files) -> str:
    try:
        held = msgspec.json.decode(files.read(holder_path(path), max_bytes=_SMALL_FILE_MAX_BYTES) or b"", type=Holder)
    except msgspec.MsgspecError:
        return "by a process that did not say which"
    return f"by process {held.pid} since {held.since}"


def _version(connection: apsw.Connection) -> int:
    return int(str(connection.pragma("user_version")))


def _check_origin(connection: apsw.Connection, path: str, *, known: int, upgrades: bool) -> None:
    version = _version(connection)
    empty = one(connection, tuple[str], "SELECT name FROM sqlite_schema") is None
    if version == 0 and empty:
        return
    if int(str(connection.pragma("application_id"))) != APPLICATION_ID:
        raise LedgerRefused(
            f"{path} is an SQLite file, but not a database of gridagent; set paths.state_dir to another directory"
        )
    if version > known:
        raise LedgerRefused(
            f"the database {path} was written by a newer gridagent (schema {version}, this one knows {known}):"
            f" start that version, or restore a backup that was made before the upgrade ({_MEND})"
        )
    if version < known and not upgrades:
        raise LedgerRefused(
            f"the database {path} has the older schema {version}; start the service once, which upgrades it",
            start_mends=True,
        )


def _enter_wal(connection: apsw.Connection, wal_pages: int, synchronous: str) -> None:
    connection.pragma("synchronous", synchronous)
    mode = connection.pragma("journal_mode", "WAL")
    if mode != "wal":
        raise LedgerRefused(f"SQLite cannot keep a write-ahead log here (it offers {mode}); use a local file system")
    connection.wal_autocheckpoint(wal_pages)
    connection.pragma("journal_size_limit", 64 * 1024 * 1024)


@contextmanager
def refused_when_damaged(path: str) -> Iterator[None]:
    """Turn damage into the sentence that refuses the database."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise damaged(path, str(error)) from error
    except StorageFailed as error:
        if error.fault is StorageFault.CORRUPT:
            raise damaged(path, error.detail) from error
        raise


def damaged(path: str, how: str) -> LedgerRefused:
    """Say that a database cannot be used any more, and what can be done about it."""
    return LedgerRefused(f"the database {path} is damaged ({how[:160]}); move it away and restore a backup ({_MEND})")


def _check_content(connection: apsw.Connection, path: str, migrations: Sequence[Migration]) -> None:
    """Check the schema and the pages of the ledger, which is bounded; the audit trail is checked elsewhere."""
    if schema_of(connection) != expected_schema(migrations):
        raise damaged(path, "its tables are not those of its schema")
    for table in LEDGER_TABLES:
        (said,) = select(connection, tuple[str], f"PRAGMA quick_check({table})")[0]
        if said != "ok":
            raise damaged(path, f"table {table}: {said}")


def _ledger_id(connection: apsw.Connection, new: str | None) -> str:
    if new is not None:
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('ledger', ?)", (new,))
    found = one(connection, tuple[str], "SELECT value FROM meta WHERE name = 'ledger'")
    return "" if found is None else found[0]


def _leave_marker(path: str, files: Files, ledger: str) -> None:
    """Say that it was begun; a marker of another ledger means that this one is not the old one."""
    directory = os.path.dirname(path)  # noqa: PTH120 - a path of the files port
    marker = os.path.join(directory, MARKER)  # noqa: PTH118 - a path of the files port
    found = files.read(marker, max_bytes=_SMALL_FILE_MAX_BYTES)
    if found is None:
        files.write_durably(marker, marker_of(ledger))
    elif not _marks(found, ledger):
        raise LedgerRefused(
            f"the database {path} is not the one that was begun here ({MARKER} names another): restore a backup of"
            f" that one ({_MEND}); or, to go on with this one, move {MARKER} away first"
        )


def marker_of(ledger: str) -> bytes:
    """Return what the marker of a ledger says."""
    return msgspec.json.encode(_Marker(ledger=ledger)) + b"\n"


def _marks(found: bytes, ledger: str) -> bool:
    try:
        return msgspec.json.decode(found, type=_Marker).ledger == ledger
    except msgspec.MsgspecError:
        return False
