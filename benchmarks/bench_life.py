"""A whole service on a grid on the wire, as processes: coming back from a kill, draining, and standing idle.

The grid is the shipped simulator in a process of its own, so nothing of it is in the figures. A kill is SIGKILL while
the avatar is in the world; back is the moment at which the next run, begun at once, says that it is online, its ghost
thrown out included: the simulator throws it out at the first attempt, and what a real grid takes longer for that comes
on top. Draining is from SIGTERM to the end of the process, with no action pending. Idle is one avatar in an empty room,
and in the plaza of eight inhabitants who move and speak, some of it to the avatar: resident memory, and seconds of
processor time over seconds.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

KILLS: Final = 20
DRAINS: Final = 10
SETTLE_S: Final = 15.0
IDLE_S: Final = 45.0
LINE_S: Final = 60.0
BACK_GOAL_S: Final = 10.0
DRAIN_GOAL_S: Final = 5.0
MEMORY_GOAL_MIB: Final = 60.0
SHARE_GOAL: Final = 0.01


class Process:
    """A module of ours that prints JSON lines."""

    def __init__(self, *arguments: str, room: Path) -> None:
        environ = {**os.environ, "GRIDAGENT_PATHS__STATE_DIR": f"{room}/state"}
        environ |= {"GRIDAGENT_PATHS__RUNTIME_DIR": f"{room}/run", "GRIDAGENT_PATHS__LOG_FILE": f"{room}/log"}
        self.child = subprocess.Popen(  # noqa: S603 - a module of ours
            [sys.executable, "-m", *arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environ, cwd=room
        )

    def line(self, wanted: str) -> str:
        """Read on until a line holds the words."""
        until = time.monotonic() + LINE_S
        assert self.child.stdout is not None
        for raw in self.child.stdout:
            line = raw.decode()
            if wanted in line:
                return line
            assert time.monotonic() < until, f"no line with {wanted} in {LINE_S} s"
        raise AssertionError(f"it ended before it said {wanted}")

    def drop_output(self) -> None:
        """Let what it prints from now on be read by nobody, and not make it wait."""
        subprocess.Popen(["cat"], stdin=self.child.stdout, stdout=subprocess.DEVNULL)  # noqa: S607 - of the system

    def end(self, number: int) -> int:
        """Send a signal and wait for the end."""
        self.child.send_signal(number)
        return self.child.wait(LINE_S)

    @property
    def cpu_s(self) -> float:
        """Processor seconds so far."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_mib(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.child.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def a_grid(room: Path, scenario: str) -> Iterator[str]:
    """Serve a scenario; yields its login address."""
    serve = ("live_grid.simulator", "--scenario", scenario, "--port", "0", "--password", "simulated", "--json")
    grid = Process(*serve, room=room)
    try:
        yield json.loads(grid.line("login"))["login"]
    finally:
        grid.end(signal.SIGKILL)


def configured(room: Path, login_url: str) -> Path:
    """Write the configuration of one avatar, all else at its default."""
    secret, file = room / "password", room / "live.json"
    for path, text in (
        (secret, "simulated\n"),
        (
            file,
            json.dumps(
                {
                    "grid": {"backend": "live", "live": {"login_url": login_url}},
                    "avatars": {"robin": {"first_name": "Robin", "password_file": str(secret)}},
                }
            ),
        ),
    ):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    return file


def in_world(room: Path, config: Path) -> Process:
    """Start a service and wait until its avatar is in the world."""
    avatar = Process("gridagent", "run", "--config", str(config), "--json", "--for", "ever", room=room)
    avatar.line('"online"')
    return avatar


def back_from_kills(room: Path, config: Path) -> list[float]:
    """Kill and begin again; return the seconds until it was in the world."""
    found = []
    avatar = in_world(room, config)
    for _ in range(KILLS):
        avatar.end(signal.SIGKILL)
        began = time.perf_counter()
        avatar = in_world(room, config)
        found.append(time.perf_counter() - began)
    avatar.end(signal.SIGTERM)
    return found


def drains(room: Path, config: Path) -> list[float]:
    """Have it stop in order; return the seconds that took."""
    found = []
    for _ in range(DRAINS):
        avatar = in_world(room, config)
        began = time.perf_counter()
        assert avatar.end(signal.SIGTERM) == 0
        found.append(time.perf_counter() - began)
    return found


def idle(room: Path, config: Path) -> tuple[float, float]:
    """Let it stand; return its resident MiB at the end, and its share of a core."""
    avatar = in_world(room, config)
    avatar.drop_output()
    time.sleep(SETTLE_S)
    began, used = time.perf_counter(), avatar.cpu_s
    time.sleep(IDLE_S)
    share = (avatar.cpu_s - used) / (time.perf_counter() - began)
    resident = avatar.resident_mib
    avatar.end(signal.SIGTERM)
    return resident, share


def figures() -> Iterator[dict[str, object]]:
    """Measure."""
    for scenario in ("quiet-room", "plaza-8"):
        with tempfile.TemporaryDirectory() as folder, a_grid(Path(folder), scenario) as login_url:
            room = Path(folder)
            config = configured(room, login_url)
            resident, share = idle(room, config)
            yield {"name": f"life.resident.{scenario}", "value": resident, "unit": "MiB", "goal": MEMORY_GOAL_MIB}
            yield {"name": f"life.core.{scenario}", "value": share, "unit": "of a core", "goal": SHARE_GOAL}
            if scenario == "quiet-room":
                back = back_from_kills(room, config)
                note = f"median {statistics.median(back):.2f} s of {len(back)}"
                p95 = statistics.quantiles(back, n=20)[-1]
                yield {"name": "life.back.p95", "value": p95, "unit": "s", "goal": BACK_GOAL_S, "note": note}
                worst = max(drains(room, config))
                yield {"name": "life.drain.worst", "value": worst, "unit": "s", "goal": DRAIN_GOAL_S}
