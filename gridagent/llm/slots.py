"""Places for requests to a model: so many at one time, the others first come, first served.

Owns the count, the queue and its bound. One request on the wire holds one slot; a pause before a retry holds
none. All avatars of a service share one `Slots`.

Invariant: never more than ``limit`` are held, no waiter is overtaken, and a cancelled waiter holds nothing
(Spec: BND-10, SUP-11).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec
import trio

from gridagent.language import FailureKind, LlmFailure
from gridagent.limits import LLM_REQUESTS_MAX

__all__ = ("SlotStatistics", "Slots")

WAITING_MAX: Final = 4_096
"""Requests that wait at one time; one more fails at once."""


class SlotStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The slots at one moment."""

    limit: int
    used: int
    waiting: int
    peak_used: int
    peak_waiting: int
    refused: int
    """Requests that found the queue full."""


class Slots:
    """The places.

    Args:
        limit: how many, from 1 to `LLM_REQUESTS_MAX`.

    Raises:
        ValueError: ``limit`` is out of its range.
    """

    __slots__ = ("_limit", "_peak_used", "_peak_waiting", "_places", "_refused", "_used")

    def __init__(self, limit: int) -> None:
        if not 1 <= limit <= LLM_REQUESTS_MAX:
            raise ValueError(f"there are from 1 to {LLM_REQUESTS_MAX} slots, not {limit}")
        self._limit = limit
        self._places = trio.Semaphore(limit, max_value=limit)
        self._used = 0
        self._peak_used = 0
        self._peak_waiting = 0
        self._refused = 0

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold a slot for a block.

        Raises:
            LlmFailure: the queue is full.

        Bounds: waits for one of ``limit`` slots; at most `WAITING_MAX` wait.

        Cancellation: safe while waiting; the slot is given back however the block ends.
        """
        await self.acquire()
        try:
            yield
        finally:
            self.release()

    async def acquire(self) -> None:
        """Take a slot; see `hold`. Whoever acquires releases."""
        waiting = self._places.statistics().tasks_waiting
        if waiting >= WAITING_MAX:
            self._refused += 1
            raise LlmFailure(FailureKind.OVERLOADED)
        if self._places.value == 0:
            self._peak_waiting = max(self._peak_waiting, waiting + 1)
        await self._places.acquire()
        self._used += 1
        self._peak_used = max(self._peak_used, self._used)

    def release(self) -> None:
        """Give a slot back; the first that waits has it at once."""
        self._used -= 1
        self._places.release()

    def statistics(self) -> SlotStatistics:
        """Return the counts."""
        return SlotStatistics(
            limit=self._limit,
            used=self._used,
            waiting=self._places.statistics().tasks_waiting,
            peak_used=self._peak_used,
            peak_waiting=self._peak_waiting,
            refused=self._refused,
        )
