"""A database is locked for life, checked at every start, and never begun anew beside an old one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import apsw
import msgspec
import pytest

from gridagent.storage.base import LedgerInUse, LedgerRefused, StorageFailed, StorageFault
from gridagent.storage.database import (
    MARKER,
    Holder,
    check_sqlite,
    force_close,
    open_database,
    storage_errors,
)
from gridagent.storage.files import SystemFiles
from gridagent.storage.migrations import MIGRATIONS
from gridagent.storage.schema import SCHEMA_VERSION
from gridagent.storage.simulated_disk import SimulatedDisk

HOLDER = Holder(pid=4_711, since="2027-03-01 12:00")
NEXT = ("CREATE TABLE later (x INTEGER) STRICT",)


@pytest.fixture(params=["system", "simulated"])
def place(request, tmp_path):
    """The path of a database on each kind of disk."""
    if request.param == "system":
        yield SystemFiles(), str(tmp_path / "state" / "gridagent.db")
        return
    disk = SimulatedDisk(Random(1), name="database-disk")
    yield disk, "/state/gridagent.db"
    disk.close()


def _open(place, **how):
    files, path = place
    return open_database(path, files=files, **({"holder": HOLDER, "new_ledger": "ledger-1"} | how))


def _raw(place):
    files, path = place
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=files.vfs or None)
    connection.pragma("locking_mode", "EXCLUSIVE")
    return connection


def test_a_database_is_begun_once_and_opened_again(place) -> None:
    """Its id stays, and it is private, write-ahead logged, fully synchronous and exclusive. Spec: EFX-2, OPS-4."""
    files, path = place
    first = _open(place)
    settings = [first.connection.pragma(name) for name in ("journal_mode", "synchronous", "locking_mode", "mmap_size")]
    assert settings[:3] == ["wal", 2, "exclusive"]
    assert settings[3] in {0, None}
    assert first.ledger == "ledger-1"
    assert MARKER in files.names(first.directory)
    first.close()
    first.close()
    second = _open(place, new_ledger="ledger-2")
    assert second.ledger == "ledger-1"
    second.close()
    if isinstance(files, SystemFiles):
        assert Path(path).stat().st_mode & 0o077 == 0


def test_a_second_instance_is_refused_and_told_who_holds_it(place) -> None:
    """One sentence names process and time; afterwards the lock is free again. Spec: OPS-4."""
    first = _open(place)
    with pytest.raises(LedgerInUse, match=r"in use by process 4711 since 2027-03-01 12:00; stop that service first"):
        _open(place)
    with pytest.raises(LedgerRefused, match="in use"):
        _open(place, read_only=True)
    first.close()
    _open(place).close()


def test_a_reader_names_itself_and_leaves_no_name_behind(place) -> None:
    """A service that starts while a command reads is told of the command, not of whoever was there before."""
    files, path = place
    _open(place).close()
    assert files.size(f"{path}.holder") is None
    reader = _open(place, read_only=True, holder=Holder(pid=99, since="just now"))
    with pytest.raises(LedgerInUse, match="by process 99 since just now"):
        _open(place)
    reader.close()
    assert files.size(f"{path}.holder") is None


def test_a_holder_that_cannot_be_read_is_not_invented(place) -> None:
    """A torn or missing holder file makes the sentence vaguer, not wrong."""
    files, path = place
    first = _open(place)
    for left in (b"{", None):
        files.remove(f"{path}.holder")
        if left is not None:
            files.write_durably(f"{path}.holder", left)
        with pytest.raises(LedgerRefused, match="by a process that did not say which"):
            _open(place)
    first.close()


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.9.0"])
def test_an_sqlite_that_corrupts_is_refused(version) -> None:
    """The sentence names both versions and what to install."""
    with pytest.raises(LedgerRefused, match=rf"SQLite {version} .*3\.51\.3 or newer"):
        check_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.1", "4.0.0"])
def test_an_sqlite_without_that_fault_is_taken(version) -> None:
    """From the first mended one on, and this machine's."""
    check_sqlite(version)
    check_sqlite(apsw.sqlite_lib_version())
    assert apsw.sqlite_lib_version() >= "3.51"


