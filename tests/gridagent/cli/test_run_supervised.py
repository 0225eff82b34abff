"""`gridagent run` as a service manager starts it: a process of its own, a socket that listens, and signals."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gridagent.cli.exit_codes import ExitCode
from tests.docs.test_deploy import health_command

ROOT = Path(__file__).resolve().parents[3]
CONFIG = {
    "grid": {"simulated": {"scenario": "quiet-room"}},
    "paths": {"state_dir": "state", "runtime_dir": "run", "log_file": "gridagent.log"},
    "health": {"enabled": True, "port": 0},
    "log": {"destination": "stderr"},
}
STOPS_IN_S = 10


class Supervised:
    """A service, and what it told its manager."""

    def __init__(self, process: subprocess.Popen[bytes], manager: socket.socket) -> None:
        self.process = process
        self._manager = manager
        self.words: list[dict[str, str]] = []

    def hear(self, name: str, value: str = "") -> dict[str, str]:
        """Wait for a datagram with this assignment."""
        while True:
            datagram = self._manager.recv(65_536).decode()
            said = dict(line.split("=", 1) for line in datagram.splitlines())
            self.words.append(said)
            if name in said and value in said[name]:
                return said

    def end(self) -> tuple[int, list[dict]]:
        """Wait for the end; return the exit code and the log."""
        _, log = self.process.communicate(timeout=STOPS_IN_S)
        return self.process.returncode, [json.loads(line) for line in log.splitlines()]


@contextmanager
def supervised(room: Path, **environ: str) -> Iterator[Supervised]:
    """Start a service as a unit does: nothing to read, nobody who reads what it prints, its log on standard error."""
    (room / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(room / "notify"))
        manager.settimeout(20)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRIDAGENT_", "WATCHDOG"))}
        process = subprocess.Popen(  # noqa: S603 - this checkout
            [sys.executable, "-m", "gridagent", "run", "--config", str(room / "config.json"), "--for", "ever"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=room,
            env={
                **kept,
                "PYTHONPATH": str(ROOT),
                "PYTHONWARNINGS": "error",
                "NOTIFY_SOCKET": str(room / "notify"),
                "WATCHDOG_USEC": "2000000",
                **environ,
            },
        )
        try:
            yield Supervised(process, manager)
        finally:
            process.kill()
            process.communicate()


def _ask(port: int, path: str, token: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _check(port: int) -> int:
    """Perform the health check of the image; return its exit code."""
    _, option, source = health_command()
    command = [sys.executable, option, source.replace("8719", str(port))]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=15).returncode  # noqa: S603 - ours


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_service_is_ready_alive_reloads_and_stops_in_order(tmp_path: Path) -> None:
    """From READY to an exit code of 0, with probes, a collector and SIGHUP in between. Spec: OPS-2, OPS-3, OPS-4."""
    with supervised(tmp_path) as service:
        assert service.hear("READY") == {"READY": "1"}
        service.hear("STATUS", "robin online")
        service.hear("WATCHDOG")
        token = (tmp_path / "run" / "health.token").read_text(encoding="ascii").strip()
        log: list[dict] = []
        assert service.process.stderr is not None
        while not log or log[-1]["event"] != "health_endpoint":
            log.append(json.loads(service.process.stderr.readline()))
        port = int(log[-1]["where"].rpartition(":")[2])
        assert _ask(port, "/livez") == (200, "ok\n")
        assert _check(port) == 0
        assert _ask(port, "/readyz", token) == (200, "ok\navatar robin online\n")
        assert _ask(port, "/metrics")[0] == 401
        status, numbers = _ask(port, "/metrics", token)
        assert (status, 'gridagent_connections_total{avatar="robin"} 1\n' in numbers) == (200, True)
        assert _ask(port, "/livez", token)[1].splitlines() == ["ok", "avatar robin turning", "store ledger writing"]

        service.process.send_signal(signal.SIGHUP)
        assert int(service.hear("RELOADING")["MONOTONIC_USEC"]) > 0
        assert service.hear("READY") == {"READY": "1"}

        service.process.send_signal(signal.SIGTERM)
        assert int(service.hear("STOPPING")["EXTEND_TIMEOUT_USEC"]) >= 10_000_000
        code, rest = service.end()
        assert (code, rest[-1]["event"], rest[-1]["why"]) == (ExitCode.OK, "service_ended", "terminate")
        assert [each["READY"] for each in service.words if "READY" in each] == ["1", "1"]
        assert sorted(each.name for each in (tmp_path / "run").iterdir()) == ["service.lock"]
        assert _check(port) == 1


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_watchdog_for_another_process_is_not_fed(tmp_path: Path) -> None:
    """The variables may have been inherited. Spec: OPS-3."""
    with supervised(tmp_path, WATCHDOG_PID="1") as service:
        service.hear("STATUS", "robin online")
        service.process.send_signal(signal.SIGTERM)
        service.hear("STOPPING")
        assert service.end()[0] == ExitCode.OK
        assert not [each for each in service.words if "WATCHDOG" in each]
