"""Files that only their owner may read: all of them or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gridagent.config import new_files
from gridagent.config.files import read_file
from gridagent.config.new_files import names_taken, write_private_files
from gridagent.errors import ConfigError, OperatorError

BOTH = {"secret": b"canary\n", "config.json": b"{}\n"}


def _names(room: Path) -> list[str]:
    return sorted(each.name for each in room.iterdir())


def test_new_files_are_whole_and_private(tmp_path: Path) -> None:
    """They are what the loader takes as secrets: mode 600, one name, no rest beside them. Spec: CFG-2."""
    old = os.umask(0)
    try:
        write_private_files(tmp_path, BOTH, replace=False)
    finally:
        os.umask(old)
    assert _names(tmp_path) == ["config.json", "secret"]
    for name, data in BOTH.items():
        assert read_file(tmp_path / name, max_bytes=64, holds_secret=True, where="$").data == data
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_what_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    """A file at any of the names leaves all as it was; a link counts, and is replaced, never followed. Spec: CFG-2."""
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / "config.json").symlink_to(tmp_path / "elsewhere")
    assert names_taken(tmp_path, BOTH) == ("config.json",)
    with pytest.raises(OperatorError, match=r"there is a file at .*config\.json already; name another, or add --force"):
        write_private_files(tmp_path, BOTH, replace=False)
    assert _names(tmp_path) == ["config.json", "elsewhere"]
    write_private_files(tmp_path, BOTH, replace=True)
    assert _names(tmp_path) == ["config.json", "elsewhere", "secret"]
    assert not (tmp_path / "config.json").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


def test_what_a_killed_writer_left_is_no_obstacle(tmp_path: Path) -> None:
    """Its unfinished file goes. Spec: CFG-2."""
    (tmp_path / ".secret.new").write_bytes(b"half")
    write_private_files(tmp_path, BOTH, replace=False)
    assert _names(tmp_path) == ["config.json", "secret"]
    assert (tmp_path / "secret").read_bytes() == b"canary\n"


@pytest.mark.parametrize("broken", [KeyboardInterrupt(), OSError(28, "No space left on device"), OSError("odd")])
@pytest.mark.parametrize("step", ["fsync", "link"])
@pytest.mark.parametrize("number", [1, 2])
def test_whatever_ends_it_early_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: BaseException, step: str, number: int
) -> None:
    """Ctrl-C or a full disk at any step: no new file, none half written. Spec: CFG-2. Fault: 39."""
    real, calls = getattr(os, step), []

    def fails(*arguments: object, **options: object) -> object:
        calls.append(arguments)
        if len(calls) == number:
            raise broken
        return real(*arguments, **options)

    monkeypatch.setattr(new_files.os, step, fails)
    with pytest.raises((KeyboardInterrupt, OperatorError)) as raised:
        write_private_files(tmp_path, BOTH, replace=False)
    assert _names(tmp_path) == []
    if isinstance(broken, OSError):
        assert "cannot be written" in str(raised.value)


def test_a_directory_behind_a_link_is_refused(tmp_path: Path) -> None:
    """The loader would refuse the file there; so it is not written. Spec: CFG-2. Fault: 40."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match="is a symbolic link"):
        write_private_files(tmp_path / "link", BOTH, replace=False)
    with pytest.raises(ConfigError, match="does not exist"):
        names_taken(tmp_path / "missing", BOTH)
    assert _names(tmp_path / "real") == []


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    """One sentence instead of an error nobody expects. Spec: OPS-1."""
    for attempt in (
        names_taken,
        lambda room, names: write_private_files(room, dict.fromkeys(names, b""), replace=True),
    ):
        with pytest.raises(OperatorError, match=r"x… cannot be written \(File name too long\); name a file"):
            attempt(tmp_path, ["x" * 300])
    assert _names(tmp_path) == []
