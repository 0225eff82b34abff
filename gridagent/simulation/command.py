"""``gridagent simulate``: seeds in, verdict out (Spec: SIM-3).

Owns the report: a line a seed, progress on standard error, and a summary last, for people or as JSON. Runs
seeds here, or each in two fresh processes when they are to be verified (`gridagent.simulation.processes`).
Called by the command line, which parses, and by the volume test.

Invariant: whatever fails is printed with the seed, the version and the command that shows it again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

import msgspec

from gridagent import __version__
from gridagent.config.files import absolute_path, read_file
from gridagent.grid.simulated.scenario import load_shipped, parse_scenario
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.limits import SCENARIO_FILE_MAX_BYTES
from gridagent.runtime.system import cpu_seconds
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.oracle import Violation
from gridagent.simulation.processes import Job, Verified, commit, run_twice
from gridagent.simulation.trial import TrialResult, run_trial

__all__ = ("DEFAULT", "Report", "SeedReport", "load_scenario", "run")

DEFAULT: Final = "plaza-8"
"""The busiest of the shipped scenarios."""
_LONG_HOURS: Final = 6.0
"""From here on a single seed reports how far it is."""
_TENTHS: Final = 10


class SeedReport(msgspec.Struct, frozen=True, kw_only=True):
    """One seed, as ``--json`` prints it."""

    seed: int
    hours: float
    steps: int
    step_hash: str
    deterministic: bool | None
    """Whether two processes took the same steps; null when nobody compared."""
    violations: tuple[Violation, ...]
    checked: int
    lives: int
    cpu_s: float
    """CPU seconds of one run."""
    hours_per_second: float
    steps_per_second: float
    sometimes: dict[str, int]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All seeds, as the last line of ``--json`` prints them."""

    scenario: str
    first_seed: int
    seeds: int
    hours: float
    """Simulated hours of each seed."""
    violations: int
    deterministic: bool | None
    hours_per_second: float
    """Simulated hours a second of one core."""
    steps_per_second: float
    steps: int
    checked: int
    sometimes: dict[str, int]
    never: tuple[str, ...]
    """Counters that stayed at zero."""
    version: str
    commit: str


def load_scenario(name: str | None) -> Scenario:
    """Load a shipped scenario by its name, or a file by its path.

    Raises:
        OperatorError: no shipped scenario is called that.
        ConfigError: the file cannot be used.
    """
    if name is None or not (name.endswith(".json") or "/" in name):
        return load_shipped(name or DEFAULT)
    path = absolute_path(name, base=Path.cwd(), environ={}) or Path(name)
    content = read_file(path, max_bytes=SCENARIO_FILE_MAX_BYTES, holds_secret=False, where="$")
    return parse_scenario(content.data, str(path))


def run(
    *,
    scenario: str | None = None,
    seeds: int = 1,
    hours: float = 1.0,
    first_seed: int = 0,
    verify: bool = False,
    json: bool = False,
    strict: bool = False,
    crashes: bool = True,
    out: TextIO,
    err: TextIO,
) -> int:
    """Simulate and report.

    Args:
        scenario: a shipped scenario's name or a file's path; None is the busiest shipped one.
        seeds: how many.
        hours: simulated hours for each.
        first_seed: number of the first.
        verify: run each in two fresh processes with different hash seeds, and compare their steps.
        json: print one JSON object a seed, and the summary as the last line.
        strict: a counter at zero is a failure.
        crashes: keep everything on a simulated disk, kill the process and cut the power; else nothing is kept.
        out: takes the report.
        err: takes progress.

    Returns:
        0, or 1 when an invariant broke, two processes differed, or a counter stayed at zero and strict.

    Raises:
        OperatorError, ConfigError: the scenario cannot be used.
    """
    story = load_scenario(scenario)
    said = _Said(json=json, crashes=crashes, out=out, err=err)
    sometimes = Sometimes(crashes=crashes)
    reports: list[SeedReport] = []
    for seed in range(first_seed, first_seed + seeds):
        if verify:
            verified = run_twice(Job(scenario=scenario or DEFAULT, seed=seed, hours=hours, crashes=crashes))
            report = _report(verified.result, verified.cpu_s, deterministic=verified.same)
        else:
            before = cpu_seconds()
            progress = _progress(seed, hours, err) if hours >= _LONG_HOURS else None
            result = run_trial(story, seed, hours, crashes=crashes, on_progress=progress)
            report = _report(result, cpu_seconds() - before, deterministic=None)
            verified = None
        sometimes.add(report.sometimes)
        reports.append(report)
        said.seed(report, verified, story.name)
    total = _total(reports, sometimes, story.name, first_seed, hours)
    said.total(total)
    failed = total.violations > 0 or total.deterministic is False or (strict and bool(total.never))
    return 1 if failed else 0


