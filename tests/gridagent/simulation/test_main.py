"""Claims about what a fresh process runs."""

from __future__ import annotations

import io

import msgspec
import pytest

from gridagent.simulation.__main__ import main
from gridagent.simulation.processes import Job, Ran


@pytest.mark.slow
def test_a_job_is_run_and_answered_as_json() -> None:
    """One argument in, one line out. Spec: SIM-2."""
    out = io.StringIO()
    job = Job(scenario="quiet-room", seed=2, hours=0.02)
    assert main([msgspec.json.encode(job).decode()], out) == 0
    ran = msgspec.json.decode(out.getvalue(), type=Ran)
    assert (ran.result.seed, ran.result.violations) == (2, ())
    assert ran.cpu_s > 0


def test_what_is_no_job_is_refused() -> None:
    """Nothing is run."""
    with pytest.raises(msgspec.MsgspecError):
        main(["{}"], io.StringIO())