@pytest.mark.parametrize("trace", [MARKER, "2027-03-01.backup", "audit-00000001.jsonl", "gridagent.db-wal"])
def test_an_empty_ledger_is_never_begun_beside_an_old_one(place, trace) -> None:
    """Whatever an old ledger left says that one is missing; the sentence says how to go on. Spec: EFX-4. Fault: 41."""
    files, path = place
    _open(place).close()
    directory = path.rpartition("/")[0]
    for name in files.names(directory):
        files.remove(f"{directory}/{name}")
    files.write_durably(f"{directory}/{trace}", b"x")
    with pytest.raises(LedgerRefused, match=r"is missing, but .* one was begun here: restore a backup"):
        _open(place)
    assert files.size(path) is None
    files.prepare(path)  # an empty file is no database either
    with pytest.raises(LedgerRefused, match="is missing"):
        _open(place)
    files.remove(f"{directory}/{trace}")
    _open(place).close()


def test_another_database_is_not_taken_for_the_one_that_was_begun(place) -> None:
    """The marker knows which one it was. Spec: EFX-4. Fault: 41."""
    files, path = place
    marker = f"{path.rpartition('/')[0]}/{MARKER}"
    _open(place).close()
    for content in (b'{"ledger": "another"}', b"nonsense"):
        files.write_durably(marker, content)
        with pytest.raises(LedgerRefused, match="is not the one that was begun here"):
            _open(place)
    files.remove(marker)
    _open(place).close()
    assert b"ledger-1" in files.read(marker, max_bytes=99)


def test_a_newer_schema_is_refused_and_left_alone(place) -> None:
    """An older program says which is newer, and that a backup from before helps. Spec: EFX-4. Fault: 41."""
    _open(place, migrations=(*MIGRATIONS, NEXT)).close()
    newer, known = SCHEMA_VERSION + 1, SCHEMA_VERSION
    said = rf"newer gridagent \(schema {newer}, this one knows {known}\).*before the upgrade"
    with pytest.raises(LedgerRefused, match=said):
        _open(place)
    _open(place, migrations=(*MIGRATIONS, NEXT)).close()


def test_an_older_schema_is_upgraded_unless_only_reading(place) -> None:
    """A reader changes nothing and says what would."""
    _open(place).close()
    newer = (*MIGRATIONS, NEXT)
    with pytest.raises(LedgerRefused, match=f"has the older schema {SCHEMA_VERSION}; start the service once") as old:
        _open(place, migrations=newer, read_only=True)
    assert old.value.start_mends
    _open(place, migrations=newer).close()
    reader = _open(place, migrations=newer, read_only=True)
    assert reader.connection.execute("SELECT * FROM later").fetchall() == []
    with pytest.raises(apsw.ReadOnlyError):
        reader.connection.execute("INSERT INTO later VALUES (1)")
    reader.close()


def test_a_reader_needs_a_database(place) -> None:
    """Looking does not begin one."""
    files, path = place
    with pytest.raises(LedgerRefused, match="there is no database at") as none:
        _open(place, read_only=True)
    assert none.value.start_mends
    assert files.size(path) is None


def test_a_reader_sees_what_a_crash_left_in_the_log(place) -> None:
    """What was committed and not yet moved into the database is read, and stays where it is."""
    files, path = place
    writer = _open(place)
    writer.connection.execute("INSERT INTO meta VALUES ('x', 1)")
    if isinstance(files, SimulatedDisk):
        files.cut_now()
        writer.abandon()
        files.reboot()
        reader = _open(place, read_only=True)
        assert reader.connection.execute("SELECT value FROM meta WHERE name = 'x'").fetchall() == [(1,)]
        reader.close()
        assert files.size(f"{path}-wal")
    else:
        writer.close()
        reader = _open(place, read_only=True)
        assert reader.connection.execute("SELECT value FROM meta WHERE name = 'x'").fetchall() == [(1,)]
        reader.close()


def test_a_database_that_was_never_finished_is_empty_for_a_reader(place) -> None:
    """Without its id there is no ledger to name."""
    _open(place).close()
    raw = _raw(place)
    raw.execute("DELETE FROM meta")
    raw.close()
    reader = _open(place, read_only=True)
    assert reader.ledger == ""
    reader.close()


