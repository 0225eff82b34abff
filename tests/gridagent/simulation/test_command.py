"""Claims about the report of ``gridagent simulate``."""

from __future__ import annotations

import io
import json

import pytest

from gridagent.errors import ConfigError, OperatorError
from gridagent.simulation import command
from gridagent.simulation.counters import NAMES, Sometimes
from gridagent.simulation.oracle import Violation
from gridagent.simulation.processes import Verified
from gridagent.simulation.trial import TrialResult

BREACH = Violation(seed=1, at_s=2.5, avatar="robin", rule="a rule", detail="so it was", trace=("1.0 before",))


def outcome(seed: int, hours: float, *, broken: bool = False, never: bool = False) -> TrialResult:
    """Return what a seed came to."""
    counts = dict.fromkeys(NAMES, 0 if never else 1)
    return TrialResult(
        seed=seed,
        hours=hours,
        steps=1000,
        step_hash="ab" * 16,
        violations=(BREACH,) if broken else (),
        sometimes=counts,
        checked=10,
        lives=2,
    )


def run(**asked: object) -> tuple[int, str, str]:
    """Run the command; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    code = command.run(out=out, err=err, **asked)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict:
    """Stand in for the runs, so that the report alone is tested."""
    how = {"broken": False, "never": False, "same": True}

    def trial(scenario, seed, hours, *, crashes=True, on_progress=None):
        for tenth in range(1, 11):
            if on_progress is not None:
                on_progress(hours * tenth / 10)
        return outcome(seed, hours, broken=how["broken"], never=how["never"])

    def twice(job):
        result = outcome(job.seed, job.hours, broken=how["broken"])
        return Verified(result=result, same=how["same"], cpu_s=2.0)

    monkeypatch.setattr(command, "run_trial", trial)
    monkeypatch.setattr(command, "run_twice", twice)
    return how


def test_json_is_a_line_a_seed_and_the_verdict_last(told: dict) -> None:
    """What scripts read; progress stays on standard error. Spec: SIM-3, OPS-1."""
    code, out, err = run(seeds=2, hours=1.0, first_seed=5, json=True)
    first, second, last = map(json.loads, out.splitlines())
    assert code == 0
    assert (first["seed"], second["seed"]) == (5, 6)
    assert {"seeds", "hours", "violations", "deterministic", "hours_per_second", "sometimes"} <= set(last)
    assert (last["seeds"], last["violations"], last["deterministic"], last["never"]) == (2, 0, None, [])
    assert last["sometimes"]["kicked"] == 2
    assert err.count("clean") == 2


def test_words_say_what_happened_and_what_never_did(told: dict) -> None:
    """A table for people; strict turns a counter at zero into a failure. Spec: SIM-3."""
    code, out, _ = run(seeds=1, hours=1.0, strict=True)
    assert code == 0
    assert "seed 0: clean" in out
    assert "flood shed" in out
    assert "1 seeds of 1 hours, 0 violations, not compared" in out
    told["never"] = True
    assert run(seeds=1, hours=1.0)[0] == 0
    code, out, _ = run(seeds=1, hours=1.0, strict=True)
    assert code == 1
    assert "never happened: stale generation fenced" in out


def test_a_violation_is_told_with_what_shows_it_again(told: dict) -> None:
    """Seed, version, commit and the command; exit code 1. Spec: SIM-3."""
    told["broken"] = True
    code, out, err = run(scenario="market", seeds=1, hours=0.5, first_seed=9)
    assert code == 1
    assert "seed 9: 1 violation;" in out
    assert "2.500 s robin: a rule: so it was" in out
    assert "1.0 before" in out
    assert "gridagent simulate --scenario market --first-seed 9 --hours 0.5 (version " in err


@pytest.mark.parametrize("same", [True, False])
def test_verified_seeds_say_whether_processes_agree(told: dict, *, same: bool) -> None:
    """Two that differ are a failure also when no rule broke. Spec: SIM-2."""
    told["same"] = same
    code, out, err = run(seeds=2, hours=1.0, verify=True)
    assert code == (0 if same else 1)
    assert ("same steps twice" in out) is same
    assert ("to see it again" in err) is not same
    assert ("the same steps in two processes" in out.splitlines()[-1]) is same
    last = json.loads(run(seeds=2, hours=1.0, verify=True, json=True)[1].splitlines()[-1])
    assert last["deterministic"] is same
    assert last["hours_per_second"] == 0.5


def test_long_seeds_report_how_far_they_are(told: dict) -> None:
    """Every tenth, on standard error. Spec: OPS-1."""
    _, _, err = run(seeds=1, hours=24.0)
    assert err.count("of 24 hours") == 10
    assert run(seeds=1, hours=1.0)[2] == ""


def test_scenarios_come_by_name_or_by_file(tmp_path) -> None:
    """Shipped ones by name, others by path, and what is neither is named. Spec: SIM-1."""
    assert command.load_scenario(None).name == "plaza-8"
    assert command.load_scenario("market").name == "market"
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps(
            {
                "name": "mine",
                "regions": [{"name": "R"}],
                "avatars": [{"name": "A B", "start": {"region": "R", "x": 1, "y": 1}}],
            }
        )
    )
    assert command.load_scenario(str(path)).name == "mine"
    with pytest.raises(OperatorError, match="no scenario named"):
        command.load_scenario("atlantis")
    with pytest.raises(ConfigError):
        command.load_scenario(str(tmp_path / "missing.json"))


@pytest.mark.slow
def test_a_real_seed_is_clean() -> None:
    """The command over the real thing. Spec: SIM-3."""
    code, out, _ = run(scenario="quiet-room", seeds=1, hours=0.05, json=True)
    assert code == 0
    assert json.loads(out.splitlines()[0])["steps"] > 100
    assert set(json.loads(out.splitlines()[-1])["sometimes"]) == set(Sometimes().snapshot())
