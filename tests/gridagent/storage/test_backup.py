"""Copies are complete, checked and named last; restoring moves aside and never overwrites."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import pytest

from gridagent.storage import backup as backup_module
from gridagent.storage.backup import BackupReport, PagedBackup, restore
from gridagent.storage.base import LedgerInUse, LedgerRefused, StorageFailed
from gridagent.storage.database import MARKER, Holder, open_database
from gridagent.storage.files import SystemFiles
from gridagent.storage.migrations import MIGRATIONS
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.transactions import Ledger

HOLDER = Holder(pid=1, since="now")
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(params=["system", "simulated"])
def place(request, tmp_path):
    """Files and a directory on each kind of disk."""
    if request.param == "system":
        yield SystemFiles(), str(tmp_path / "state")
        return
    disk = SimulatedDisk(Random(1), name="backup-disk")
    yield disk, "/state"
    disk.close()


def _open(place):
    files, directory = place
    return open_database(f"{directory}/gridagent.db", files=files, holder=HOLDER, new_ledger="ledger-1")


@pytest.fixture
def filled(place, make):
    """An open ledger with some rows."""
    ledger = Ledger(_open(place), StorageSettings())
    ledger.write([(make.kept(make.reserved("a")), *(make.audited(seq) for seq in range(1, 5_001)))])
    yield ledger
    ledger.database.abandon()


def _copy(backup) -> BackupReport:
    while not backup.step():
        pass
    return backup.finish()


def test_a_copy_holds_everything_and_lies_in_one_file(place, filled, make) -> None:
    """It opens like the original, and nothing is left beside it."""
    files, directory = place
    report = _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    assert (report.path, report.effects, report.audit_rows) == (f"{directory}/monday.backup", 1, 5_000)
    assert report.bytes == files.size(report.path)
    assert [name for name in files.names(directory) if "monday" in name] == ["monday.backup"]
    copy = open_database(report.path, files=files, holder=HOLDER, new_ledger="", read_only=True)
    assert copy.ledger == "ledger-1"
    copy.close()


def test_what_is_written_meanwhile_is_in_the_copy(place, filled, make, monkeypatch) -> None:
    """Commits go on between the steps and are copied too."""
    _, directory = place
    monkeypatch.setattr(backup_module, "PAGES_A_STEP", 16)
    backup = PagedBackup(filled.database, f"{directory}/monday.backup")
    assert not backup.step()
    filled.write([[make.kept(make.reserved("later"))]])
    assert _copy(backup).effects == 2


def test_a_copy_never_overwrites(place, filled) -> None:
    """A name that is taken is refused."""
    files, directory = place
    files.write_durably(f"{directory}/taken", b"x")
    with pytest.raises(LedgerRefused, match="give the backup another name"):
        PagedBackup(filled.database, f"{directory}/taken")


def test_an_unfinished_copy_leaves_nothing(place, filled) -> None:
    """Giving up removes what there is of it, twice as well as once."""
    files, directory = place
    backup = PagedBackup(filled.database, f"{directory}/monday.backup")
    backup.step()
    backup.discard()
    backup.discard()
    assert not [name for name in files.names(directory) if "monday" in name]


def test_a_damaged_original_gives_no_copy(disk, make) -> None:
    """A copy is judged before it gets its name. Fault: 41."""
    place = (disk, "/state")
    ledger = Ledger(_open(place), StorageSettings())
    ledger.write([[make.audited(seq) for seq in range(1, 900)]])
    ledger.database.close()
    pages = disk.size("/state/gridagent.db") // 4096
    disk.flip("/state/gridagent.db", (pages - 2) * 4096)
    database = _open(place)
    with pytest.raises((LedgerRefused, StorageFailed)):
        _copy(PagedBackup(database, "/state/monday.backup"))
    assert disk.size("/state/monday.backup") is None
    database.abandon()


def test_a_lost_database_comes_back(place, filled, make) -> None:
    """The copy takes its place, and the start that was refused is not any more. Fault: 41."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    filled.database.close()
    files.remove(f"{directory}/gridagent.db")
    with pytest.raises(LedgerRefused, match="is missing"):
        _open(place)
    report = restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".lost")
    assert report.effects == 1
    again = Ledger(_open(place), StorageSettings())
    assert again.database.ledger == "ledger-1"
    assert MARKER in files.names(directory)
    again.database.close()


def test_what_is_in_the_way_is_moved_aside(place, filled) -> None:
    """A damaged database is kept under another name. Fault: 41."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    filled.database.close()
    files.write_durably(f"{directory}/gridagent.db", b"damaged beyond recognition" * 500)
    files.write_durably(f"{directory}/gridagent.db-wal", b"and its log")
    restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".damaged")
    kept = files.read(f"{directory}/gridagent.db.damaged", max_bytes=26)
    assert kept == b"damaged beyond recognition"
    assert "gridagent.db-wal.damaged" in files.names(directory)
    _open(place).close()


def test_a_database_in_use_is_not_replaced(place, filled) -> None:
    """The service has to be stopped first. Spec: OPS-4."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    with pytest.raises(LedgerInUse, match="stop the service first"):
        restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".x")
    filled.database.close()
    restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".x")
    assert "gridagent.db.x" in files.names(directory)