def test_a_foreign_file_is_refused(place) -> None:
    """Another program's database, and what is none at all. Fault: 41."""
    files, path = place
    files.prepare(path)
    raw = _raw(place)
    raw.execute("CREATE TABLE theirs (x)")
    raw.close()
    with pytest.raises(LedgerRefused, match="not a database of gridagent"):
        _open(place)
    files.write_durably(path, b"no database at all, and long enough for a header" * 100)
    with pytest.raises(LedgerRefused, match=r"is damaged .* restore a backup"):
        _open(place)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DROP INDEX effect_known", "its tables are not those of its schema"),
        ("CREATE TABLE intruder (x)", "its tables are not those of its schema"),
    ],
)
def test_a_schema_that_was_changed_is_refused(place, damage, said) -> None:
    """Tables are compared word by word. Fault: 41."""
    _open(place).close()
    raw = _raw(place)
    raw.execute(damage)
    raw.close()
    with pytest.raises(LedgerRefused, match=said):
        _open(place)


def test_damage_in_a_page_of_the_ledger_is_found(disk, make) -> None:
    """A flipped byte in any page of the bounded tables refuses the start, or the page has no meaning. Fault: 41."""
    place = (disk, make.path)
    database = _open(place)
    database.connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", [(f"key-{number}", "x" * 50) for number in range(1_500)]
    )
    database.close()
    refused = 0
    pages = disk.size(make.path) // 4096
    for page in range(1, pages):
        disk.flip(make.path, page * 4096)  # the kind of the page
        try:
            _open(place).close()
        except LedgerRefused as error:
            refused += "restore a backup" in str(error)
        disk.flip(make.path, page * 4096)
    assert refused > pages * 2 // 3
    _open(place).close()


def test_values_of_another_type_are_damage(place) -> None:
    """A column that holds what it cannot is damage like any other. Fault: 41."""
    _open(place).close()
    raw = _raw(place)
    raw.execute("UPDATE meta SET value = x'00' WHERE name = 'ledger'")
    raw.close()
    with pytest.raises(LedgerRefused, match="is damaged"):
        _open(place)


@pytest.mark.parametrize(
    ("failure", "fault"),
    [("full", StorageFault.DISK_FULL), ("io_error", StorageFault.IO_ERROR), ("sync_error", StorageFault.IO_ERROR)],
)
def test_a_disk_that_fails_at_start_says_so(disk, make, failure, fault) -> None:
    """It is no damage, and nothing is begun; once the disk works, the start does. Spec: EFX-4. Fault: 39."""
    disk.fail(failure)
    with pytest.raises(StorageFailed) as failed:
        _open((disk, make.path))
    assert failed.value.fault is fault or failure == "full"
    disk.heal()
    _open((disk, make.path)).close()


def test_a_file_system_without_write_ahead_log_is_refused(disk, make, monkeypatch) -> None:
    """What SQLite offers instead is named."""
    original = apsw.Connection.pragma

    class Stubborn(apsw.Connection):
        def pragma(self, name, *value):
            return "delete" if name == "journal_mode" else original(self, name, *value)

    monkeypatch.setattr(apsw, "Connection", Stubborn)
    with pytest.raises(LedgerRefused, match=r"it offers delete\); use a local file system"):
        _open((disk, make.path))


def test_closing_on_a_dead_disk_gives_everything_back(disk, make) -> None:
    """Closing reports the failure and closes all the same."""
    database = _open((disk, make.path))
    database.connection.execute("INSERT INTO meta VALUES ('x', 1)")
    disk.cut_now()
    with pytest.raises(StorageFailed):
        database.close()
    disk.reboot()
    again = _open((disk, make.path))
    assert again.connection.execute("SELECT count(*) FROM meta").fetchall() == [(2,)]
    again.close()
    force_close(again.connection)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (apsw.FullError("x"), StorageFault.DISK_FULL),
        (apsw.IOError("x"), StorageFault.IO_ERROR),
        (apsw.CorruptError("x"), StorageFault.CORRUPT),
        (apsw.NotADBError("x"), StorageFault.CORRUPT),
        (apsw.CantOpenError("x"), StorageFault.UNUSABLE),
        (OSError(28, "no space"), StorageFault.IO_ERROR),
    ],
)
def test_every_error_of_the_library_has_a_fault(error, fault) -> None:
    """The cause is kept, and what an operator sees is a code. Spec: EFX-4. Fault: 39."""
    with pytest.raises(StorageFailed) as failed, storage_errors():
        raise error
    assert (failed.value.fault, failed.value.__cause__) == (fault, error)


def test_a_holder_is_small_and_readable(place) -> None:
    """Whoever comes second reads a line of JSON."""
    files, path = place
    database = _open(place)
    assert msgspec.json.decode(files.read(f"{path}.holder", max_bytes=4_096), type=Holder) == HOLDER
    database.close()
