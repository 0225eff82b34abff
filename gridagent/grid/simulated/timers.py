"""A bounded heap of timers: everything that will happen later in the simulated world.

Owns order in time; knows no domain word and no clock: `now` is always an argument. Timers due at one
moment run in the order in which they were set, so that one seed gives one story (Spec: SIM-2). Used by
the world, its links and its characters. Invariant: at most `limit` live timers wait, and cancelled ones
never outnumber live ones by more than a small constant.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final, TypeAlias

from gridagent.errors import LimitExceeded

__all__ = ("TIMERS_MAX", "Timer", "Timers")

TIMERS_MAX: Final = 262_144
"""4,096 characters with 64 pending requests each."""
_EARLY_S: Final = 1e-9
"""A sleep may end this much early through rounding; a timer that near is due."""
_DEAD_MIN: Final = 64

Callback: TypeAlias = Callable[[], object]
"""What it returns is nobody's business."""


class Timer:
    """One thing to happen; `cancel` is idempotent and allowed after it happened."""

    __slots__ = ("_owner", "callback", "due")

    def __init__(self, owner: Timers, due: float, callback: Callback) -> None:
        self._owner = owner
        self.due = due
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        """Make it not happen."""
        if self.callback is not None:
            self.callback = None
            self._owner.forget_one()


class Timers:
    """Every timer of one world.

    Args:
        limit: most live timers.
    """

    __slots__ = ("_dead", "_heap", "_seq", "limit", "on_sooner")

    def __init__(self, limit: int = TIMERS_MAX) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._seq = 0
        self._dead = 0
        self.limit = limit
        self.on_sooner: Callback | None = None
        """Called when a timer is set that is due before all others; the shell wakes its pump."""

    def __len__(self) -> int:
        return len(self._heap) - self._dead

    def at(self, due: float, callback: Callback) -> Timer:
        """Set a timer, in seconds on the world's clock.

        Raises:
            LimitExceeded: too many timers wait already.
        """
        if len(self) >= self.limit:
            raise LimitExceeded("timers of the simulated world", allowed=self.limit)
        timer = Timer(self, due, callback)
        sooner = not self._heap or due < self._heap[0][0]
        self._seq += 1
        heapq.heappush(self._heap, (due, self._seq, timer))
        if sooner and self.on_sooner is not None:
            self.on_sooner()
        return timer

    def next_due(self) -> float | None:
        """Return when the next timer is due, or None when none waits."""
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heapq.heappop(heap)
            self._dead -= 1
        return heap[0][0] if heap else None

    def pop_due(self, now: float) -> tuple[float, Callback] | None:
        """Take the next timer that is due by ``now``, or None."""
        due = self.next_due()
        if due is None or due > now + _EARLY_S:
            return None
        timer = heapq.heappop(self._heap)[2]
        callback = timer.callback
        timer.callback = None
        assert callback is not None  # noqa: S101 - `next_due` dropped the cancelled ones
        return due, callback

    def forget_one(self) -> None:
        """Count one cancelled timer; rebuild the heap when they outnumber the live ones."""
        self._dead += 1
        if self._dead > _DEAD_MIN and self._dead * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].callback is not None]
            heapq.heapify(self._heap)
            self._dead = 0
