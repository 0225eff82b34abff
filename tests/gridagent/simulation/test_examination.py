"""Claims about the examiner: it reads what a restart would find, and sees what is broken."""

from __future__ import annotations

from random import Random

import pytest
import trio

from gridagent.ids import AvatarKey, Generation
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.changes import GenerationOpened, HoldChanged
from gridagent.runtime.deterministic import simulated_ports
from gridagent.simulation.examination import Found, examine
from gridagent.storage.avatar import AvatarStore
from gridagent.storage.database import Holder
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import open_store

PATH = "/state/gridagent.db"
ROBIN = AvatarKey("robin")


@pytest.fixture
def disk():
    """A disk of the test's own."""
    disk = SimulatedDisk(Random(0), name="examined")
    yield disk
    disk.close()


async def write(disk: SimulatedDisk, rows: int) -> None:
    """Let an avatar be held in its third connection, with some rows told."""
    settings = StorageSettings(audit_segment_rows=16)
    ports = simulated_ports(0)
    async with open_store(PATH, ports=ports, holder=Holder(pid=1, since="now"), settings=settings, files=disk) as store:
        keeper = await AvatarStore.open(store, ROBIN)
        keeper.change(GenerationOpened(generation=Generation(3)))
        keeper.change(HoldChanged(held=True, at=1.0))
        for number in range(1, rows + 1):
            keeper.audit(AuditRecord(seq=number, at=float(number), kind=AuditKind.POLICY, code="reloaded"))


def look(disk: SimulatedDisk) -> Found:
    """Let the examiner read a twin."""
    twin = disk.twin(name="examined.twin")
    try:
        return examine(PATH, twin.vfs, wall=0.0)
    finally:
        twin.close()


def test_nothing_is_found_where_nothing_was_written(disk) -> None:
    """A disk without a database says nothing of anybody, and is no problem."""
    found = look(disk)
    assert (found.problem, found.avatars) == ("", {})
    assert found.avatar("robin").generation == 0


async def test_it_reads_what_a_restart_finds_and_changes_nothing(disk, autojump_clock) -> None:
    """Generation, hold and rows over several segments; the disk is as it was. Spec: POL-10, POL-12, SUP-5."""
    await write(disk, 40)
    before = disk.counts.operations
    found = look(disk)
    robin = found.avatar("robin")
    assert (found.problem, robin.generation, robin.held) == ("", 3, True)
    assert [row.seq for row in robin.rows] == list(range(1, 41))
    assert disk.counts.operations == before


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        ("UPDATE audit SET at = 0.5 WHERE row = 3", "segment 1 is not what its digest says"),
        ("DELETE FROM audit WHERE row = 40", "segment 3 is not what its digest says"),
        ("UPDATE segment SET previous = digest WHERE number = 2", "segment 2 does not follow the one before it"),
        ("INSERT INTO audit SELECT 41, avatar, run, at, kind, body FROM audit WHERE row = 40", "rows beyond the last"),
    ],
)
async def test_a_trail_that_was_changed_shows(disk, autojump_clock, harm: str, problem: str) -> None:
    """By digests that it works out itself. Spec: POL-10."""
    import apsw  # noqa: PLC0415 - this test alone does harm

    await write(disk, 40)
    connection = apsw.Connection(PATH, vfs=disk.vfs)
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.execute(harm)
    connection.close()
    assert problem in look(disk).problem


async def test_damage_is_a_problem_and_no_error(disk, autojump_clock) -> None:
    """A page that is broken, and a file that is no database."""
    await write(disk, 40)
    await trio.lowlevel.checkpoint()
    for offset in range(4096, 4096 + 64):
        disk.flip(PATH, offset)
    assert look(disk).problem
    disk.flip(PATH, 0)
    assert "NotADBError" in look(disk).problem
