"""When a session connects again, by the cause that ended the last connection (Spec: SUP-6).

Owns the table cause → plan and the delays; pure. The core asks once for each connection that ended by
itself; a requested end never comes here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from gridagent.events import DisconnectCause

__all__ = ("RECONNECT", "ReconnectDelays", "Retry")


class Retry(StrEnum):
    """What follows from a cause."""

    NEVER = "never"
    """Only an operator can mend it: authentication-blocked until `Connect`."""
    SHORT_WAIT = "short_wait"
    """The grid needs a moment (it has just thrown the stale session out)."""
    LONG_WAIT = "long_wait"
    """The grid will be away for a while; knocking more often helps nobody."""
    STAY_AWAY = "stay_away"
    """Somebody with the right to do so sent the avatar off: report, and keep away."""
    BACK_OFF = "back_off"
    """Try again with growing, jittered delays."""
    FAULT = "fault"
    """Our own backend broke: back off, and give up beyond the restart intensity."""


RECONNECT: Final[dict[DisconnectCause, Retry]] = {
    DisconnectCause.BAD_CREDENTIALS: Retry.NEVER,
    DisconnectCause.TERMS_NOT_ACCEPTED: Retry.NEVER,
    DisconnectCause.MFA_REQUIRED: Retry.NEVER,
    DisconnectCause.MFA_REFUSED: Retry.NEVER,
    DisconnectCause.BANNED: Retry.NEVER,
    DisconnectCause.ALREADY_LOGGED_IN: Retry.SHORT_WAIT,
    DisconnectCause.MAINTENANCE: Retry.LONG_WAIT,
    DisconnectCause.KICKED: Retry.STAY_AWAY,
    DisconnectCause.REGION_RESTART: Retry.BACK_OFF,
    DisconnectCause.CIRCUIT_LOST: Retry.BACK_OFF,
    DisconnectCause.LOGIN_FAILED: Retry.BACK_OFF,
    DisconnectCause.GRID_CLOSED: Retry.BACK_OFF,
    DisconnectCause.BACKEND_FAULT: Retry.FAULT,
    DisconnectCause.REQUESTED: Retry.SHORT_WAIT,
}
"""One row a cause; a test holds it total."""


class ReconnectDelays(msgspec.Struct, frozen=True, kw_only=True):
    """Waits in seconds; every one is finite."""

    short_wait_s: float = 10.0
    long_wait_s: float = 300.0
    stay_away_s: float = 3600.0
    backoff_base_s: float = 1.0
    backoff_cap_s: float = 60.0
    healthy_after_s: float = 60.0
    """A connection must have been in the world this long before back-off starts from the base again."""

    def fixed(self, retry: Retry) -> float | None:
        """Return the wait of a plan that has a fixed one, else None."""
        return {
            Retry.SHORT_WAIT: self.short_wait_s,
            Retry.LONG_WAIT: self.long_wait_s,
            Retry.STAY_AWAY: self.stay_away_s,
        }.get(retry)
