"""The files by which a client finds a service."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gridagent.errors import OperatorError
from gridagent.fronts.control import rendezvous
from gridagent.fronts.control.rendezvous import Endpoint, RuntimeDirectory, find_endpoint

TOKEN = "canary-70ken-0123456789"
ENDPOINT = Endpoint(host="127.0.0.1", port=4711, pid=99, started_at=5.0, protocol=1, instance="abc")


def mode(path: Path) -> int:
    """Permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_service_can_be_found_and_its_files_are_private(tmp_path) -> None:
    """Directory 0700, files 0600, and what is read is what was written. Spec: OPS-6."""
    old = os.umask(0)
    try:
        with RuntimeDirectory(tmp_path / "deep" / "run") as directory:
            directory.publish(ENDPOINT, TOKEN)
    finally:
        os.umask(old)
    path = tmp_path / "deep" / "run"
    assert mode(path) == 0o700
    assert {each.name: mode(each) for each in path.iterdir()} == {"control.json": 0o600, "control.token": 0o600}
    found = find_endpoint(path)
    assert found is not None
    assert found[0] == ENDPOINT
    assert found[1].matches(TOKEN.encode())


def test_the_files_go_with_the_service(tmp_path) -> None:
    """After the stop nothing is left, and stopping twice is fine. Spec: OPS-6."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
        directory.withdraw()
        directory.withdraw()
        directory.close()
    assert list((tmp_path / "run").iterdir()) == []
    assert find_endpoint(tmp_path / "run") is None
    assert find_endpoint(tmp_path / "nowhere") is None


def test_what_a_killed_service_left_is_replaced(tmp_path) -> None:
    """A stale token is removed, never reused or followed. Spec: OPS-6. Fault: 40."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, "old")
        victim = tmp_path / "victim"
        victim.write_text("precious", encoding="utf-8")
        (tmp_path / "run" / "control.token").unlink()
        (tmp_path / "run" / "control.token").symlink_to(victim)
        directory.publish(ENDPOINT, TOKEN)
    assert victim.read_text(encoding="utf-8") == "precious"
    assert not (tmp_path / "run" / "control.token").is_symlink()


def test_a_file_is_never_opened_through_a_link(tmp_path) -> None:
    """A link in the directory is refused when it is opened. Spec: OPS-6. Fault: 40."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        (tmp_path / "run" / "service.lock").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="symbolic links"):
            directory.open_file("service.lock", os.O_RDWR | os.O_CREAT)
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_others_may_enter_is_refused(tmp_path) -> None:
    """One sentence says how to mend it. Spec: OPS-6, CFG-2."""
    (tmp_path / "run").mkdir(mode=0o755)
    (tmp_path / "run").chmod(0o755)
    with pytest.raises(OperatorError, match="run chmod 700 on it"):
        RuntimeDirectory(tmp_path / "run")


def test_somebody_elses_directory_is_refused(tmp_path, monkeypatch) -> None:
    """The owner must be the one who runs the service. Spec: CFG-2."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setattr(rendezvous.os, "geteuid", lambda: 424_242)
    with pytest.raises(OperatorError, match="belongs to another user"):
        RuntimeDirectory(tmp_path / "run")


@pytest.mark.parametrize("kind", ["link", "dangling", "file"])
def test_what_is_no_directory_is_refused(tmp_path, kind) -> None:
    """A link or a file in its place is refused with one sentence. Spec: CFG-2. Fault: 40."""
    (tmp_path / "real").mkdir(mode=0o700)
    place = tmp_path / "run"
    if kind == "file":
        place.write_text("", encoding="utf-8")
    else:
        place.symlink_to(tmp_path / ("real" if kind == "link" else "nothing"))
    with pytest.raises(OperatorError, match="it is a link or no directory"):
        RuntimeDirectory(place)


def test_a_directory_that_cannot_be_made_is_named(tmp_path) -> None:
    """The sentence names the place and the key to change."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OperatorError, match=r"paths\.runtime_dir"):
        RuntimeDirectory(tmp_path / "file" / "run")


def test_a_platform_without_protection_is_refused(tmp_path, monkeypatch) -> None:
    """Where links cannot be refused, no token is written. Spec: OPS-6."""
    monkeypatch.setattr(rendezvous, "platform_gaps", lambda: ("O_NOFOLLOW",))
    with pytest.raises(OperatorError, match="it lacks O_NOFOLLOW"):
        RuntimeDirectory(tmp_path / "run")


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch) -> None:
    """An endpoint that cannot be announced says so. Fault: 39."""
    with RuntimeDirectory(tmp_path / "run") as directory:

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(rendezvous.os, "write", full)
        with pytest.raises(OperatorError, match=r"cannot be announced .*\(ENOSPC\)"):
            directory.publish(ENDPOINT, TOKEN)


def test_files_others_could_have_written_are_not_trusted(tmp_path) -> None:
    """A client does not take a token that others may read or change. Spec: CFG-2. Fault: 40."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
    (tmp_path / "run" / "control.token").chmod(0o644)
    with pytest.raises(OperatorError, match="others may read or change this secret") as caught:
        find_endpoint(tmp_path / "run")
    assert TOKEN not in str(caught.value)


ELSEWHERE = b'{"host":"%s","port":9,"pid":1,"started_at":0,"protocol":1,"instance":"i"}'


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{}", b"not json", b'{"host":"127.0.0.1","port":0}'),
        *(ELSEWHERE % b"192.0.2.7", ELSEWHERE % b"localhost.evil"),
    ],
)
def test_a_damaged_endpoint_file_is_one_sentence(tmp_path, content) -> None:
    """No traceback for what is found, and the token goes to no other machine. Spec: OPS-1, OPS-6."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
        directory.create("control.json", content)
    with pytest.raises(OperatorError, match="is damaged; restart the service"):
        find_endpoint(tmp_path / "run")


def test_a_damaged_token_file_is_one_sentence(tmp_path) -> None:
    """A token that is none is named without its content."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
        directory.create("control.token", b"a\nb\n")
    with pytest.raises(OperatorError, match="restart the service, which writes it anew"):
        find_endpoint(tmp_path / "run")


def test_nothing_shows_the_token(tmp_path) -> None:
    """No representation holds it. Spec: CFG-3. Fault: 42."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
        found = find_endpoint(tmp_path / "run")
        assert TOKEN not in repr(directory) + repr(found)
