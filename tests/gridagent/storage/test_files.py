"""Files of the machine and of the simulated disk behave alike."""

from __future__ import annotations

import os
import stat
from random import Random

import pytest

from gridagent.storage.files import SystemFiles
from gridagent.storage.simulated_disk import SimulatedDisk


@pytest.fixture(params=["system", "simulated"])
def place(request, tmp_path):
    """A directory on each kind of disk."""
    if request.param == "system":
        yield SystemFiles(), str(tmp_path / "state")
        return
    disk = SimulatedDisk(Random(1), name="files-disk")
    yield disk, "/state"
    disk.close()


def test_a_file_is_prepared_empty_and_once(place) -> None:
    """Preparing makes a file and its directory, and leaves what is there."""
    files, directory = place
    path = f"{directory}/a"
    assert (files.size(path), files.names(directory), files.read(path, max_bytes=9)) == (None, (), None)
    files.prepare(path)
    assert (files.size(path), files.names(directory)) == (0, ("a",))
    files.write_durably(path, b"12345")
    files.prepare(path)
    assert files.read(path, max_bytes=3) == b"123"


def test_a_file_is_replaced_whole(place) -> None:
    """Writing leaves one file of that name, moving replaces another, removing is idempotent."""
    files, directory = place
    for content in (b"first, and longer", b"second"):
        files.write_durably(f"{directory}/a", content)
    files.write_durably(f"{directory}/b", b"moved")
    files.sync(f"{directory}/b")
    files.move_durably(f"{directory}/b", f"{directory}/a")
    assert files.names(directory) == ("a",)
    assert files.read(f"{directory}/a", max_bytes=99) == b"moved"
    files.remove(f"{directory}/a")
    files.remove(f"{directory}/a")
    files.sync_directory(directory)
    assert files.names(directory) == ()


def test_files_of_the_machine_are_private(tmp_path) -> None:
    """Nobody but its owner may open what was prepared or written, also beside a careless mask. Spec: CFG-2."""
    files = SystemFiles()
    mask = os.umask(0)
    try:
        files.prepare(str(tmp_path / "state" / "a"))
        files.write_durably(str(tmp_path / "state" / "b"), b"x")
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()}
    assert modes == {"a": 0o600, "b": 0o600}
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert files.vfs == ""


def test_a_link_is_not_followed_when_a_file_is_made(tmp_path) -> None:
    """A name that leads elsewhere is refused. Fault: 40."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="exist"):
        SystemFiles().prepare(str(tmp_path / "link"))


def test_platforms_without_directory_descriptors_do_without(monkeypatch, tmp_path) -> None:
    """Where a directory cannot be synced, nothing is pretended and nothing fails."""
    monkeypatch.delattr(os, "O_DIRECTORY")
    SystemFiles().write_durably(str(tmp_path / "a"), b"x")
    assert (tmp_path / "a").read_bytes() == b"x"
