"""Why a connection ended, in the session's words: two total tables.

Owns the mapping of a refused login and of a session's end to a `DisconnectCause`, by which the reconnect table
decides. No text of a grid goes through here (Spec: SUP-6, SUP-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gridagent.events import DisconnectCause
from live_grid.handover import EndCause
from live_grid.login import LoginRefused, NextStep

__all__ = ("END_CAUSES", "LOGIN_CAUSES", "TELEPORT_REASONS", "cause_of_refusal", "teleport_reason")

LOGIN_CAUSES: Final[Mapping[NextStep, DisconnectCause]] = MappingProxyType(
    {
        NextStep.RETRY_SOON: DisconnectCause.ALREADY_LOGGED_IN,
        NextStep.WAIT: DisconnectCause.MAINTENANCE,
        NextStep.FIX_CREDENTIALS: DisconnectCause.BAD_CREDENTIALS,
        NextStep.ACCEPT_TERMS: DisconnectCause.TERMS_NOT_ACCEPTED,
        NextStep.READ_CRITICAL: DisconnectCause.TERMS_NOT_ACCEPTED,
        NextStep.GIVE_TOKEN: DisconnectCause.MFA_REQUIRED,
        NextStep.MEND_TOKEN: DisconnectCause.MFA_REFUSED,
        NextStep.UPDATE: DisconnectCause.BANNED,
        NextStep.ASK_OPERATOR: DisconnectCause.BANNED,
    }
)
"""What each refusal means; the last two want an operator, as a ban does."""

END_CAUSES: Final[Mapping[EndCause, DisconnectCause]] = MappingProxyType(
    {
        EndCause.LOGGED_OUT: DisconnectCause.GRID_CLOSED,
        EndCause.KICKED: DisconnectCause.KICKED,
        EndCause.REGION_DOWN: DisconnectCause.REGION_RESTART,
        EndCause.SILENCE: DisconnectCause.CIRCUIT_LOST,
        EndCause.NO_ENTRY: DisconnectCause.CIRCUIT_LOST,
        EndCause.STRANDED: DisconnectCause.CIRCUIT_LOST,
        EndCause.QUEUE_GONE: DisconnectCause.CIRCUIT_LOST,
        EndCause.BLIND: DisconnectCause.CIRCUIT_LOST,
    }
)
"""What each end of a session means."""

_UNREACHED: Final = frozenset({"unavailable", "malformed", "fault", "internal error"})
"""Reasons that are no word of a grid about itself: nobody answered, not in a way we understand, or something broke
there. OpenSimulator says the last where two logins meet in the moment after its start."""
_BARRED: Final = ("restricted", "blocked", "disabled")
_LATER: Final = "try again later"
_CLOSED: Final = "http 503"
"""The one status by which a grid says that it is away; others are a proxy's, or a wrong address."""


def cause_of_refusal(refused: LoginRefused) -> DisconnectCause:
    """Tell what a refusal means for the session."""
    if refused.reason == "presence" and refused.next is NextStep.WAIT:
        # OpenSimulator has one word for "you are in already" and for "nobody is let in at present".
        barred = any(word in refused.message.casefold() for word in _BARRED)
        return DisconnectCause.MAINTENANCE if barred else DisconnectCause.ALREADY_LOGGED_IN
    if refused.reason == "key" and refused.next is NextStep.WAIT and _LATER not in refused.message.casefold():
        return DisconnectCause.LOGIN_FAILED  # the place's trouble, not the grid's: often over in a moment
    if refused.reason.casefold() in _UNREACHED or (refused.reason.startswith("http ") and refused.reason != _CLOSED):
        return DisconnectCause.LOGIN_FAILED
    return LOGIN_CAUSES[refused.next]


TELEPORT_REASONS: Final[tuple[tuple[str, str], ...]] = (
    ("previous teleport", "in_transit"),
    ("already in transit", "in_transit"),
    ("frozen", "frozen"),
    ("not allowed", "no_access"),
    ("no access", "no_access"),
    ("banned", "no_access"),
    ("restricted", "no_access"),
    ("could not be found", "region_not_found"),
    ("not found", "region_not_found"),
    ("same map position", "region_not_found"),
    ("did not signal", "interrupted"),
    ("could not be established", "interrupted"),
    ("region full", "region_full"),
    ("full", "region_full"),
    ("home set", "no_home"),
    ("no home", "no_home"),
    ("problem connecting", "interrupted"),
    ("unavailable", "region_down"),
    ("not available", "region_down"),
    ("down", "region_down"),
)
"""Fragment of what grids say, and our word for it; the first row that fits is taken."""


def teleport_reason(text: str, key: str) -> str:
    """Find our word for a grid's reason; its own text goes no further (Spec: SUP-10)."""
    said = f"{key} {text}".casefold()
    return next((word for fragment, word in TELEPORT_REASONS if fragment in said), "grid_refused")
