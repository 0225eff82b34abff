"""Start-up: what operators and scripts feel, in CPU time, as a ratio to a bare interpreter measured beside it.

Budgets: ``gridagent --version`` at most 3 times ``python -c pass``; ``gridagent run`` at most 0.6 s of CPU until
the avatar is running (Spec: OPS-1). CPU is user and system time of the process as the kernel counts it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 7
OF = "python -c pass"
VERSION_GOAL = 3.0
RUNNING_GOAL_S = 0.6


def cpu_s(*arguments: str) -> float:
    """CPU seconds of one Python process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment())  # noqa: S603 - our own command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment(room: str = "") -> dict[str, str]:
    """The environment of a measured process: nothing of the developer's own configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRIDAGENT_")}
    paths = {"STATE_DIR": "state", "RUNTIME_DIR": "run", "LOG_FILE": "log"}
    inside = {f"GRIDAGENT_PATHS__{name}": str(Path(room) / each) for name, each in paths.items()} if room else {}
    return {**kept, **inside, "PYTHONPATH": str(ROOT)}


def cpu_until_running_s() -> float:
    """CPU seconds of ``gridagent run`` until it says that the avatar is running.

    Where the kernel does not tell a living process's time, that of an orderly end is counted too.
    """
    command = [sys.executable, "-m", "gridagent", "run", "--json", "--for", "30s"]
    with tempfile.TemporaryDirectory() as room:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(room), text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in process.stdout:
                body = json.loads(line)["body"]
                if body["kind"] == "agent_state" and body["state"] == "running":
                    break
            spent = _of_living(process.pid)
            process.stdin.write("quit\n")
            process.stdin.close()
            process.stdout.read()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return whole if spent is None else spent


def _of_living(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures() -> Iterator[dict[str, object]]:
    """Yield both figures; the shortest of several runs, since a busy machine only adds."""
    bare, version = [], []
    for _ in range(ROUNDS):
        bare.append(cpu_s("-c", "pass"))
        version.append(cpu_s("-m", "gridagent", "--version"))
    floor = min(bare)
    yield {
        "name": "startup.version",
        "value": min(version) * 1e3,
        "unit": "ms CPU",
        "ratio": statistics.median(version) / statistics.median(bare),
        "of": OF,
        "goal": f"at most {VERSION_GOAL:g} times {OF}",
    }
    running = min(cpu_until_running_s() for _ in range(ROUNDS))
    yield {
        "name": "startup.running",
        "value": running * 1e3,
        "unit": "ms CPU",
        "ratio": running / floor,
        "of": OF,
        "goal": f"at most {RUNNING_GOAL_S * 1e3:g} ms",
    }
