"""One meter for whoever shows a run's numbers: the file of ``run --metrics`` and the health endpoint.

Owns the subscriptions and the tasks that count, so that both show the same and nothing is counted twice. The numbers
are `gridagent.service.metering`'s, which is imported only where somebody asks for them.

Invariant: watching causes nothing (Spec: OPS-2, MND-18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import trio

from gridagent.observability.metrics import TextFormat
from gridagent.service.api import SessionHandle

if TYPE_CHECKING:
    from gridagent.service.metering import Meter

__all__ = ("LAST_S", "Counting")

LAST_S: Final = 1.0
"""Longest that counting what was still said may hold up the end of a run."""


class Counting:
    """Counts what avatars say, from when the block is entered; a context manager.

    Args:
        handles: the avatars.
    """

    def __init__(self, handles: Sequence[SessionHandle]) -> None:
        self._handles = tuple(handles)
        self._stack = ExitStack()
        self._read: Callable[[Meter], None] | None = None
        self._until = trio.Event()
        self.done = trio.Event()
        """Set when nothing is counted any more."""

    def __enter__(self) -> Self:
        # what is said before anybody counts is counted later
        self._watched = [(each, self._stack.enter_context(each.observe("metrics"))) for each in self._handles]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    @cached_property
    def meter(self) -> Meter:
        """What is counted so far."""
        from gridagent.service.metering import Meter  # noqa: PLC0415 - only who asks pays for it

        return Meter()

    def include(self, read: Callable[[Meter], None], *, until: trio.Event) -> None:
        """Take over numbers that nobody observes, whenever the numbers are shown.

        Args:
            read: takes them over.
            until: set when they change no more; the end of the counting waits for it, within `LAST_S`.
        """
        self._read, self._until = read, until

    async def run(self) -> None:
        """Count until cancelled; then what was still said.

        Cancellation: safe; the last of it may take `LAST_S`.
        """
        try:
            await self._count()
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_S):
                await self._count()
                if self._read is not None:
                    await self._until.wait()
            self.done.set()

    async def _count(self) -> None:
        from gridagent.service.metering import meter_all  # noqa: PLC0415 - as above

        async with trio.open_nursery(strict_exception_groups=True) as counting:
            for handle, seen in self._watched:
                counting.start_soon(meter_all, self.meter, handle.key, seen)

    def exposition(self, form: TextFormat = TextFormat.PROMETHEUS) -> str:
        """Return everything as text, and how the queues stand now."""
        from gridagent.service.metering import read_queues  # noqa: PLC0415 - as above

        for handle in self._handles:
            read_queues(self.meter, handle)
        if self._read is not None:
            self._read(self.meter)
        return self.meter.exposition(form)
