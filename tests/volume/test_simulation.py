"""Claims about the whole service under faults, judged by the oracle: about a minute in all."""

from __future__ import annotations

import io
import json

import pytest

from gridagent.simulation.command import run

pytestmark = [pytest.mark.volume, pytest.mark.timeout(600)]

SEEDS = 12


def report(**asked: object) -> tuple[int, dict, list[dict]]:
    """Run the command with ``--json`` and return its exit code, its last line, and a line a seed."""
    out, err = io.StringIO(), io.StringIO()
    code = run(scenario="plaza-8", json=True, out=out, err=err, **asked)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return code, lines[-1], lines[:-1]


def test_twelve_stormy_hours_break_no_invariant_and_meet_every_fault() -> None:
    """No violation, and nothing that the simulation promises to try stayed untried: crashes and power cuts, too.

    Takes about 20 s of one core. Spec: SIM-3, SIM-4, SUP-3, SUP-5, SUP-9, POL-2, POL-6, POL-7, EFX-1, EFX-2, BND-1,
    BND-2, BND-3. Fault: 26, 27, 28, 29, 38
    """
    code, total, seeds = report(seeds=SEEDS, hours=1.0, strict=True)
    assert [seed["violations"] for seed in seeds] == [[]] * SEEDS
    assert total["never"] == []
    assert (code, total["seeds"], total["violations"]) == (0, SEEDS, 0)
    assert total["checked"] > 1_000 * SEEDS


def test_two_processes_take_the_same_steps() -> None:
    """The same seed in two interpreters with different hash seeds: bit-identical. Takes about 3 s. Spec: SIM-2."""
    code, total, seeds = report(seeds=1, hours=1.0, first_seed=14, verify=True)
    assert total["deterministic"] is True
    assert seeds[0]["deterministic"] is True
    assert len(seeds[0]["step_hash"]) == 32
    assert code == 0


@pytest.mark.parametrize("scenario", ["market", "plaza", "quiet-room", "rough-night", "two-regions"])
def test_every_shipped_scenario_is_a_stage(scenario: str) -> None:
    """Half an hour in each of the other worlds breaks nothing. Takes about 0.5 s each. Spec: SIM-1, SIM-3."""
    out, err = io.StringIO(), io.StringIO()
    assert run(scenario=scenario, seeds=2, hours=0.5, out=out, err=err) == 0
    assert "0 violations" in out.getvalue()
