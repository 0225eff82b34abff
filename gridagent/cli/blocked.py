"""What an operator is told of an avatar that may not log in: why, and what helps.

Owns the sentences. A pure table over what a session says of itself; `gridagent status`, the view and the end of a run
show them (Spec: SUP-6, OPS-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gridagent.events import DisconnectCause
from gridagent.observations import LinkState
from gridagent.session import SessionStatus

__all__ = ("awaits_code", "what_helps")

_RESTART: Final = "mend its account or its password file, then start again"
_BY_CODE: Final[Mapping[str, str]] = MappingProxyType(
    {
        DisconnectCause.MFA_REQUIRED.value: (
            "the grid wants a one-time code; give it with: gridagent connect --code CODE"
        ),
        DisconnectCause.MFA_REFUSED.value: (
            "the grid did not take the one-time code; give the next one your authenticator shows with: "
            "gridagent connect --code CODE"
        ),
    }
)
"""What a code mends while the service runs; everything else wants a restart."""


def what_helps(cause: str) -> str:
    """Return what an operator does about a login that was refused for good."""
    return _BY_CODE.get(cause, _RESTART)


def awaits_code(status: SessionStatus) -> bool:
    """Tell whether an avatar waits for a one-time code, which an operator can give while the service runs."""
    return status.link is LinkState.AUTHENTICATION_BLOCKED and status.last_error in _BY_CODE
