"""Acks we owe: gathered, appended to whatever leaves next, and sent on their own before they are late.

Owns their order and their deadline. A packet whose ack does not fit is treated as lost on the wire by
the circuit, so the peer sends it again.
"""

from __future__ import annotations

from typing import Final

from live_grid.limits import ACKS_PENDING_MAX

__all__ = ("AckQueue",)

_FLUSH_AT: Final = 200
"""Acks owed at which waiting for a ride gains nothing: a packet's worth."""


class AckQueue:
    """Acks owed to the peer, oldest first, each once.

    Args:
        delay: longest time an ack waits for a packet to ride on, in seconds.
    """

    __slots__ = ("_delay", "_owed", "_since")

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._owed: dict[int, None] = {}
        self._since = 0.0

    def __len__(self) -> int:
        return len(self._owed)

    @property
    def full(self) -> bool:
        """Whether one more does not fit."""
        return len(self._owed) >= ACKS_PENDING_MAX

    def owe(self, sequence: int, now: float) -> None:
        """Remember that a reliable packet arrived, again or for the first time."""
        if not self._owed:
            self._since = now
        self._owed[sequence] = None

    def due_at(self) -> float | None:
        """Tell when acks must leave on their own, if any are owed."""
        if not self._owed:
            return None
        return self._since if len(self._owed) >= _FLUSH_AT else self._since + self._delay

    def take(self, most: int) -> tuple[int, ...]:
        """Take up to ``most`` acks to send, oldest first; the deadline stands while any is left."""
        owed = self._owed
        if most >= len(owed):
            taken = tuple(owed)
            owed.clear()
            return taken
        taken = tuple(sequence for sequence, _ in zip(owed, range(most), strict=False))
        for sequence in taken:
            del owed[sequence]
        return taken
