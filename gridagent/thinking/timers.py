"""When a thinker wants to be called next, and for what.

Owns a heap of moments; knows nothing of what they are for. Pure: time is an argument.

Invariant: what is due comes out in the order of its time, and of equal times in the order it was put; what was taken
back never comes out.
"""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

__all__ = ("Timers",)

T = TypeVar("T")


class Timers(Generic[T]):
    """Moments, and what is to be done then. Bounded by whoever puts them: one a turn, a call or a part of speech."""

    __slots__ = ("_heap", "_live", "_made")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._live: dict[int, T] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._live)

    def put(self, at: float, what: T) -> int:
        """Put something for a moment; returns a number to take it back by."""
        self._made += 1
        self._live[self._made] = what
        heapq.heappush(self._heap, (at, self._made))
        return self._made

    def take_back(self, number: int) -> None:
        """Take something back; nothing where it was due already."""
        self._live.pop(number, None)
        if len(self._heap) > 64 + 2 * len(self._live):  # mostly what was taken back
            self._heap = [each for each in self._heap if each[1] in self._live]
            heapq.heapify(self._heap)

    def due(self) -> float | None:
        """Return the next moment."""
        while self._heap and self._heap[0][1] not in self._live:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop(self, now: float) -> T | None:
        """Return the next that is due by ``now``; None where nothing is."""
        at = self.due()
        if at is None or at > now:
            return None
        _, number = heapq.heappop(self._heap)
        return self._live.pop(number)

    def clear(self) -> tuple[T, ...]:
        """Forget everything, and return what will not be done."""
        left = tuple(self._live.values())
        self._heap.clear()
        self._live.clear()
        return left
