"""Claims about a process that is killed in the middle of a payment, and what the next one says of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROBIN, OLIVE = "5eed0000-0000-4000-8000-00000000a9e7", "5eed0000-0000-4000-8000-000000000001"
PLACE = {"region": "Vault", "x": 16, "y": 16}
SCENARIO = {
    "name": "vault",
    "description": "A grid that does what it is told and never says so.",
    "seed": 1,
    "regions": [{"name": "Vault", "size_m": 32}],
    "avatars": [
        {
            "name": "Robin Resident",
            "avatar_id": ROBIN,
            "start": PLACE,
            "balance": 100,
            "scripted_agent": True,
        },
        {"name": "Olive Owner", "avatar_id": OLIVE, "start": PLACE, "balance": 100},
    ],
    "faults": {"evidence_lost": 1.0},
}
CONFIG = {
    "avatars": {"robin": {"first_name": "Robin", "last_name": "Resident"}},
    "grid": {"simulated": {"scenario_file": "vault.json"}},
    "paths": {"state_dir": "state", "runtime_dir": "run", "log_file": "gridagent.log"},
    "roles": {"owners": [OLIVE]},
    "policy": {
        "preset": "observer",
        "budgets": {
            "calls.money": [{"per": "global", "limit": 10, "window_s": 86400}],
            "linden": [{"per": "global", "limit": 8, "window_s": 86400}],
        },
    },
}
PAY = json.dumps({"action": "pay_avatar", "to": OLIVE, "amount": 5})
TRIES = 40


def environment() -> dict[str, str]:
    """Nothing of this machine's own configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRIDAGENT_")}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}


