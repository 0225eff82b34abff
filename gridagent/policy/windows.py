"""The clock budgets are read by, and the ring of buckets that counts over a sliding window.

Owns both mechanisms and no policy; `gridagent.policy.budgets` uses them. Everything is in whole
microseconds, so no rounding can lose a charge. Its invariants: the clock never goes back and never
faster than the slower of the two clocks it is fed with; a window never counts short what was added
within it, and keeps at most one bucket too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gridagent.policy.decisions import Instant

__all__ = ("BUCKETS", "MICROSECONDS", "BudgetClock", "Window")

MICROSECONDS: Final = 1_000_000
BUCKETS: Final = 16
"""Buckets a window is cut into: it may count too much for a sixteenth of its length."""


class BudgetClock:
    """Microseconds that only go forward (Spec: POL-6, Fault: 30).

    While running it advances by the lesser of wall and monotonic progress, so that neither a wall clock
    that jumps ahead nor one that goes back reopens a window. Across a restart there is no common
    monotonic clock: it advances by what the wall clock is above the highest value ever seen.
    """

    __slots__ = ("_last", "at_us", "wall_high_us")

    def __init__(self, *, at_us: int = 0, wall_high_us: int = 0) -> None:
        self.at_us = at_us
        self.wall_high_us = wall_high_us
        self._last: tuple[int, int] | None = None

    def advance(self, now: Instant) -> int:
        """Take both clocks in and return the budget clock, in microseconds."""
        wall_us = int(now.wall * MICROSECONDS)
        monotonic_us = int(now.monotonic * MICROSECONDS)
        if self._last is None:
            progress = wall_us - self.wall_high_us
        else:
            progress = min(wall_us - self._last[0], monotonic_us - self._last[1])
        self._last = (wall_us, monotonic_us)
        self.wall_high_us = max(self.wall_high_us, wall_us)
        if progress > 0:
            self.at_us += progress
        return self.at_us


class Window:
    """A count over the last ``window_s`` seconds.

    Bounds: `BUCKETS` + 1 integers, made with the first use: an idle avatar holds none.
    """

    __slots__ = ("_counts", "_head", "_total", "_width")

    def __init__(self, window_s: int) -> None:
        self._width = -(-window_s * MICROSECONDS // BUCKETS)
        self._counts: list[int] = []
        self._head = 0
        self._total = 0

    def used(self, at: int) -> int:
        """Return what was added within the window that ends now.

        Args:
            at: budget clock in microseconds; never less than in an earlier call.
        """
        bucket = at // self._width
        if bucket != self._head:
            if self._total:
                self._roll(bucket)
            self._head = bucket
        return self._total

    def add(self, amount: int) -> None:
        """Count ``amount`` at the moment `used` was last asked for."""
        if not self._total:
            self._counts = [0] * (BUCKETS + 1)
        self._counts[self._head % (BUCKETS + 1)] += amount
        self._total += amount

    def _roll(self, bucket: int) -> None:
        if bucket - self._head > BUCKETS:
            self._total = 0
            return
        for passed in range(self._head + 1, bucket + 1):
            slot = passed % (BUCKETS + 1)
            self._total -= self._counts[slot]
            self._counts[slot] = 0

    def buckets(self) -> Iterator[tuple[int, int]]:
        """Yield the last microsecond of each bucket in use, oldest first, and what is in it."""
        for bucket in range(max(0, self._head - BUCKETS), self._head + 1) if self._total else ():
            amount = self._counts[bucket % (BUCKETS + 1)]
            if amount:
                yield (bucket + 1) * self._width - 1, amount
