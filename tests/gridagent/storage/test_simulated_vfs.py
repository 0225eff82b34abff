"""Real SQLite runs on the simulated disk, and its locks, journals and syncs mean what they mean."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import apsw
import pytest

from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.simulated_vfs import Image, cut, put

FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def _open(disk, path="/db"):
    connection = apsw.Connection(path, flags=FLAGS, vfs=disk.vfs)
    connection.set_busy_timeout(0)
    return connection


def test_images_grow_with_zeros() -> None:
    """Writing beyond the end and cutting longer fill the gap; a sync makes both safe."""
    image = Image()
    image.write(b"ab", 3)
    image.truncate(7)
    assert (bytes(image.now), bytes(image.safe)) == (b"\0\0\0ab\0\0", b"")
    image.sync()
    assert bytes(image.safe) == b"\0\0\0ab\0\0"
    other = bytearray(b"abc")
    cut(other, 1)
    put(other, b"z", 1)
    assert other == b"az"


@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE"])
def test_a_hot_journal_is_rolled_back(mode) -> None:
    """A cut between journal and commit gives the old content back, over many seeds. Spec: SIM-3."""
    torn = 0
    for seed in range(30):
        disk = SimulatedDisk(Random(seed), name="hot")
        disk.prepare("/db")  # SQLite syncs the names of its journals, and leaves the database's own to its owner
        connection = _open(disk)
        connection.pragma("journal_mode", mode)
        connection.pragma("synchronous", "EXTRA")
        connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        disk.cut_after(3 + seed % 6)
        try:
            connection.execute("UPDATE t SET x = 2; INSERT INTO t SELECT randomblob(9000)")
        except apsw.Error:
            torn += 1
        with suppress(apsw.Error):
            connection.close(True)
        disk.reboot()
        again = _open(disk)
        assert again.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert again.execute("SELECT x FROM t WHERE rowid = 1").fetchall() in ([(1,)], [(2,)])
        again.close()
        disk.close()
    assert torn > 15


def test_a_file_has_one_user_at_a_time(disk) -> None:
    """A second connection waits for nobody: it is told that the database is busy, until the first lets go."""
    first, second = _open(disk), _open(disk)
    first.execute("CREATE TABLE t (x)")
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(apsw.BusyError):
        second.execute("SELECT * FROM t").fetchall()
    first.execute("COMMIT")
    assert second.execute("SELECT * FROM t").fetchall() == []
    second.execute("BEGIN EXCLUSIVE")
    second.close()
    assert first.execute("SELECT * FROM t").fetchall() == []
    first.close()


def test_temporary_files_are_files_of_the_disk(disk) -> None:
    """What SQLite puts aside goes through the same counter."""
    connection = _open(disk)
    connection.pragma("temp_store", "FILE")
    connection.pragma("temp.cache_size", 1)
    before = disk.counts.operations
    connection.execute("CREATE TEMP TABLE t (x)")
    for _ in range(3):
        connection.execute("INSERT INTO temp.t SELECT randomblob(50000) FROM json_each('[1,2,3,4,5,6,7,8,9]')")
    connection.execute("CREATE TEMP TABLE u AS SELECT x FROM temp.t ORDER BY x")
    assert disk.counts.operations > before
    connection.close()
    assert disk.names("") == ()


def test_the_disk_says_what_it_promises() -> None:
    """SQLite takes more care on a disk that does not promise powersafe overwrites."""
    operations = []
    for powersafe in (True, False):
        disk = SimulatedDisk(Random(1), name="promise", powersafe=powersafe)
        connection = _open(disk)
        connection.pragma("locking_mode", "EXCLUSIVE")
        connection.pragma("journal_mode", "WAL")
        connection.pragma("synchronous", "FULL")
        connection.execute("CREATE TABLE t (x)")
        for number in range(5):
            connection.execute("INSERT INTO t VALUES (?)", (number,))
        operations.append(disk.counts.operations)
        connection.close()
        disk.close()
    assert operations[0] < operations[1]
