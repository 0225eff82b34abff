"""``gridagent run --metrics FILE``: what a running service counts, in a file that a collector of metrics reads.

Owns where the file may be, when it is written, and that nobody ever reads half of one: each is written beside it and
put in its place whole. The numbers come from `gridagent.cli.counting`. Called by `gridagent.cli.run`.

Invariant: watching causes nothing; what cannot be written is said in the log once and changes nothing (Spec: OPS-2,
MND-18).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import trio

from gridagent.cli.counting import Counting
from gridagent.config.files import absolute_path
from gridagent.errors import OperatorError, OutcomeUnknown
from gridagent.runtime.ports import Blocking

__all__ = ("PERIOD_S", "keep_metrics", "metrics_place")

PERIOD_S: Final = 15.0
"""Seconds between two writings; a collector asks about as often."""
LAST_S: Final = 2.0
"""Longest that the last writing may hold up the end of a run."""


def metrics_place(text: str, environ: Mapping[str, str]) -> Path:
    """Return where the file is to be.

    Raises:
        OperatorError: there is no such directory, or something else than a file is there.
    """
    path = absolute_path(text, base=Path.cwd(), environ=environ) or Path(text)
    if not path.parent.is_dir():
        raise OperatorError(f"--metrics: {path.parent} is no directory; make it, or name a file in one that is there")
    if path.exists() and not path.is_file():
        raise OperatorError(f"--metrics: {path} is no file; name another one")
    return path


async def keep_metrics(
    place: Path, counting: Counting, *, blocking: Blocking, log_error: Callable[[str, BaseException], None]
) -> None:
    """Write down what is counted again and again, until cancelled; then once more.

    Args:
        place: the file.
        counting: counts meanwhile.
        blocking: where the file is written.
        log_error: told of a file that cannot be written, until it can be again.

    Cancellation: safe; waiting until all is counted, and the last writing, may take `LAST_S`.
    """
    told = False

    async def write() -> None:
        nonlocal told
        try:
            await blocking.run(_replace, place, counting.exposition(), name="metrics")
            told = False
        except (OSError, OutcomeUnknown) as error:
            if not told:
                log_error("metrics_unwritten", error)
            told = True

    try:
        while True:
            await write()
            await trio.sleep(PERIOD_S)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_S):
            await counting.done.wait()
            await write()


def _replace(place: Path, text: str) -> None:
    """Write a file beside the place and put it there; whoever reads has the old one or the new."""
    beside = place.with_name(f".{place.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(place)
