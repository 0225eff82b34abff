"""Where to log in after the region went down, and when to go back: flee to a fallback, return later.

Owns that one memory of an avatar across its connections; pure, told the time. A place is the configuration's text,
``Region/x/y/z``. The factory asks it for each login; the backend tells it where a connection arrived and how it ended
(Spec: SUP-6). Going back is a login at the old place and no teleport: it is no action of the avatar's, so nothing has
to be authorised for it.

Invariant: somebody who moved on from the refuge, by whatever way, is not taken back.
"""

from __future__ import annotations

from typing import Final, final

from gridagent.actions import Position
from gridagent.errors import ConfigError
from gridagent.events import DisconnectCause
from live_grid.backend.account import start_of

__all__ = ("Refuge", "place_text")

RETURNS_MAX: Final = 8
"""Attempts to go back; then the refuge is where the avatar lives."""
_NOT_LET_IN: Final = frozenset(
    {
        DisconnectCause.REGION_RESTART,
        DisconnectCause.MAINTENANCE,
        DisconnectCause.LOGIN_FAILED,
        DisconnectCause.CIRCUIT_LOST,
    }
)


def place_text(region: str, position: Position) -> str:
    """Write a place as the configuration would; empty where it cannot be written."""
    text = f"{region}/{max(0, int(position.x))}/{max(0, int(position.y))}/{max(0, int(position.z))}"
    try:
        start_of(text)
    except ConfigError:
        return ""
    return text


@final
class Refuge:
    """One avatar's way out of a region that restarts, and back.

    Args:
        usual: where the avatar logs in else.
        fallbacks: where it flees to, in this order.
        return_after_s: seconds from the arrival in a refuge to the attempt to go back.
    """

    __slots__ = (
        "_after_s",
        "_arrived_in",
        "_fallbacks",
        "_lost",
        "_next",
        "_return_at",
        "_returning",
        "_returns",
        "_usual",
    )

    def __init__(self, usual: str, fallbacks: tuple[str, ...] = (), *, return_after_s: float = 300.0) -> None:
        self._usual = usual
        self._fallbacks = fallbacks
        self._after_s = return_after_s
        self._forget()

    def _forget(self) -> None:
        self._lost: tuple[str, str] | None = None
        """Region that went down, and the place in it."""
        self._next = 0
        self._arrived_in = ""
        self._return_at: float | None = None
        self._returning = False
        self._returns = 0

    def start(self) -> str:
        """Return where the next login begins."""
        if self._lost is None:
            return self._usual
        if self._returning:
            return self._lost[1] or self._usual
        return self._fallbacks[self._next] if self._next < len(self._fallbacks) else self._usual

    def arrived(self, region: str, now: float) -> None:
        """Take note of where a login led to."""
        if self._lost is None:
            return
        if region == self._lost[0] or self._returns >= RETURNS_MAX:
            self._forget()
            return
        self._returning = False
        self._arrived_in = region
        self._return_at = now + self._after_s

    def ended(self, cause: DisconnectCause, region: str, position: Position | None) -> None:
        """Take note of how a connection ended by itself.

        Args:
            cause: why.
            region: where the avatar was; empty if it never got in.
            position: where in it.
        """
        self._return_at = None
        if cause is DisconnectCause.REQUESTED:
            return  # of our own will, to go back
        if self._lost is None:
            if cause is DisconnectCause.REGION_RESTART and region and position is not None:
                self._lost = (region, place_text(region, position))
        elif self._returning:
            self._returning, self._next = False, 0
        elif cause is DisconnectCause.REGION_RESTART or (not region and cause in _NOT_LET_IN):
            # This refuge is none either; after the last one the grid decides.
            self._next = min(self._next + 1, len(self._fallbacks))

    def due(self, region: str, now: float) -> bool:
        """Tell whether it is time to go back from where the avatar is now."""
        if self._return_at is None or now < self._return_at:
            return False
        if region != self._arrived_in:
            self._forget()
            return False
        return True

    def go_back(self) -> None:
        """Let the next login begin where the avatar was when its region went down."""
        self._returns += 1
        self._returning = True
        self._return_at = None
