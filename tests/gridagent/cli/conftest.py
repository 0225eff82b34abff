"""The command line in this process, with streams in memory, an environment of its own and a clock that jumps."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
import trio.testing

from gridagent.cli.main import main
from gridagent.cli.run import Process
from gridagent.runtime.deterministic import SimulatedBlocking


@dataclass
class Outcome:
    """What a command line came to."""

    code: int
    out: str
    err: str


class Left(BaseException):
    """The run ended the process."""


def _leave(code: int) -> None:
    raise Left(code)


@dataclass
class CommandLine:
    """Performs command lines in one directory."""

    room: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, stdin: str | None = None, real_time: bool = False) -> Outcome:
        """Perform one, with its output in memory; time jumps unless it is to be real."""
        out, err = io.StringIO(), io.StringIO()
        clock = None if real_time else trio.testing.MockClock(autojump_threshold=0)
        blocking = None if real_time else SimulatedBlocking(Random(1))
        code = main(
            arguments,
            stdin=None if stdin is None else io.StringIO(stdin),
            stdout=out,
            stderr=err,
            environ=self.environ,
            process=Process(leave=_leave, clock=clock, blocking=blocking),
        )
        return Outcome(int(code), out.getvalue(), err.getvalue())

    def write(self, name: str, text: str) -> Path:
        """Put a private file into the directory."""
        path = self.room / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path


@pytest.fixture
def gridagent(tmp_path: Path) -> CommandLine:
    """The command ``gridagent`` with nothing of this machine's configuration."""
    paths = {"STATE_DIR": "state", "RUNTIME_DIR": "run", "LOG_FILE": "gridagent.log"}
    environ = {f"GRIDAGENT_PATHS__{name}": str(tmp_path / each) for name, each in paths.items()}
    # Nothing but memory is read and written, so time may jump: sockets would be outrun.
    return CommandLine(tmp_path, {**environ, "GRIDAGENT_CONTROL__ENABLED": "false"})
