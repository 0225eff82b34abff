"""Why a grid did not let us in, sorted by what to do next.

Owns the table from a grid's reason and words to a `NextStep`. A row with a fragment of text comes before the
row without it: OpenSimulator says ``key`` for a wrong password, and for whatever the region of arrival says when
it does not let somebody in (Spec: LIV-1).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

__all__ = ("LoginRefused", "NextStep", "classify", "unavailable")

_REASON_MAX_CHARACTERS: Final = 64
_MESSAGE_MAX_CHARACTERS: Final = 1_024


class NextStep(Enum):
    """What follows a refusal; only the first two are worth another try by a program."""

    RETRY_SOON = "retry_soon"
    """A stale session was just ended: try again after a moment."""
    WAIT = "wait"
    """The grid or the place is not available: try again with growing pauses."""
    FIX_CREDENTIALS = "fix_credentials"
    """Name or password are wrong: the operator mends them."""
    ACCEPT_TERMS = "accept_terms"
    """The operator reads and accepts the terms."""
    READ_CRITICAL = "read_critical"
    """The operator reads the critical message."""
    GIVE_TOKEN = "give_token"  # noqa: S105 - the name of a step
    """The operator gives the one-time code."""
    MEND_TOKEN = "mend_token"  # noqa: S105 - same
    """The one-time code that was given, or the password beside it, was not taken: the operator gives a new code."""
    UPDATE = "update"
    """The grid wants a newer client."""
    ASK_OPERATOR = "ask_operator"
    """Something a program cannot mend: banned, unverified, or a reason we do not know."""

    @property
    def permanent(self) -> bool:
        """Whether trying again without a change is pointless (Fault: 13)."""
        return self not in {NextStep.RETRY_SOON, NextStep.WAIT}


class LoginRefused(msgspec.Struct, frozen=True, kw_only=True):
    """A grid's refusal."""

    next: NextStep
    reason: str
    """The grid's own word for it, cut to 64 characters."""
    message: str = ""
    """Text from outside, cut to 1,024 characters: for the operator, never for a model."""
    mfa_hash: str = ""
    """A secret: proof of a challenge that was passed, though something else is still wanted."""

    def __repr__(self) -> str:
        return f"LoginRefused(next={self.next.value}, reason={self.reason!r}, message={self.message!r}, …)"


_OF_A_PLACE: Final = (
    "region",
    "parcel",
    "location",
    "destination",
    "landing point",
    "presence",
    "communications failure",
    "connect",
    "timed out",
)
"""Words of a region, or of the way to it, about itself: another place, or a later try, is let in. The grid hands
them on as they are, so one that restarts sounds like one whose gate is closed."""

_ROWS: Final[tuple[tuple[str, str, NextStep], ...]] = (
    ("presence", "already logged in", NextStep.RETRY_SOON),
    ("presence", "", NextStep.WAIT),
    ("key", "password", NextStep.FIX_CREDENTIALS),
    ("key", "suspended", NextStep.ASK_OPERATOR),
    ("key", "banned", NextStep.ASK_OPERATOR),
    *(("key", fragment, NextStep.WAIT) for fragment in _OF_A_PLACE),
    ("key", "inventory service", NextStep.WAIT),
    ("key", "try again later", NextStep.WAIT),
    ("key", "", NextStep.FIX_CREDENTIALS),
    ("tos", "", NextStep.ACCEPT_TERMS),
    ("critical", "", NextStep.READ_CRITICAL),
    ("mfa_challenge", "", NextStep.GIVE_TOKEN),
    ("update", "", NextStep.UPDATE),
    ("optional", "", NextStep.UPDATE),
    ("internal error", "", NextStep.WAIT),
    ("maintenance", "", NextStep.WAIT),
    ("unavailable", "", NextStep.WAIT),
    ("malformed", "", NextStep.WAIT),
    ("fault", "", NextStep.WAIT),
)
"""Reason, fragment of the message, step; the first row that fits is taken."""


def classify(reason: str, message: str = "") -> LoginRefused:
    """Sort a refusal by what to do next; a reason we do not know is for the operator."""
    word, said = reason.casefold(), message.casefold()
    step = next(
        (step for row_reason, fragment, step in _ROWS if row_reason == word and fragment in said),
        NextStep.ASK_OPERATOR,
    )
    return LoginRefused(next=step, reason=reason[:_REASON_MAX_CHARACTERS], message=message[:_MESSAGE_MAX_CHARACTERS])


def unavailable(status: int) -> LoginRefused:
    """Make the refusal of a page that is no login reply: maintenance, a proxy's error, a wrong address."""
    if status in {404, 405, 410}:
        return LoginRefused(next=NextStep.ASK_OPERATOR, reason=f"http {status}")
    return LoginRefused(next=NextStep.WAIT, reason=f"http {status}")
