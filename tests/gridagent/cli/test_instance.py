"""One service a runtime directory, one an avatar."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gridagent.cli.instance import (
    SERVICE_LOCK,
    AlreadyRunning,
    Holder,
    InstanceLocks,
    avatar_locks_directory,
    holder_of,
)
from gridagent.errors import OperatorError
from gridagent.fronts.control import RuntimeDirectory

FIRST = Holder(pid=111, since="2026-01-01 00:00:00 UTC")
SECOND = Holder(pid=222, since="2026-01-01 00:00:01 UTC")


def test_a_second_service_is_refused_and_the_holder_is_named(tmp_path) -> None:
    """One sentence: what, who holds it, how to go on. Spec: OPS-4."""
    with (
        RuntimeDirectory(tmp_path / "run") as directory,
        InstanceLocks(FIRST) as first,
        InstanceLocks(SECOND) as second,
    ):
        first.take_service(directory)
        with pytest.raises(AlreadyRunning) as caught:
            second.take_service(directory)
    assert "by process 111 since 2026-01-01 00:00:00 UTC; stop it with: gridagent stop" in str(caught.value)


def test_a_second_service_with_one_of_the_avatars_is_refused(tmp_path) -> None:
    """The lock is an avatar's own: others can be run. Spec: OPS-4."""
    with RuntimeDirectory(tmp_path / "state") as directory, InstanceLocks(FIRST) as first:
        first.take_avatars(directory, ["robin", "wren"])
        with InstanceLocks(SECOND) as second:
            second.take_avatars(directory, ["jay"])
            with pytest.raises(AlreadyRunning, match="the avatar wren is being run already, by process 111"):
                second.take_avatars(directory, ["wren"])


def test_a_lock_goes_with_its_holder(tmp_path) -> None:
    """After the end the next one may run, and is named from then on. Spec: OPS-4."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        with InstanceLocks(FIRST) as first:
            first.take_service(directory)
        first.release()
        with InstanceLocks(SECOND) as second, InstanceLocks(FIRST) as third:
            second.take_service(directory)
            with pytest.raises(AlreadyRunning, match="by process 222"):
                third.take_service(directory)


def test_a_holder_that_did_not_say_who_it_is_still_holds(tmp_path) -> None:
    """A damaged lock file changes the sentence, not the lock. Spec: OPS-4."""
    with (
        RuntimeDirectory(tmp_path / "run") as directory,
        InstanceLocks(FIRST) as first,
        InstanceLocks(SECOND) as second,
    ):
        first.take_service(directory)
        (tmp_path / "run" / "service.lock").write_text("garbage", encoding="utf-8")
        with pytest.raises(AlreadyRunning, match="by a process that did not say which"):
            second.take_service(directory)


def test_a_lock_that_is_a_link_is_refused(tmp_path) -> None:
    """Nobody is led to another file. Spec: CFG-2. Fault: 40."""
    with RuntimeDirectory(tmp_path / "run") as directory, InstanceLocks(FIRST) as locks:
        (tmp_path / "run" / "service.lock").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OperatorError, match=r"cannot be opened \(ELOOP\)"):
            locks.take_service(directory)


def test_a_platform_without_locks_is_refused(tmp_path, monkeypatch) -> None:
    """Two services on one avatar are worse than none. Spec: OPS-4."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        RuntimeDirectory(tmp_path / "run") as directory,
        InstanceLocks(FIRST) as locks,
        pytest.raises(OperatorError, match="has no file locks"),
    ):
        locks.take_service(directory)


def test_avatars_are_locked_beside_what_survives_of_them() -> None:
    """The locks stand in the state directory: it is what two services must not share."""
    assert avatar_locks_directory(Path("state")) == Path("state/avatars")


def test_who_holds_a_lock_can_be_asked_without_taking_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody, a process, nobody again; asking makes no file, and without locks nobody runs. Spec: OPS-4."""
    lock = tmp_path / "run" / SERVICE_LOCK
    assert holder_of(lock) is None
    assert not lock.parent.exists()
    with RuntimeDirectory(tmp_path / "run") as directory, InstanceLocks(Holder(pid=7, since="noon")) as locks:
        locks.take_service(directory)
        assert holder_of(lock) == "by process 7 since noon"
        locks.release()
        assert holder_of(lock) is None
        locks.take_service(directory)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "fcntl", None)
            assert holder_of(lock) is None
    with pytest.raises(OSError, match="symbolic"):
        link = tmp_path / "link"
        link.symlink_to(lock)
        holder_of(link)
