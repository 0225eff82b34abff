"""The throttle on what we send: a token bucket of bytes.

Owns the budget and nothing else. Messages and resends are charged and wait until the bucket is out of debt.
Acks and answers to pings are neither: they are in proportion to what comes in, and a flood of it must not
silence us. Time is an argument.
"""

from __future__ import annotations

__all__ = ("TokenBucket",)


class TokenBucket:
    """Bytes that may leave now.

    Args:
        rate: bytes that come in a second.
        burst: bytes at most saved up.
        now: seconds.
    """

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, *, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at = now

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
            self._at = now

    def open(self, now: float) -> bool:
        """Tell whether something may leave."""
        self._refill(now)
        return self._tokens > 0

    def charge(self, size: int) -> None:
        """Account for bytes that leave; the last packet may put the bucket into debt."""
        self._tokens -= size

    def open_at(self) -> float:
        """Tell when the bucket is out of debt."""
        return self._at if self._tokens > 0 else self._at + (1 - self._tokens) / self._rate
