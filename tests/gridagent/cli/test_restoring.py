"""Claims about `gridagent restore`: checked first, nothing overwritten, nobody acting behind the operator's back."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from gridagent.cli.instance import Holder, InstanceLocks, avatar_locks_directory
from gridagent.fronts.control import RuntimeDirectory
from gridagent.storage.database import Holder as Opener
from gridagent.storage.database import open_database
from gridagent.storage.files import SystemFiles

OWNER = "5eed0000-0000-4000-8000-000000000001"


@pytest.fixture
def lived(gridagent):
    """The command line after a run that kept its effects, and a backup of them."""
    config = gridagent.write("c.json", json.dumps({"roles": {"owners": [OWNER]}}))
    gridagent.environ["GRIDAGENT_CONFIG"] = str(config)
    assert gridagent("run", "--for", "5s", "--plain", stdin="say hello\n").code == 0
    assert gridagent("backup", str(gridagent.room / "monday.backup")).code == 0
    return gridagent


def database(lived) -> Path:
    """Where the database is."""
    return lived.room / "state" / "gridagent.db"


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Ask a database that nobody has open."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def aside(lived) -> list[str]:
    """Databases that were kept under another name; a write-ahead log, as far as there is one, lies beside them."""
    return sorted(path.name for path in (lived.room / "state").glob("gridagent.db.before-restore-*"))


def test_a_backup_comes_back_and_what_was_there_is_kept(lived) -> None:
    """Every avatar is held afterwards, and a run goes on from it. Spec: EFX-4, POL-12."""
    assert lived("run", "--for", "5s", "--plain").code == 0
    newest = rows(database(lived), "SELECT max(row) FROM audit")
    done = lived("restore", str(lived.room / "monday.backup"))
    assert done.code == 0, done.err
    assert "monday.backup now: " in done.out
    assert "so every avatar is held" in done.out
    (kept,) = aside(lived)
    assert f"what was there is kept as {database(lived).parent / kept}" in done.out
    assert rows(database(lived).parent / kept, "SELECT max(row) FROM audit") == newest
    assert rows(database(lived), "SELECT held FROM avatar") == [(1,)]
    assert rows(lived.room / "monday.backup", "SELECT held FROM avatar") == [(0,)], "the backup stays as it is"
    assert database(lived).stat().st_mode & 0o777 == 0o600
    assert lived("audit", "verify").code == 0
    assert lived("run", "--for", "5s", "--plain").code == 0


def test_programs_are_told_what_came_back(lived) -> None:
    """In one object; without a hold where that is wished; into an empty place as well. Spec: OPS-1, EFX-4."""
    database(lived).unlink()
    refused = lived("run", "--for", "5s")
    assert (refused.code, "is missing" in refused.err) == (9, True)
    done = lived("restore", str(lived.room / "monday.backup"), "--no-hold", "--json")
    told = json.loads(done.out)
    assert (told["file"], told["backup"]) == (str(database(lived)), str(lived.room / "monday.backup"))
    assert (told["held"], told["in_doubt"], aside(lived)) == (False, 0, [])
    assert all("gridagent.db-wal.before-restore-" in path for path in told["aside"])
    assert told["audit_rows"] == rows(database(lived), "SELECT count(*) FROM audit")[0][0]
    assert rows(database(lived), "SELECT held FROM avatar") == [(0,)]
    assert lived("run", "--for", "5s", "--plain").code == 0


def test_what_the_backup_has_in_doubt_is_counted(lived) -> None:
    """Sent and never ended counts too: it may have happened. Spec: EFX-2."""
    path = lived.room / "monday.backup"
    connection = apsw.Connection(str(path))
    connection.execute(
        "INSERT INTO effect (number, avatar, effect, run, state, once, reserved_at)"
        " VALUES (90001, 'robin', 'a', 1, 'sent', 1, 0.0), (90002, 'robin', 'b', 1, 'in_doubt', 1, 0.0),"
        " (90003, 'robin', 'c', 1, 'sent', 0, 0.0), (90004, 'robin', 'd', 1, 'reserved', 1, 0.0)"
    )
    connection.close()
    done = lived("restore", str(path))
    assert "2 effects are in doubt; gridagent status says which" in done.out


@pytest.mark.parametrize("spoil", ["none", "foreign", "torn", "newer", "rewritten"])
def test_a_backup_that_cannot_be_used_changes_nothing(lived, spoil) -> None:
    """One sentence, and the database is where it was. Spec: EFX-4, POL-10."""
    path = lived.room / "monday.backup"
    if spoil == "none":
        path.unlink()
    elif spoil == "foreign":
        path.write_bytes(b"no database" * 1_000)
    elif spoil == "torn":
        path.write_bytes(path.read_bytes()[:-5_000])
    else:
        connection = apsw.Connection(str(path))
        sql = "PRAGMA user_version = 99" if spoil == "newer" else "UPDATE audit SET kind = 'policy' WHERE row = 1"
        connection.execute(sql)
        connection.close()
    before = database(lived).read_bytes()
    done = lived("restore", str(path))
    assert done.code == 9
    assert done.err.count("\n") == 1
    words = {"none": "there is no backup at", "newer": "schema 99", "rewritten": "the audit trail in it was changed"}
    assert words.get(spoil, "damaged") in done.err
    assert database(lived).read_bytes() == before
    assert aside(lived) == []
    assert not list(database(lived).parent.glob("*.part*"))


def test_nothing_is_restored_under_a_running_service(lived) -> None:
    """By its runtime directory, by its avatars, and by whoever has the database open. Spec: OPS-4."""
    held = Holder(pid=4711, since="noon")
    words = ("restore", str(lived.room / "monday.backup"))
    with RuntimeDirectory(lived.room / "run") as directory, InstanceLocks(held) as locks:
        locks.take_service(directory)
        done = lived(*words)
        assert (done.code, "a service runs already" in done.err, "4711" in done.err) == (8, True, True)
    with (
        RuntimeDirectory(avatar_locks_directory(lived.room / "state")) as directory,
        InstanceLocks(held) as locks,
    ):
        locks.take_avatars(directory, ("robin",))
        done = lived(*words)
        assert (done.code, "the avatar robin is being run already" in done.err) == (8, True)
    opener = Opener(pid=4711, since="noon")
    opened = open_database(str(database(lived)), files=SystemFiles(), holder=opener, new_ledger="")
    try:
        done = lived(*words)
        assert (done.code, "stop the service first" in done.err) == (8, True)
    finally:
        opened.close()
    assert aside(lived) == []
    assert lived(*words).code == 0


def test_a_damaged_database_is_kept_too(lived) -> None:
    """It may be wanted later. Fault: 41."""
    database(lived).write_bytes(b"moths" * 5_000)
    assert lived("run", "--for", "5s").code == 9
    assert lived("restore", str(lived.room / "monday.backup")).code == 0
    (kept,) = aside(lived)
    assert (database(lived).parent / kept).read_bytes().startswith(b"moths")
    assert lived("run", "--for", "5s", "--plain").code == 0
