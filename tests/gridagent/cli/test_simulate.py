"""The hand-over to the simulation."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seeds", "0"), "--seeds is at least 1"),
        (("--hours", "0"), "--hours is above 0"),
        (("--hours", "nan"), "--hours is above 0"),
        (("--hours", "inf"), "--hours is above 0"),
        (("--hours", "1e9"), "--hours is above 0"),
    ],
)
def test_no_seed_or_no_time_is_a_usage_error(gridagent, words, sentence) -> None:
    """What cannot be simulated is refused before anything is loaded. Spec: OPS-1."""
    done = gridagent("simulate", *words)
    assert done.code == 2
    assert sentence in done.err


@pytest.mark.slow
def test_the_simulation_takes_over(gridagent) -> None:
    """The last line of --json holds the verdict. Spec: SIM-3."""
    done = gridagent("simulate", "--scenario", "quiet-room", "--seeds", "1", "--hours", "0.02", "--json")
    assert done.code == 0
    last = json.loads(done.out.splitlines()[-1])
    assert {"seeds", "hours", "violations", "deterministic", "hours_per_second", "sometimes"} <= set(last)
    assert last["violations"] == 0


def test_a_scenario_that_does_not_exist_is_named(gridagent) -> None:
    """The shipped ones are listed, with the code for what cannot be used. Spec: OPS-1."""
    done = gridagent("simulate", "--scenario", "atlantis", "--hours", "0.01")
    assert done.code == 3
    assert "plaza" in done.err
