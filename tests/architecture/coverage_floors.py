"""``python -m tests.architecture.coverage_floors FILE``: hold branch coverage over its floors, room by room.

Run by `make test` on the report of the run it made. Pure rooms and protocol cores are covered whole; all
modules together reach 95 %. A module that falls short is named with the lines and branches that no test took.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ALL = 95.0
WHOLE = (
    *(f"gridagent/{name}.py" for name in ("errors", "ids", "limits", "state_table", "actions", "events")),
    *(f"gridagent/{name}.py" for name in ("authority", "controls", "observations", "mind", "language")),
    *(f"gridagent/{room}/" for room in ("policy", "tools", "turn", "conversation", "memory", "presence", "goals")),
    *(f"live_grid/{name}.py" for name in ("addresses", "errors", "limits", "state_table")),
    *(f"live_grid/{core}/" for core in ("packet", "circuit", "messages", "llsd", "login", "event_queue", "caps")),
    *("live_grid/handover/", "live_grid/world/"),
)


def shortfalls(report: dict) -> list[str]:
    """Say which floors are not held, from coverage's JSON report."""
    found = []
    for path, measured in sorted(report["files"].items()):
        summary = measured["summary"]
        if path.startswith(WHOLE) and (summary["missing_lines"] or summary.get("missing_branches")):
            lines = ", ".join(map(str, measured["missing_lines"]))
            branches = ", ".join(f"{start}->{end}" for start, end in measured.get("missing_branches", ()))
            missed = f"lines {lines or '-'}; branches {branches or '-'}"
            found.append(f"{path}: {summary['percent_covered']:.1f} %, wanted 100 %; {missed}")
    total = report["totals"]["percent_covered"]
    if total < ALL:
        found.append(f"all modules together: {total:.2f} %, wanted {ALL:g} %")
    if not report["files"]:
        found.append("nothing was measured")
    return found


def main(arguments: list[str]) -> int:
    """Print the shortfalls; return the exit code."""
    report = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    found = shortfalls(report)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"Coverage floors hold: {report['totals']['percent_covered']:.2f} % with branches.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