def say(room: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Perform a command in a process of its own."""
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "gridagent", *arguments, "--config", str(room / "c.json")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
        check=False,
    )


class Service(NamedTuple):
    """A running service and what it said until its avatar was running."""

    process: subprocess.Popen[str]
    said: list[str]


@contextmanager
def running(room: Path) -> Iterator[Service]:
    """A service in a process of its own, once its avatar is running; killed at the end, however that comes."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "gridagent", "run", "--plain", "--for", "50s", "--config", str(room / "c.json")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    said: list[str] = []
    try:
        for line in process.stdout:
            said.append(line)
            if "the avatar is running" in line:
                break
        yield Service(process, said)
    finally:
        process.kill()
        process.wait(timeout=10)
        process.stdout.close()


def furnish(room: Path, scenario: object, config: object) -> None:
    """Write a scenario and a configuration."""
    for name, value in (("vault.json", scenario), ("c.json", config)):
        path = room / name
        path.write_text(json.dumps(value), encoding="utf-8")
        path.chmod(0o600)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A directory with a configuration of its own."""
    furnish(tmp_path, SCENARIO, CONFIG)
    return tmp_path


def records(room: Path) -> int:
    """How many records the running service has made durable."""
    return int(json.loads(say(room, "storage", "--json").stdout)["records"])


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_payment_that_was_cut_off_by_a_kill_is_in_doubt_and_is_never_paid_twice(room: Path) -> None:
    """Kill -9, restart: told at once, budget still spent, nothing sent again, settled by hand. Spec: EFX-2, POL-6."""
    with running(room) as service:
        before = records(room)
        asked = say(room, "act", PAY, "--json")
        assert json.loads(asked.stdout)["code"] == "authorized"
        effect = json.loads(asked.stdout)["message"].removeprefix("effect ")
        # Decided, reserved, about to be sent, and sure of it: four records; the grid then never answers.
        assert any(records(room) >= before + 4 for _ in range(TRIES))
        service.process.kill()
    stopped = say(room, "status", "--json")
    assert stopped.returncode == 4
    assert json.loads(stopped.stdout)["effect"] == effect

    with running(room) as service:
        assert any("in doubt since" in line and effect in line for line in service.said)
        status = json.loads(say(room, "status", "--json").stdout)
        (doubt,) = status["doubts"]
        assert (doubt["effect"], doubt["action"]) == (effect, "pay_avatar")
        assert "amount=5" in doubt["summary"]
        assert doubt["since"] is not None
        spent = {each["meter"]: each["used"] for each in status["gateway"]["budgets"]}
        assert (spent["linden"], spent["calls.money"]) == (5, 1)
        assert status["balance"] == 100  # a new world, in which nobody paid anything

        again = json.loads(say(room, "act", PAY, "--json").stdout)
        assert (again["accepted"], again["code"]) == (False, "budget_spent")
        settled = say(room, "settle", f"{effect}", "happened")
        assert settled.returncode == 0
        status = json.loads(say(room, "status", "--json").stdout)
        assert status["doubts"] == []
        assert say(room, "settle", effect, "happened").returncode == 5

        rows = [
            json.loads(line)["record"] for line in say(room, "audit", "--since", "1h", "--json").stdout.splitlines()
        ]
        paid = [(row["kind"], row["code"]) for row in rows if row["effect"] == effect]
        assert paid == [("decision", "authorized"), ("settlement", "in_doubt"), ("settlement", "confirmed")]
        assert say(room, "audit", "verify").returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_second_instance_is_refused_by_name(room: Path) -> None:
    """One service a runtime directory, one an avatar, one a database; each sentence names the process. Spec: OPS-4."""
    with running(room) as service:
        second = say(room, "run", "--for", "1s")
        assert second.returncode == 8
        assert f"by process {service.process.pid} since " in second.stderr
        elsewhere = {**CONFIG, "paths": {**CONFIG["paths"], "runtime_dir": "run2"}}  # type: ignore[dict-item]
        for avatar, words in (("robin", "the avatar robin is being run already"), ("other", "gridagent.db is in use")):
            named = {**elsewhere, "avatars": {avatar: {"first_name": "Robin", "last_name": "Resident"}}}
            (room / "c.json").write_text(json.dumps(named), encoding="utf-8")
            second = say(room, "run", "--for", "1s")
            assert second.returncode == 8
            assert words in second.stderr
            assert f"by process {service.process.pid} since " in second.stderr
            assert second.stderr.count("\n") == 1


BANKED = {
    **CONFIG,
    "grid": {"simulated": {"scenario_file": "vault.json", "book_file": "book.jsonl"}},
    "session": {"doubts_settle_s": 1.0},
}
"""The grid's bank writes its book into a file of its own, so that its money outlives a killed service as a real grid's
does; the service never reads that file."""


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("way", "fault", "balance", "code", "proof"),
    [
        ("it happened", "evidence_lost", 95, "confirmed", "history"),
        ("it did not", "request_lost", 100, "refused", "not_in_history"),
        ("it cannot be known", "evidence_lost", 95, "in_doubt", None),
    ],
)
def test_a_payment_that_was_cut_off_by_a_kill_is_found_out_by_the_next_process(
    tmp_path: Path, way: str, fault: str, balance: int, code: str, proof: str | None
) -> None:
    """Kill -9, restart, shown in doubt, and reconciled from the grid in each of the three ways. Spec: EFX-2, EFX-5."""
    known = way != "it cannot be known"
    scenario = {**SCENARIO, "faults": {fault: 1.0}, "grid": {"keeps_history": known}}
    furnish(tmp_path, scenario, BANKED)
    book = tmp_path / "book.jsonl"
    with running(tmp_path) as service:
        before = records(tmp_path)
        asked = json.loads(say(tmp_path, "act", PAY, "--json").stdout)
        effect = asked["message"].removeprefix("effect ")
        assert any(records(tmp_path) >= before + 4 for _ in range(TRIES))
        service.process.kill()
    # The grid did it, or it never got there; the killed service cannot have known which.
    assert len(book.read_bytes().splitlines()) == (1 if fault == "request_lost" else 2)
    stopped = json.loads(say(tmp_path, "status", "--json").stdout)
    assert (stopped["effect"], stopped["nonce"]) == (effect, effect[:16])
    assert stopped["since"] is not None

    with running(tmp_path) as service:
        assert any("in doubt since" in line and effect in line for line in service.said), "before it has looked"
        status = {}
        for _ in range(TRIES):
            status = json.loads(say(tmp_path, "status", "--json").stdout)
            if known and not status["doubts"]:
                break
            if not known and b"effect_stays_in_doubt" in seen(service):
                break
        assert status["balance"] == balance, "the bank's own money outlived the process"
        assert [each["effect"] for each in status["doubts"]] == ([] if known else [effect])
        spent = {each["meter"]: each["used"] for each in status["gateway"]["budgets"]}
        assert (spent["linden"], spent["calls.money"]) == (5, 1), "nothing is given back"
        rows = [
            json.loads(line)["record"] for line in say(tmp_path, "audit", "--since", "1h", "--json").stdout.splitlines()
        ]
        paid = [(row["code"], row["settled_by"], row["proof"]) for row in rows if row["effect"] == effect]
        ends = [] if proof is None else [(code, "reconciliation", proof)]
        assert paid == [("authorized", None, ""), ("in_doubt", None, ""), *ends]
        assert say(tmp_path, "settle", effect, "happened").returncode == (5 if known else 0)
        assert len(book.read_bytes().splitlines()) == (1 if fault == "request_lost" else 2), "nothing was sent again"


def seen(service: Service) -> bytes:
    """Return what the service has printed and nobody has read yet, without waiting for more."""
    assert service.process.stdout is not None
    descriptor = service.process.stdout.fileno()
    os.set_blocking(descriptor, False)
    try:
        return os.read(descriptor, 65_536)
    except BlockingIOError:
        return b""