def test_a_database_without_a_marker_gets_one_before_it_is_moved(place, filled) -> None:
    """A restore that is interrupted there is found out by the next start."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    filled.database.close()
    files.remove(f"{directory}/{MARKER}")
    restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".x")
    assert b"ledger-1" in files.read(f"{directory}/{MARKER}", max_bytes=99)


def test_a_copy_of_another_ledger_is_taken_on_an_operators_word(place, filled, make) -> None:
    """Restoring is that word: the marker names the restored ledger from then on."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    filled.database.close()
    for name in (MARKER, "gridagent.db"):
        files.remove(f"{directory}/{name}")
    files.write_durably(f"{directory}/{MARKER}", b'{"ledger": "another"}')
    restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".x")
    database = _open(place)
    assert database.ledger == "ledger-1"
    database.close()


def test_a_copy_that_cannot_be_used_replaces_nothing(place, filled) -> None:
    """No copy, and a damaged one. Fault: 41."""
    files, directory = place
    filled.database.close()
    with pytest.raises(LedgerRefused, match="there is no backup at"):
        restore(f"{directory}/none", f"{directory}/gridagent.db", files=files, aside=".x")
    files.write_durably(f"{directory}/bad", b"no database" * 1_000)
    with pytest.raises(LedgerRefused, match=r"bad cannot be used: .* is damaged"):
        restore(f"{directory}/bad", f"{directory}/gridagent.db", files=files, aside=".x")
    _open(place).close()


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "unmarked"])
def test_the_power_may_go_off_at_every_write_of_a_restore(make, *, marked) -> None:
    """Afterwards either the old database opens, or the new one does, or the start says what to do. Fault: 38, 41."""
    at, went_off, outcomes = 0, True, set()
    while went_off:
        at += 1
        disk = SimulatedDisk(Random(at), name="restore-disk")
        ledger = Ledger(_open((disk, "/state")), StorageSettings())
        ledger.write([[make.kept(make.reserved("a"))]])
        _copy(PagedBackup(ledger.database, "/backups/monday.backup"))
        ledger.write([[make.kept(make.reserved("b"))]])
        ledger.database.close()
        if not marked:
            disk.remove(f"/state/{MARKER}")
            disk.sync_directory("/state")
        disk.cut_after(at)
        with suppress(StorageFailed):
            restore("/backups/monday.backup", "/state/gridagent.db", files=disk, aside=".old")
        went_off = disk.dead
        disk.reboot()
        try:
            database = _open((disk, "/state"))
        except LedgerRefused as refused:
            outcomes.add("restore a backup" in str(refused) and "told what to do")
        else:
            outcomes.add(database.connection.execute("SELECT count(*) FROM effect").fetchall()[0][0])
            database.close()
        copy = open_database("/backups/monday.backup", files=disk, holder=HOLDER, new_ledger="", read_only=True)
        copy.close()
        disk.close()
    assert outcomes == {1, 2, "told what to do"}


def test_a_copy_from_before_an_upgrade_is_brought_up_to_date(place) -> None:
    """The copy itself stays as the older version wrote it. Spec: EFX-4."""
    files, directory = place
    files.prepare(f"{directory}/old.backup")
    older = apsw.Connection(f"{directory}/old.backup", vfs=files.vfs or None)
    older.pragma("locking_mode", "EXCLUSIVE")
    older.execute((FIXTURES / "schema-1.sql").read_text(encoding="utf-8"))
    older.close()
    files.sync(f"{directory}/old.backup")
    report = restore(f"{directory}/old.backup", f"{directory}/gridagent.db", files=files, aside=".x", hold=True)
    assert report.effects > 0
    database = _open(place)
    assert database.connection.pragma("user_version") == len(MIGRATIONS)
    assert {held for (held,) in database.connection.execute("SELECT held FROM avatar")} == {1}
    database.close()
    again = apsw.Connection(f"{directory}/old.backup", vfs=files.vfs or None)
    again.pragma("locking_mode", "EXCLUSIVE")
    assert again.pragma("user_version") == 1
    again.close()


def test_a_copy_whose_audit_trail_was_changed_is_not_restored(place, filled) -> None:
    """Row by row, before anything is moved. Spec: POL-10."""
    files, directory = place
    _copy(PagedBackup(filled.database, f"{directory}/monday.backup"))
    filled.database.close()
    forger = apsw.Connection(f"{directory}/monday.backup", vfs=files.vfs or None)
    forger.pragma("locking_mode", "EXCLUSIVE")
    forger.execute("UPDATE audit SET at = at + 1 WHERE row = 4999")
    forger.close()
    files.sync(f"{directory}/monday.backup")
    with pytest.raises(LedgerRefused, match="the audit trail in it was changed"):
        restore(f"{directory}/monday.backup", f"{directory}/gridagent.db", files=files, aside=".x")
    assert "gridagent.db.x" not in files.names(directory)
    _open(place).close()
