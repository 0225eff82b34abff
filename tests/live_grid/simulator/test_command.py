"""The command that serves a scenario."""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from gridagent.errors import OperatorError
from gridagent.grid.simulated.scenario import load_shipped
from live_grid.simulator import command
from live_grid.simulator.command import accounts_of, main, read_faults
from live_grid.simulator.faults import WireFaults

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt the command as soon as it has something to tell."""
    announce = command._announce

    def interrupted(*told: object, as_json: bool) -> str:
        signal.raise_signal(signal.SIGINT)
        return announce(*told, as_json=as_json)

    monkeypatch.setattr(command, "_announce", interrupted)


@pytest.mark.slow
def test_a_scenario_is_served_until_interrupted() -> None:
    """As a process of its own: the addresses come as JSON, the page answers, and an interrupt ends it in order.

    Spec: OPS-1, LIV-15.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "live_grid.simulator", "--port", "0", "--json", "--fault", "datagram_lost=0.1"],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    try:
        told = json.loads(process.stdout.readline())
        assert told["accounts"] == ["Robin Resident"]
        assert set(told["regions"]) == {"North Shore", "Old Harbour"}
        with urllib.request.urlopen(told["login"] + "get_grid_info", timeout=5) as page:  # noqa: S310 - loopback
            assert b"<platform>OpenSim</platform>" in page.read()
        process.send_signal(signal.SIGINT if os.name != "nt" else signal.CTRL_C_EVENT)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def test_people_are_told_where_and_as_whom_to_log_in(stopped: None, capsys: pytest.CaptureFixture[str]) -> None:
    """In words, with the password. Spec: OPS-1, LIV-15."""
    assert main(["--port", "0", "--seed", "5", "--profile", "secondlife", "--password", "pa ss"]) == 0
    told = capsys.readouterr().out
    assert "Serving two-regions as secondlife at http://127.0.0.1:" in told
    assert "North Shore: UDP 127.0.0.1:" in told
    assert "(password 'pa ss'):\n  Robin Resident" in told


def test_programs_are_told_as_json(stopped: None, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, with all addresses. Spec: OPS-1, LIV-15."""
    assert main(["--port", "0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["login"].startswith("http://127.0.0.1:")
    assert told["accounts"] == ["Robin Resident"]
    assert [host for host, _ in told["regions"].values()] == ["127.0.0.1"] * 2


def test_the_package_runs_as_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exit code is the command's. Spec: OPS-1."""
    monkeypatch.setattr(command, "main", lambda: 7)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("live_grid.simulator", run_name="__main__")
    assert ended.value.code == 7


def test_a_world_of_ones_own_is_served(stopped: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a file; who lives in it is nobody's to log in as. Spec: OPS-1, SIM-1."""
    start = {"region": "Yard", "x": 3, "y": 3}
    one = {"name": "Nora", "start": start, "character": {"kind": "wanderer"}}
    file = tmp_path / "yard.json"
    people = [one, {"name": "Otto Guest", "start": start}]
    file.write_text(json.dumps({"name": "yard", "regions": [{"name": "Yard", "size_m": 64}], "avatars": people}))
    assert main(["--port", "0", "--scenario-file", str(file)]) == 0
    told = capsys.readouterr().out
    assert "Serving yard as opensim" in told
    assert "  Otto Guest\n" in told
    assert "Nora" not in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scenario", "atlantis"], "no scenario named 'atlantis'"),
        (["--scenario-file", "not/there.json"], "cannot be read"),
        (["--fault", "gravity=1"], "unknown field `gravity`"),
        (["--fault", "datagram_lost"], "has no value"),
        (["--fault", "datagram_lost=2"], "<= 1.0"),
        (["--fault", "delay_s=[5, 1]"], "put the smaller number"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence that says how to mend it, before anything is bound. Spec: OPS-1."""
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_an_address_that_cannot_be_had_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    """Not loopback, or no room for the regions. Spec: OPS-1, LIV-15."""
    assert main(["--host", "192.0.2.1"]) == 3
    assert "this machine only" in capsys.readouterr().err
    assert main(["--port", "65535"]) == 3
    assert "leaves no room" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do about it. Spec: OPS-1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert main(["--scenario", "quiet-room", "--port", str(port)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"gridagent grid: 127.0.0.1 from port {port} on cannot be served: ")
    assert "give another --port" in said


def test_knobs_are_read_as_json() -> None:
    """Numbers, ranges and lists. Spec: LIV-15."""
    knobs = read_faults(["datagram_lost=0.1", "delay_s=[0.1, 0.5]", 'login_causes=["banned"]'])
    assert (knobs.datagram_lost, knobs.delay_s) == (0.1, (0.1, 0.5))
    assert read_faults([]) == WireFaults()
    with pytest.raises(OperatorError, match="the knobs are datagram_lost"):
        read_faults(["x=1"])


def test_only_accounts_can_be_logged_in_to() -> None:
    """Characters of the world are nobody's to be."""
    assert accounts_of(load_shipped("two-regions")) == ("Robin Resident",)
    assert command.DEFAULT_SCENARIO == "two-regions"
