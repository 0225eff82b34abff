"""``python -m benchmarks [NAME …] [--json | --check | --update]``: run the benchmarks, hold or keep their ratios.

A figure that got worse is measured twice more before it counts, since a busy machine can only make it worse; for
the same reason the baseline keeps the middle one of three runs.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks import Figure, Kept, complaint, kept

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "baseline.json"
TRIES = 3


def subjects() -> list[str]:
    """Name every benchmark module, without its prefix."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def measure(subject: str) -> Iterator[dict[str, object]]:
    """Run one benchmark and yield its figures as they come."""
    gc.collect()
    yield from importlib.import_module(f"benchmarks.bench_{subject}").figures()


def read(subject: str) -> dict[str, Figure]:
    """Run one benchmark and return its figures by name."""
    return {figure.name: figure for figure in msgspec.convert(list(measure(subject)), list[Figure])}


def _ratio(figure: Figure) -> float:
    return 0.0 if figure.ratio is None else figure.ratio


def show(figure: dict[str, object], *, as_json: bool) -> None:
    """Print one figure."""
    if as_json:
        print(json.dumps(figure, ensure_ascii=False), flush=True)
        return
    seen = msgspec.convert(figure, Figure)
    against = "" if seen.ratio is None else f"  {seen.ratio:.3g} of {seen.of}"
    goal = "" if seen.goal is None else f"  (goal {seen.goal if isinstance(seen.goal, str) else f'{seen.goal:g}'})"
    note = f"  {seen.note}" if seen.note else ""
    print(f"{seen.name:<44} {seen.value:>14,.4g} {seen.unit:<12}{against}{goal}{note}", flush=True)


def read_baseline() -> dict[str, dict[str, Kept]]:
    """Return the committed ratios by subject and figure."""
    if not BASELINE.is_file():
        return {}
    return msgspec.json.decode(BASELINE.read_bytes(), type=dict[str, dict[str, Kept]])


def check(chosen: list[str]) -> list[str]:
    """Return a sentence for each ratio that got worse, is missing or is new."""
    baseline = read_baseline()
    complaints = [
        f"{name}: in the baseline, but there is no such benchmark" for name in baseline if name not in subjects()
    ]
    for subject in chosen:
        before = baseline.get(subject, {})
        good: set[str] = set()
        for attempt in range(1, TRIES + 1):
            now = read(subject)
            said = {name: complaint(before.get(name), now.get(name), name) for name in before | now}
            good |= {name for name, what in said.items() if not what}
            found = [what for name, what in said.items() if name not in good]
            print(f"{subject}: {'; '.join(found) or 'as good as committed'} (try {attempt})", flush=True)
            if not found:
                break
        complaints += found
    return complaints


def update(chosen: list[str]) -> None:
    """Write the ratios of the chosen benchmarks into the baseline: the middle one of three runs."""
    baseline = {name: rows for name, rows in read_baseline().items() if name in subjects()}
    for subject in chosen:
        runs = [read(subject) for _ in range(TRIES)]
        middle = (sorted((run[name] for run in runs), key=_ratio)[TRIES // 2] for name in runs[0])
        baseline[subject] = {figure.name: row for figure in middle if (row := kept(figure)) is not None}
    text = msgspec.json.format(msgspec.json.encode(baseline, order="sorted"), indent=2)
    BASELINE.write_bytes(text + b"\n")


def main(arguments: list[str]) -> int:
    """Run what was asked; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(subjects()) or 'none yet'}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON line a figure")
    how.add_argument("--check", action="store_true", help="fail when a committed ratio got more than 25 %% worse")
    how.add_argument("--update", action="store_true", help="commit the ratios of this run to baseline.json")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in subjects()]
    if unknown:
        parser.error(f"no benchmark called {unknown[0]!r}; there are: {', '.join(subjects())}")
    chosen = asked.names or subjects()
    if asked.check:
        complaints = check(chosen)
        for said in complaints:
            print(said, file=sys.stderr)
        return 1 if complaints else 0
    if asked.update:
        update(chosen)
        return 0
    for subject in chosen:
        for figure in measure(subject):
            show(figure, as_json=asked.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
