"""``python -m benchmarks.soak [--days D]``: a service lives in the plaza of eight for days; does its memory grow?

Everything is as `gridagent run` has it (the built-in model thinks, conversations and effects go to a database on a real
disk), but the clock is virtual. One JSON line a simulated day: resident MiB, what was thought and said that day, and
the size of the database. Last the slope of resident memory after the first days, by Theil and Sen (the median of the
slopes of all pairs, which one odd day does not move), in MiB a day. The exit code is 1 where that reaches `SLOPE_MAX`.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

import trio
import trio.testing

from gridagent.cli.compose import open_running, prepare
from gridagent.cli.keeping import open_kept
from gridagent.config.model import Config
from gridagent.runtime.deterministic import simulated_ports

DAY_S: Final = 86_400.0
WARM_DAYS: Final = 3
"""In which tables fill to their bounds."""
SLOPE_MAX: Final = 1.0
"""MiB a day."""


def resident_mib() -> float:
    """Resident memory of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def size_mib(folder: Path) -> float:
    """Size of all files in a folder."""
    return round(sum(each.stat().st_size for each in folder.iterdir()) / 2**20, 1)


def slope(found: list[float]) -> float:
    """Growth a day: the median over all pairs of days."""
    rises = [(later - early) / (j - i) for (i, early), (j, later) in itertools.combinations(enumerate(found), 2)]
    return statistics.median(rises) if rises else 0.0


async def live(days: int, folder: Path) -> list[float]:
    """Live and measure."""
    ports = simulated_ports(1)
    prepared = prepare(Config(), scenario="plaza-8", demonstrate=True)
    found = []
    database = folder / "gridagent.db"
    async with (
        open_kept(
            database,
            ports=ports,
            pid=1,
            since="the beginning",
            report=lambda code, error: print(code, repr(error), file=sys.stderr),
            keep=prepared.config.storage,
        ) as archive,
        open_running(prepared, ports=ports, store=archive.store if archive is not None else None) as running,
        trio.open_nursery() as nursery,
    ):
        seen: Counter[str] = Counter()

        async def count() -> None:
            with running.service.avatar().observe("soak") as subscription:
                while True:
                    for item in await subscription.receive_batch():
                        seen[type(getattr(item, "body", item)).__name__] += 1

        nursery.start_soon(count)
        for day in range(1, days + 1):
            began = time.perf_counter()
            await trio.sleep(DAY_S)
            found.append(resident_mib())
            print(
                json.dumps(
                    {
                        "day": day,
                        "resident_mib": round(found[-1], 2),
                        "turns": seen["TurnEnded"],
                        "actions": seen["ActionSettled"],
                        "events": seen["EventSeen"],
                        "lagged": seen["Lagged"],
                        "database_mib": size_mib(folder),
                        "seconds": round(time.perf_counter() - began, 1),
                    }
                ),
                flush=True,
            )
            seen.clear()
        nursery.cancel_scope.cancel()
    return found


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--days", type=int, default=30)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as folder:
        found = trio.run(live, days, Path(folder), clock=trio.testing.MockClock(autojump_threshold=0))
    grows = slope(found[min(WARM_DAYS, len(found) - 1) :])
    print(json.dumps({"slope_mib_a_day": round(grows, 3), "goal": SLOPE_MAX, "days": days}))
    return 1 if grows >= SLOPE_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
