"""Sequence numbers: counting our own, and remembering which of the peer's were here already.

Owns the wrap at 2^24, where the viewer wraps; peers that go on counting to 32 bits fold onto the same
circle. The window remembers a fixed number of the newest numbers, one byte each, in a ring.

Invariant: within the window each number is new exactly once; what lies behind it is neither new nor known (Fault: 3).
"""

from __future__ import annotations

from typing import Final

from live_grid.limits import DUPLICATE_WINDOW

__all__ = ("ANCIENT", "DUPLICATE", "NEW", "SEQUENCE_MASK", "DuplicateWindow", "Sequence")

SEQUENCE_MASK: Final = 0xFF_FFFF
_HALF: Final = 0x80_0000
NEW: Final = 0
DUPLICATE: Final = 1
ANCIENT: Final = 2


class Sequence:
    """Our own counter. It lives as long as the circuit: a child circuit that becomes the root goes on counting."""

    __slots__ = ("upcoming",)

    def __init__(self, first: int = 1) -> None:
        self.upcoming = first

    def take(self) -> int:
        """Return the next number."""
        number = self.upcoming
        self.upcoming = (number + 1) & SEQUENCE_MASK
        return number


class DuplicateWindow:
    """Which of the peer's newest numbers were seen.

    Args:
        size: how many are remembered; a power of two.
    """

    __slots__ = ("_marks", "_mask", "_newest", "_size")

    def __init__(self, size: int = DUPLICATE_WINDOW) -> None:
        self._size = size
        self._mask = size - 1
        self._marks = bytearray(size)
        self._newest = -1

    def admit(self, sequence: int) -> int:
        """Tell whether a number is `NEW`, a `DUPLICATE`, or `ANCIENT`, and remember it if it is new."""
        at = sequence & SEQUENCE_MASK
        slot = at & self._mask
        newest = self._newest
        ahead = (at - newest) & SEQUENCE_MASK
        if ahead == 1:  # the usual case
            self._newest = at
            self._marks[slot] = 1
            return NEW
        if newest < 0:
            self._newest = at
        elif 0 < ahead < _HALF:
            self._forget(newest + 1, ahead)
            self._newest = at
        elif ahead and SEQUENCE_MASK + 1 - ahead >= self._size:
            return ANCIENT
        elif self._marks[slot]:
            return DUPLICATE
        self._marks[slot] = 1
        return NEW

    def _forget(self, first: int, count: int) -> None:
        """Clear the slots that now stand for newer numbers."""
        if count >= self._size:
            self._marks = bytearray(self._size)
            return
        start = first & self._mask
        end = start + count
        if end <= self._size:
            self._marks[start:end] = bytes(count)
        else:
            self._marks[start:] = bytes(self._size - start)
            self._marks[: end - self._size] = bytes(end - self._size)
