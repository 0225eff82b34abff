"""The log's file over months."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.cli.log_file import LogFile, log_stream, open_log_file
from gridagent.config.model import LogConfig, LogDestination
from gridagent.errors import ConfigError


def test_the_file_is_private_and_appended_to(tmp_path) -> None:
    """What two runs write stays, and others cannot read it. Spec: CFG-2."""
    path = tmp_path / "deep" / "gridagent.log"
    for word in ("one", "two"):
        with open_log_file(path) as file:
            file.write(f"{word}\n")
    assert path.read_text(encoding="utf-8") == "one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["link", "directory"])
def test_what_is_no_file_is_refused_in_one_sentence(tmp_path, kind) -> None:
    """The log is never written through a link. Spec: CFG-2. Fault: 40."""
    path = tmp_path / "log"
    if kind == "link":
        path.symlink_to(tmp_path / "victim")
    else:
        path.mkdir()
    with pytest.raises(ConfigError, match=r"\$\.paths\.log_file: the log .* cannot be opened"):
        open_log_file(path)
    assert not (tmp_path / "victim").exists()


def opened(path: Path, *, max_bytes: int = 40, keep: int = 2, said: list[str] | None = None) -> LogFile:
    """Open a small one."""
    return LogFile(path, max_bytes=max_bytes, keep=keep, complain=[].append if said is None else said.append)


def put(file: LogFile, *records: str) -> None:
    """Write records as the log does."""
    for record in records:
        file.write(f"{record}\n")
        file.flush()


def held(path: Path) -> list[list[str]]:
    """What all files hold, the newest first."""
    paths = [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, 9))]
    return [each.read_text(encoding="utf-8").split("\n")[:-1] for each in paths if each.exists()]


def test_a_full_log_is_set_aside_and_the_oldest_goes(tmp_path) -> None:
    """Records stay whole and in order; another run goes on where one ended. Spec: BND-16, CFG-2."""
    path = tmp_path / "gridagent.log"
    with opened(path) as file:
        put(file, *(f"record {number:02d} ....." for number in range(3)))
    with opened(path) as file:
        put(file, *(f"record {number:02d} ....." for number in range(3, 9)))
    assert held(path) == [
        ["record 08 ....."],
        ["record 06 .....", "record 07 ....."],
        ["record 04 .....", "record 05 ....."],
    ]
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in tmp_path.iterdir())


@given(records=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)), max_size=30)))
def test_whatever_is_written_is_bounded_and_the_newest_is_kept(tmp_path_factory, records) -> None:
    """No file is over its size unless it is one record, and what is left is the end of all that was written.

    Spec: BND-16.
    """
    path = tmp_path_factory.mktemp("log") / "log"
    with opened(path, max_bytes=32) as file:
        put(file, *(record.replace("\r", "") for record in records))
    files = held(path)
    kept = [record for each in reversed(files) for record in each]
    assert len(files) <= 3
    assert kept == [record.replace("\r", "") for record in records][len(records) - len(kept) :]
    for each in files:
        assert len(each) <= 1 or sum(len(record.encode()) + 1 for record in each) <= 32
    if len(files) < 3:
        assert len(kept) == len(records)


def test_a_log_that_was_moved_away_is_begun_again(tmp_path) -> None:
    """By a tool that keeps logs, or by another service that set it aside. Spec: OPS-2."""
    path = tmp_path / "log"
    with opened(path) as file:
        put(file, "one")
        path.rename(tmp_path / "taken")
        put(file, "two")
        path.unlink()
        put(file, "three")
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "one\n"
    assert held(path) == [["three"]]


def test_a_log_is_never_begun_again_through_a_link(tmp_path) -> None:
    """Somebody put a link in its place: the record is lost to the log, which counts it. Spec: CFG-2. Fault: 40."""
    path, victim = tmp_path / "log", tmp_path / "victim"
    with opened(path) as file:
        put(file, "one")
        path.unlink()
        path.symlink_to(victim)
        with pytest.raises(OSError, match="symbolic link"):
            file.write("two\n")
        path.unlink()
        put(file, "three")
    assert not victim.exists()
    assert held(path) == [["three"]]


def test_what_cannot_be_set_aside_grows_and_that_is_said(tmp_path, monkeypatch) -> None:
    """Records go before bounds; it is tried again when it has grown by as much. Spec: BND-16."""
    path, said = tmp_path / "log", []

    def refuse(self: Path, to: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with opened(path, said=said) as file:
        monkeypatch.setattr(Path, "replace", refuse)
        put(file, *("x" * 19 for _ in range(5)))
        assert len(said) == 2
        assert said[0] == (
            f"gridagent: the log {path} is full and cannot be set aside (Permission denied); "
            "it grows on until its directory can be written to\n"
        )
        monkeypatch.undo()
        put(file, "y", "y" * 19, "z")
    assert held(path) == [["z"], [*("x" * 19 for _ in range(5)), "y", "y" * 19]]


def test_the_configuration_says_where_it_is_written(tmp_path) -> None:
    """A file with its bounds, or the error output, which stays open. Spec: CFG-1."""
    stderr = io.StringIO()
    with log_stream(LogConfig(destination=LogDestination.STDERR), tmp_path / "log", stderr) as stream:
        stream.write("there\n")
    assert stderr.getvalue() == "there\n"
    with log_stream(LogConfig(max_bytes=65_536, keep_files=1), tmp_path / "log", stderr) as stream:
        for number in range(40):
            stream.write(f"{number:04d}{'x' * 8_000}\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log", "log.1"]
    assert (tmp_path / "log").read_text(encoding="utf-8").split("\n")[-2].startswith("0039")
