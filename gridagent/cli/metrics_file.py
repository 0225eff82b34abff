"""``gridagent run --metrics FILE``: what a running service counts, in a file that a collector of metrics reads.

Owns where the file may be, when it is written, and that nobody ever reads half of one: each is written beside it and
put in its place whole. The numbers are `gridagent.service.metering`'s. Called by `gridagent.cli.run`.

Invariant: watching causes nothing; what cannot be written is said in the log once and changes nothing (Spec: OPS-2,
MND-18).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import trio

from gridagent.config.files import absolute_path
from gridagent.errors import OperatorError, OutcomeUnknown
from gridagent.observations import Observation
from gridagent.runtime.broadcast import Subscription
from gridagent.runtime.ports import Blocking
from gridagent.service.api import SessionHandle

__all__ = ("PERIOD_S", "Watched", "keep_metrics", "metrics_place", "watched_for_metrics")

Watched: TypeAlias = Sequence[tuple[SessionHandle, Subscription[Observation]]]
"""Avatars, and what is still to be counted of each."""

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


@contextmanager
def watched_for_metrics(handles: Sequence[SessionHandle]) -> Iterator[Watched]:
    """Subscribe to every avatar from now on: what is said before anybody counts is counted later."""
    with ExitStack() as stack:
        yield tuple((handle, stack.enter_context(handle.observe("metrics"))) for handle in handles)


async def keep_metrics(
    place: Path, watched: Watched, *, blocking: Blocking, log_error: Callable[[str, BaseException], None]
) -> None:
    """Count what every avatar says, and write it down again and again, until cancelled; then once more.

    Args:
        place: the file.
        watched: from `watched_for_metrics`.
        blocking: where the file is written.
        log_error: told of a file that cannot be written, until it can be again.

    Cancellation: safe; counting what was still said, and the last writing, may take `LAST_S`.
    """
    from gridagent.service.metering import Meter, meter_all, read_queues  # noqa: PLC0415 - only who asks pays for it

    meter, told = Meter(), False

    async def write() -> None:
        nonlocal told
        for handle, _ in watched:
            read_queues(meter, handle)
        try:
            await blocking.run(_replace, place, meter.exposition(), name="metrics")
            told = False
        except (OSError, OutcomeUnknown) as error:
            if not told:
                log_error("metrics_unwritten", error)
            told = True

    def count(counting: trio.Nursery) -> None:
        for handle, seen in watched:
            counting.start_soon(meter_all, meter, handle.key, seen)

    try:
        async with trio.open_nursery() as counting:
            count(counting)
            while True:
                await write()
                await trio.sleep(PERIOD_S)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_S):
            with trio.move_on_after(LAST_S / 2):
                async with trio.open_nursery() as counting:
                    count(counting)
            await write()


def _replace(place: Path, text: str) -> None:
    """Write a file beside the place and put it there; whoever reads has the old one or the new."""
    beside = place.with_name(f".{place.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(place)
