"""Claims about the runner of fresh processes; the real comparison is a volume test."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from gridagent.errors import InternalError
from gridagent.simulation import processes
from gridagent.simulation.processes import HASH_SEEDS, Job, Ran, commit, run_twice
from gridagent.simulation.trial import TrialResult

JOB = Job(scenario="quiet-room", seed=3, hours=0.1)


def answer(step_hash: str = "aa", cpu_s: float = 1.5) -> bytes:
    """Return what a process prints."""
    result = TrialResult(
        seed=3, hours=0.1, steps=9, step_hash=step_hash, violations=(), sometimes={}, checked=1, lives=1
    )
    return b"some words first\n" + msgspec.json.encode(Ran(result=result, cpu_s=cpu_s)) + b"\n"


class Child:
    """Stands for an interpreter."""

    started: list[dict]
    says: list[bytes]
    late = False

    def __init__(self, command, **options) -> None:
        self.returncode = 0
        self.killed = False
        Child.started.append({"command": command, **options})
        self._out = Child.says.pop(0)

    def communicate(self, timeout=None):
        if timeout is not None and Child.late:
            raise subprocess.TimeoutExpired("python", timeout)
        return self._out, b"it broke"

    def kill(self) -> None:
        self.killed = True


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch):
    """Let processes be stand-ins."""
    monkeypatch.setattr(Child, "started", [], raising=False)
    monkeypatch.setattr(Child, "says", [answer(), answer()], raising=False)
    monkeypatch.setattr(Child, "late", False)
    monkeypatch.setattr(processes.subprocess, "Popen", Child)
    return Child


def test_two_interpreters_with_different_hash_seeds_are_compared(children) -> None:
    """Our own interpreter and module, the job as JSON. Spec: SIM-2, OPS-5."""
    verified = run_twice(JOB)
    assert (verified.same, verified.cpu_s, verified.result.step_hash) == (True, 1.5, "aa")
    assert [each["env"]["PYTHONHASHSEED"] for each in children.started] == list(HASH_SEEDS)
    for each in children.started:
        assert each["command"][:3] == [sys.executable, "-m", "gridagent.simulation"]
        assert msgspec.json.decode(each["command"][3], type=Job) == JOB


def test_different_steps_are_noticed(children) -> None:
    """The CPU time may differ, what happened may not."""
    children.says[:] = [answer("aa", 1.0), answer("ab", 1.0)]
    assert not run_twice(JOB).same
    children.says[:] = [answer("aa", 1.0), answer("aa", 2.0)]
    assert run_twice(JOB).same


@pytest.mark.parametrize("said", [b"", b"Traceback\n"])
def test_a_process_without_an_answer_is_a_bug(children, said: bytes) -> None:
    """What it said on standard error is shown."""
    children.says[:] = [answer(), said]
    with pytest.raises(InternalError, match=r"seed 3.*it broke"):
        run_twice(JOB)


def test_a_process_that_takes_too_long_is_killed(children) -> None:
    """A minute a simulated hour, and ten more."""
    children.late = True
    with pytest.raises(InternalError, match="longer than 606 s"):
        run_twice(JOB)


def test_the_commit_is_named_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """From git; empty without git or outside a repository."""
    commit.cache_clear()

    def done(command, **options):
        assert command[0] == "git"
        return subprocess.CompletedProcess(command, 0, stdout=b"abc1234\n")

    monkeypatch.setattr(processes.subprocess, "run", done)
    assert commit() == "abc1234"
    commit.cache_clear()

    def missing(command, **options):
        raise FileNotFoundError

    monkeypatch.setattr(processes.subprocess, "run", missing)
    assert commit() == ""
    commit.cache_clear()
