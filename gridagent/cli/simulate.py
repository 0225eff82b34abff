"""``gridagent simulate``: hands over to the simulation, which judges the whole service under faults (Spec: SIM-3).

Owns the hand-over only; what is simulated and how it is judged is `gridagent.simulation`.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TextIO

from gridagent.cli.vocabulary import UsageProblem

__all__ = ("simulate_command",)

HOURS_MAX = 24 * 366


def simulate_command(given: Namespace, *, out: TextIO, err: TextIO) -> int:
    """Run the simulation and return its exit code.

    Raises:
        UsageProblem: no seed, or no time.
    """
    if given.seeds < 1:
        raise UsageProblem("simulate: --seeds is at least 1")
    if not 0.0 < given.hours <= HOURS_MAX:
        raise UsageProblem(f"simulate: --hours is above 0 and at most {HOURS_MAX}")
    from gridagent.simulation.command import run  # noqa: PLC0415 - the simulation is loaded on use

    return run(
        scenario=given.scenario,
        seeds=given.seeds,
        hours=given.hours,
        first_seed=given.first_seed,
        verify=given.verify,
        json=given.json,
        strict=given.strict,
        crashes=not given.no_crashes,
        out=out,
        err=err,
    )
