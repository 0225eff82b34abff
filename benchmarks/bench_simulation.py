"""Simulated hours a second of one core: the whole service in the busiest scenario, under faults and judged.

Beside it the same scheduler with nothing to do but sleep, which is what the ratio is to: a simulation cannot
be faster than its steps. Budget: at least 1.0 simulated hour a second without crashes. With them every row goes to a
real database on a simulated disk, and that disk is examined after each end; this is shown beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import trio

from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.runtime.deterministic import run_deterministic
from gridagent.simulation.trial import TrialResult, run_trial

SCENARIO = "plaza-8"
SEEDS = range(6)
HOURS = 1.0
SLEEPS = 20_000


async def sleeper() -> None:
    """Take as many steps as there are sleeps."""
    for _ in range(SLEEPS):
        await trio.sleep(1.0)


def bare_steps() -> float:
    """Return the steps a second of processor time that a seeded loop takes when each is a sleep."""
    took, steps = [], 0
    for _ in range(3):
        began = time.process_time()
        steps = run_deterministic(sleeper, seed=0).steps
        took.append(time.process_time() - began)
    return steps / min(took)


def timed(scenario: Scenario, *, crashes: bool) -> tuple[list[TrialResult], float]:
    """Run the seeds; return what they came to, and their processor time in seconds."""
    began = time.process_time()
    results = [run_trial(scenario, seed, HOURS, crashes=crashes) for seed in SEEDS]
    took = time.process_time() - began
    assert not any(result.violations for result in results)
    return results, took


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    bare = bare_steps()
    scenario = load_shipped(SCENARIO)
    run_trial(scenario, 0, 0.1)  # what is made on first use
    results, took = timed(scenario, crashes=False)
    crashed, longer = timed(scenario, crashes=True)
    steps = sum(result.steps for result in results)
    yield {
        "name": f"simulation: {SCENARIO} under faults",
        "value": HOURS * len(results) / took,
        "unit": "h/s",
        "goal": 1.0,
        "note": "simulated hours a second of one core; seeds differ by a factor of two",
    }
    yield {
        "name": f"simulation: {SCENARIO} under faults and crashes",
        "value": HOURS * len(crashed) / longer,
        "unit": "h/s",
        "note": f"{sum(result.lives for result in crashed)} starts in {HOURS * len(crashed):g} hours",
    }
    yield {
        "name": "simulation: steps",
        "value": steps / took,
        "unit": "steps/s",
        "ratio": steps / took / bare,
        "of": "a seeded loop that only sleeps",
    }
    yield {"name": "simulation: a seeded loop that only sleeps", "value": bare, "unit": "steps/s"}
    yield {
        "name": "simulation: facts judged",
        "value": sum(result.checked for result in results) / took,
        "unit": "facts/s",
    }


if __name__ == "__main__":
    for figure in figures():
        print(figure)
