"""Each seed in two fresh processes: the one module of the packages that starts any (Spec: OPS-5, SIM-2).

Owns the runner behind ``simulate --verify``: two interpreters with different hash seeds run one seed side by
side, and their step hashes are compared. What they run is `gridagent.simulation.__main__` and nothing else;
no text from outside becomes part of a command. Also asks git, where there is one, which commit this is.

Bounds: two processes at a time, each killed when it takes longer than a minute a simulated hour and ten more.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

import gridagent
from gridagent.errors import InternalError
from gridagent.simulation.trial import TrialResult

__all__ = ("HASH_SEEDS", "Job", "Ran", "Verified", "commit", "run_twice")

HASH_SEEDS: Final = ("1", "4294967295")
"""Any two that differ."""
_SECONDS_AN_HOUR: Final = 60.0
_SECONDS_MORE: Final = 600.0
_GIT_WITHIN_S: Final = 5.0
_SHOWN_MAX: Final = 2_000
_ROOT: Final = Path(gridagent.__file__).resolve().parent.parent


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to run."""

    scenario: str
    """A shipped scenario's name or a file's path."""
    seed: int
    hours: float
    crashes: bool = True


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What a process answers, as JSON on its last line."""

    result: TrialResult
    cpu_s: float


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """One seed, run twice."""

    result: TrialResult
    """Of the first process."""
    same: bool
    """Both took the same steps and came to the same end."""
    cpu_s: float
    """Of the first process."""


def run_twice(job: Job) -> Verified:
    """Run one seed in two fresh processes and compare them.

    Raises:
        InternalError: a process ended without an answer.
    """
    children = [_start(job, hash_seed) for hash_seed in HASH_SEEDS]
    try:
        first, second = (_answer(child, job) for child in children)
    finally:
        for child in children:
            child.kill()  # does nothing to one that has ended
            child.communicate()
    return Verified(result=first.result, same=first.result == second.result, cpu_s=first.cpu_s)


def _start(job: Job, hash_seed: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(  # noqa: S603 - our own interpreter, our own module, arguments as JSON
        [sys.executable, "-m", "gridagent.simulation", msgspec.json.encode(job).decode()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
    )


def _answer(child: subprocess.Popen[bytes], job: Job) -> Ran:
    try:
        out, errors = child.communicate(timeout=job.hours * _SECONDS_AN_HOUR + _SECONDS_MORE)
    except subprocess.TimeoutExpired as error:
        raise InternalError(f"seed {job.seed}: a process took longer than {error.timeout:g} s") from error
    try:
        return msgspec.json.decode(out.splitlines()[-1], type=Ran)
    except (IndexError, msgspec.MsgspecError) as error:
        said = errors.decode("utf-8", "replace")[-_SHOWN_MAX:].strip()
        raise InternalError(
            f"seed {job.seed}: a process ended with {child.returncode} and no answer; it said: {said}"
        ) from error


@lru_cache(maxsize=1)
def commit() -> str:
    """Return the commit this source was checked out at; empty outside a repository."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(_ROOT), "rev-parse", "--short", "HEAD"],  # noqa: S607 - whatever git the developer has
            capture_output=True,
            check=True,
            timeout=_GIT_WITHIN_S,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("ascii", "replace").strip()
