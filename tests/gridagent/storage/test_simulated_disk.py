"""The simulated disk keeps its promises and no more."""

from __future__ import annotations

from random import Random

import apsw
import pytest

from gridagent.storage.simulated_disk import SimulatedDisk

SECTOR = 512


@pytest.fixture
def many():
    """Disks of different seeds, closed at the end."""
    made = []

    def make(count: int, **how):
        for seed in range(count):
            disk = SimulatedDisk(Random(seed), name=f"many-{len(made)}", **how)
            made.append(disk)
            yield disk

    yield make
    for disk in made:
        disk.close()


def _write(disk, path: str, data: bytes) -> None:
    image = disk.open_image(path)
    image.write(data, 0)


def test_what_was_synced_survives_every_power_cut(many) -> None:
    """Content and name are there after the power came back, whatever the seed. Spec: SIM-3."""
    for disk in many(40):
        disk.write_durably("/d/a", b"x" * 2_000)
        disk.reboot()
        assert disk.read("/d/a", max_bytes=9_999) == b"x" * 2_000
        assert disk.counts.cuts == 1


def test_what_was_not_synced_is_kept_lost_or_torn(many) -> None:
    """Each sector for itself; over some seeds each of the three happens. Spec: SIM-3."""
    fates = set()
    for disk in many(60):
        disk.write_durably("/d/a", b"." * (3 * SECTOR))
        _write(disk, "/d/a", b"x" * (3 * SECTOR))
        disk.reboot()
        content = disk.read("/d/a", max_bytes=9_999)
        for at in range(0, 3 * SECTOR, SECTOR):
            sector = content[at : at + SECTOR]
            kept = sector.rstrip(b".")
            assert kept == b"x" * len(kept)
            fates.add("kept" if len(kept) == SECTOR else "torn" if kept else "lost")
    assert fates == {"kept", "torn", "lost"}


def test_a_truncation_may_or_may_not_have_happened(many) -> None:
    """Sizes that were not synced are as uncertain as content."""
    sizes = set()
    for disk in many(20):
        disk.write_durably("/d/a", b"." * 1_000)
        disk.open_image("/d/a").truncate(10)
        disk.reboot()
        sizes.add(disk.size("/d/a"))
    assert sizes == {10, 1_000}


def test_names_that_were_not_synced_come_and_go(many) -> None:
    """A new file may be gone, a removed one may be back, and a synced directory is as it was. Spec: SIM-3."""
    seen = set()
    for disk in many(40):
        disk.write_durably("/d/old", b"o")
        disk.remove("/d/old")
        _write(disk, "/d/new", b"n")
        disk.sync("/d/new")
        disk.reboot()
        seen.add(disk.names("/d"))
    assert seen == {(), ("new",), ("new", "old"), ("old",)}
    for disk in many(5):
        disk.write_durably("/d/old", b"o")
        disk.remove("/d/old")
        _write(disk, "/d/new", b"n")
        disk.sync("/d/new")
        disk.sync_directory("/d")
        disk.reboot()
        assert disk.names("/d") == ("new",)


def test_the_power_goes_off_at_the_operation_that_was_asked_for(disk) -> None:
    """From then on everything fails until the power is back."""
    disk.cut_after(2)
    disk.tick()
    with pytest.raises(apsw.IOError, match="power"):
        disk.tick()
    with pytest.raises(OSError, match="power"):
        disk.write_durably("/d/a", b"x")
    assert (disk.dead, disk.takes_writes) == (True, False)
    disk.cut_now()
    disk.reboot()
    assert (disk.dead, disk.counts.cuts) == (False, 1)
    disk.write_durably("/d/a", b"x")


@pytest.mark.parametrize(("failure", "error"), [("full", apsw.FullError), ("io_error", apsw.IOError)])
def test_a_disk_can_be_full_or_fail(disk, failure, error) -> None:
    """With the power on, until it is healed. Fault: 39."""
    disk.fail(failure)
    with pytest.raises(error):
        disk.tick()
    assert not disk.takes_writes
    disk.heal()
    disk.tick()
    assert disk.takes_writes


def test_a_sync_can_fail_alone(disk) -> None:
    """Writes go on, and nothing is safe. Fault: 39."""
    disk.write_durably("/d/a", b"safe")
    disk.fail("sync_error")
    disk.tick()
    with pytest.raises(OSError, match="failed"):
        disk.sync("/d/a")
    with pytest.raises(OSError, match="failed"):
        disk.sync_directory("/d")
    assert disk.takes_writes


def test_a_disk_that_lies_makes_nothing_safe(many) -> None:
    """It says yes, counts its lies, and loses what it likes. Spec: SIM-3."""
    lost = 0
    for disk in many(30, lies=True):
        disk.write_durably("/d/a", b"x" * SECTOR)
        assert disk.counts.syncs_lied == 2
        disk.reboot()
        lost += disk.read("/d/a", max_bytes=SECTOR) != b"x" * SECTOR
    assert lost > 5


def test_a_byte_can_be_damaged(disk) -> None:
    """Also where it was safe. Fault: 41."""
    disk.write_durably("/d/a", b"abc")
    disk.flip("/d/a", 1)
    disk.reboot()
    assert disk.read("/d/a", max_bytes=9) == bytes([ord("a"), ord("b") ^ 0xFF, ord("c")])


def test_the_same_seed_gives_the_same_disk(many) -> None:
    """What survives follows from the seed. Spec: SIM-2."""

    def left(seed):
        disk = SimulatedDisk(Random(seed), name="same")
        for _ in range(5):
            _write(disk, "/d/a", b"x" * 5_000)
            disk.reboot()
        content = disk.read("/d/a", max_bytes=99_999)
        disk.close()
        return content, disk.counts

    assert left(3) == left(3)
    assert left(3) != left(4)


def test_who_dies_takes_nothing_with_it(many) -> None:
    """With the power on everything that was written stays, synced or not; in between nothing reaches the disk."""
    for disk in many(10):
        downs = []
        disk.on_down = lambda downs=downs: downs.append(1)
        _write(disk, "/d/a", b"x" * 2_000)
        disk.kill()
        disk.kill()
        assert disk.dead
        with pytest.raises(OSError, match="the power is off"):
            disk.prepare("/d/b")
        disk.go_on()
        assert disk.read("/d/a", max_bytes=9_999) == b"x" * 2_000
        assert (disk.counts.kills, disk.counts.cuts, downs) == (1, 0, [1])
        disk.cut_now()
        disk.cut_now()
        assert downs == [1, 1]


def test_a_twin_is_another_disk(many) -> None:
    """It holds the same, and what is done to one is not done to the other."""
    (disk,) = many(1)
    _write(disk, "/d/a", b"old")
    twin = disk.twin(name="twin")
    try:
        _write(twin, "/d/a", b"new")
        assert disk.read("/d/a", max_bytes=9) == b"old"
        twin.reboot()
        assert twin.read("/d/a", max_bytes=3) in {b"old", b"new", b"nld", b"ned"}
        assert disk.counts.cuts == 0
        twin.erase()
        assert (twin.read("/d/a", max_bytes=3), disk.read("/d/a", max_bytes=9)) == (None, b"old")
    finally:
        twin.close()