def _progress(seed: int, hours: float, err: TextIO) -> Callable[[float], None]:
    tenth = 0

    def tell(passed: float) -> None:
        nonlocal tenth
        now = int(passed / hours * _TENTHS + 1e-6)
        if now > tenth:
            tenth = now
            err.write(f"seed {seed}: {passed:.1f} of {hours:g} hours\n")
            err.flush()

    return tell


def _report(result: TrialResult, cpu_s: float, *, deterministic: bool | None) -> SeedReport:
    cpu_s = max(round(cpu_s, 3), 0.001)  # the clock's own grain
    return SeedReport(
        seed=result.seed,
        hours=result.hours,
        steps=result.steps,
        step_hash=result.step_hash,
        deterministic=deterministic,
        violations=result.violations,
        checked=result.checked,
        lives=result.lives,
        cpu_s=cpu_s,
        hours_per_second=round(result.hours / cpu_s, 3),
        steps_per_second=round(result.steps / cpu_s, 1),
        sometimes=result.sometimes,
    )


def _total(reports: list[SeedReport], sometimes: Sometimes, scenario: str, first_seed: int, hours: float) -> Report:
    cpu_s = sum(report.cpu_s for report in reports)
    steps = sum(report.steps for report in reports)
    compared = [report.deterministic for report in reports if report.deterministic is not None]
    return Report(
        scenario=scenario,
        first_seed=first_seed,
        seeds=len(reports),
        hours=hours,
        violations=sum(len(report.violations) for report in reports),
        deterministic=all(compared) if compared else None,
        hours_per_second=round(hours * len(reports) / cpu_s, 3),
        steps_per_second=round(steps / cpu_s, 1),
        steps=steps,
        checked=sum(report.checked for report in reports),
        sometimes=sometimes.snapshot(),
        never=sometimes.never(),
        version=__version__,
        commit=commit(),
    )


class _Said:
    """Puts reports into words."""

    def __init__(self, *, json: bool, crashes: bool, out: TextIO, err: TextIO) -> None:
        self._json = json
        self._more = "" if crashes else " --no-crashes"
        self._out = out
        self._err = err

    def seed(self, report: SeedReport, verified: Verified | None, scenario: str) -> None:
        """Say how one seed went."""
        if self._json:
            self._print(msgspec.json.encode(report).decode())
        broken = len(report.violations)
        verdict = f"{broken} violation{'' if broken == 1 else 's'}" if broken else "clean"
        if verified is not None:
            verdict += ", same steps twice" if verified.same else ", NOT the same steps in two processes"
        line = (
            f"seed {report.seed}: {verdict}; {report.checked} facts, {report.lives} starts, {report.steps} steps, "
            f"{report.hours_per_second:.2f} hours/s"
        )
        (self._progress if self._json else self._print)(line)
        if not self._json:
            for violation in report.violations:
                self._violation(violation)
        if broken or report.deterministic is False:
            again = f"gridagent simulate --scenario {scenario} --first-seed {report.seed} --hours {report.hours:g}"
            again += self._more
            self._progress(f"to see it again: {again} (version {__version__}, commit {commit() or 'unknown'})")

    def total(self, total: Report) -> None:
        """Say how all of them went."""
        if self._json:
            self._print(msgspec.json.encode(total).decode())
            return
        width = max(map(len, total.sometimes))
        self._print("what happened, how often:")
        for name, count in total.sometimes.items():
            self._print(f"  {name.replace('_', ' '):<{width}} {count}")
        if total.never:
            self._print(f"never happened: {', '.join(name.replace('_', ' ') for name in total.never)}")
        same = {True: "the same steps in two processes", False: "NOT deterministic", None: "not compared"}
        self._print(
            f"{total.scenario}: {total.seeds} seeds of {total.hours:g} hours, {total.violations} violations, "
            f"{same[total.deterministic]}, {total.hours_per_second:.2f} simulated hours and "
            f"{total.steps_per_second:,.0f} steps a second of one core"
        )

    def _violation(self, violation: Violation) -> None:
        self._print(f"  {violation.at_s:.3f} s {violation.avatar}: {violation.rule}: {violation.detail}")
        for line in violation.trace:
            self._print(f"      {line}")

    def _print(self, line: str) -> None:
        self._out.write(line + "\n")
        self._out.flush()

    def _progress(self, line: str) -> None:
        self._err.write(line + "\n")
        self._err.flush()
