"""Pings, both ways: answering the peer's at once, and sending our own to know how far it is.

Owns which answers are owed and which pings are on their way. Ids are one byte, so nothing here can grow.
"""

from __future__ import annotations

from typing import Final

__all__ = ("Pings",)

_ID_MASK: Final = 0xFF
_SMOOTHING: Final = 0.2


class Pings:
    """Pings of one circuit.

    Args:
        every: pause between our own, in seconds.
        now: seconds.
    """

    __slots__ = ("_every", "_next_id", "_on_the_way", "_owed", "next_at", "round_trip")

    def __init__(self, *, every: float, now: float) -> None:
        self._every = every
        self._next_id = 0
        self._on_the_way: dict[int, float] = {}
        self._owed: dict[int, None] = {}
        self.next_at = now + every
        self.round_trip: float | None = None
        """Smoothed seconds from ping to answer; None before the first answer."""

    def owe(self, ping_id: int) -> None:
        """Remember to answer the peer's ping."""
        self._owed[ping_id] = None

    def take_owed(self) -> tuple[int, ...]:
        """Take the ids to answer now."""
        owed = tuple(self._owed)
        self._owed.clear()
        return owed

    def start(self, now: float) -> int:
        """Begin a ping of our own and return its id."""
        ping_id = self._next_id
        self._next_id = (ping_id + 1) & _ID_MASK
        self._on_the_way[ping_id] = now
        self.next_at = now + self._every
        return ping_id

    def complete(self, ping_id: int, now: float) -> None:
        """Take the answer to one of our pings; one we did not send, or that came before, says nothing."""
        sent = self._on_the_way.pop(ping_id, None)
        if sent is None:
            return
        took = max(0.0, now - sent)
        self.round_trip = took if self.round_trip is None else self.round_trip + _SMOOTHING * (took - self.round_trip)
