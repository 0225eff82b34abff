"""The service manager's protocol, against a socket of our own."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.cli.notify import Notifier, monotonic_usec, watchdog_seconds


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    """A manager's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + address[1:] if address[0] == "@" else address)
        manager.settimeout(5)
        yield manager


def unheard(code: str, error: BaseException) -> None:
    """No error is expected."""
    raise AssertionError(code) from error


@pytest.mark.parametrize("abstract", [False, True])
def test_assignments_go_in_one_datagram(tmp_path: Path, *, abstract: bool) -> None:
    """By a path or by an abstract name. Spec: OPS-3."""
    address = f"@gridagent-test-{tmp_path.name}" if abstract else str(tmp_path / "notify")
    with listening(address) as manager:
        notifier = Notifier(address, unheard)
        assert notifier.heard
        notifier.send(READY=1, STATUS="robin online")
        notifier.send(WATCHDOG=1)
        assert manager.recv(4096) == b"READY=1\nSTATUS=robin online\n"
        assert manager.recv(4096) == b"WATCHDOG=1\n"


def test_a_value_cannot_bring_an_assignment_along(tmp_path: Path) -> None:
    """One line, bounded, whatever an avatar is called. Spec: OPS-3."""
    with listening(str(tmp_path / "notify")) as manager:
        Notifier(str(tmp_path / "notify"), unheard).send(STATUS="a\nREADY=1\x1b[2J" + "ö" * 5_000)
        datagram = manager.recv(65_536)
    assert datagram.startswith("STATUS=a?READY=1?[2Jö".encode())
    assert datagram.count(b"\n") == 1
    assert len(datagram) < 600


def test_where_nobody_listens_nothing_is_sent() -> None:
    """The usual case: started by a person."""
    notifier = Notifier("", unheard)
    notifier.send(READY=1)
    assert not notifier.heard


@pytest.mark.parametrize("address", ["/nonexistent/notify", "@nobody-listens-here", "vsock:2:1234", "/" + "x" * 300])
def test_a_manager_that_cannot_be_reached_is_said_once(address: str) -> None:
    """And is never the reason that anything fails. Spec: OPS-3."""
    errors: list[str] = []
    notifier = Notifier(address, lambda code, _: errors.append(code))
    for _ in range(3):
        notifier.send(READY=1)
    assert errors == ["service_manager_unreachable"]


def test_a_platform_without_such_sockets_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and that is all. Spec: OPS-7."""
    errors: list[str] = []
    monkeypatch.delattr(socket, "AF_UNIX")
    Notifier("/run/notify", lambda code, _: errors.append(code)).send(READY=1)
    assert errors == ["service_manager_unreachable"]


def test_a_manager_that_does_not_read_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full queue costs a moment, and one line in the log."""
    monkeypatch.setattr("gridagent.cli.notify._SEND_S", 0.0)
    errors: list[str] = []
    with listening(str(tmp_path / "notify")):
        notifier = Notifier(str(tmp_path / "notify"), lambda code, _: errors.append(code))
        for _ in range(4_000):
            notifier.send(STATUS="x" * 200)
            if errors:
                break
    assert errors == ["service_manager_unreachable"]


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "٣"}, None),
        ({"WATCHDOG_USEC": "9" * 400}, None),
        ({"WATCHDOG_USEC": "9" * 18}, 86_400.0),
    ],
)
def test_a_sign_of_life_is_wanted_of_the_process_that_is_named(environ: dict[str, str], seconds: float | None) -> None:
    """And within the seconds that are named. Spec: OPS-3."""
    assert watchdog_seconds(environ, 7) == seconds


@given(st.text(max_size=30), st.text(max_size=8))
def test_any_environment_gives_seconds_or_none(usec: str, pid: str) -> None:
    """It never raises. Spec: OPS-3."""
    found = watchdog_seconds({"WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}, 1)
    assert found is None or 0 < found <= 86_400


def test_the_clock_is_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole microseconds that go up; where there is no such clock, none."""
    first = monotonic_usec()
    assert 0 < first <= monotonic_usec()
    monkeypatch.delattr("time.CLOCK_MONOTONIC")
    assert monotonic_usec() == 0
