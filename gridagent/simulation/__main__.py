"""``python -m gridagent.simulation JOB``: run one seed and answer as JSON; what ``simulate --verify`` starts.

Owns the answer's form only; not a command for people (that is ``gridagent simulate``).
"""

from __future__ import annotations

import sys
from typing import TextIO

import msgspec

from gridagent.runtime.system import cpu_seconds
from gridagent.simulation.command import load_scenario
from gridagent.simulation.processes import Job, Ran
from gridagent.simulation.trial import run_trial

__all__ = ("main",)


def main(arguments: list[str], out: TextIO) -> int:
    """Run the job that the one argument describes in JSON, and print its result.

    Raises:
        msgspec.MsgspecError: the argument is no job.
        OperatorError, ConfigError: the scenario cannot be used.
    """
    job = msgspec.json.decode(arguments[0], type=Job)
    before = cpu_seconds()
    result = run_trial(load_scenario(job.scenario), job.seed, job.hours, crashes=job.crashes)
    out.write(msgspec.json.encode(Ran(result=result, cpu_s=cpu_seconds() - before)).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout))
