"""Login sessions and the log that says how each began and ended.

Owns the count that a test needs: how often each login was followed by a logout (Spec: SUP-9). Moves no
body (that is `gridagent.grid.simulated.presence`). Invariant: the log keeps the newest `SESSIONS_KEPT`
sessions; totals are kept for every avatar and never go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
import msgspec

from gridagent.events import DisconnectCause, GridEvent
from gridagent.ids import AvatarId

__all__ = ("SESSIONS_KEPT", "OnEnd", "OnEvent", "Session", "SessionLog", "SessionTotals")

SESSIONS_KEPT: Final = 4_096

OnEvent: TypeAlias = Callable[[GridEvent], None]
"""Takes what the avatar perceives, synchronously."""
OnEnd: TypeAlias = Callable[[DisconnectCause], None]
"""Told once when the grid ends the session; not when the avatar logs out itself."""


@attrs.define(eq=False, kw_only=True)
class Session:
    """One login of one avatar."""

    number: int
    """Counts up over the whole world."""
    avatar_id: AvatarId
    began_at: float
    ended_at: float | None = None
    ended_by: str = ""
    """``logout``, or the `DisconnectCause` the grid ended it with."""
    logouts: int = 0
    """Logouts the client asked for, also those that were lost on the way; an orderly client makes it
    exactly 1, whoever ended the session."""
    hosted: bool = False
    """A character of the world's own, which the world takes out itself: no client owes a logout."""
    on_event: OnEvent | None = None
    on_end: OnEnd | None = None

    @property
    def live(self) -> bool:
        """Whether the avatar is still in the world by this login."""
        return self.ended_at is None


class SessionTotals(msgspec.Struct, kw_only=True):
    """Counts of one avatar since the world began."""

    logins: int = 0
    logouts: int = 0
    """Logout requests that came, also for sessions the grid had ended."""
    refused: int = 0
    """Logins turned away because a session was live."""
    ended_by_grid: int = 0


class SessionLog:
    """Every session of a world, newest last."""

    __slots__ = ("_numbers", "_recent", "_totals")

    def __init__(self) -> None:
        self._numbers = 0
        self._recent: deque[Session] = deque(maxlen=SESSIONS_KEPT)
        self._totals: dict[AvatarId, SessionTotals] = {}  # one an avatar: bounded by the world

    def open(self, avatar_id: AvatarId, now: float) -> Session:
        """Begin and record a session."""
        self._numbers += 1
        session = Session(number=self._numbers, avatar_id=avatar_id, began_at=now)
        self._recent.append(session)
        self.totals(avatar_id).logins += 1
        return session

    def close(self, session: Session, now: float, by: str) -> None:
        """End a live session."""
        session.ended_at = now
        session.ended_by = by
        session.on_event = None
        session.on_end = None
        if by != "logout":
            self.totals(session.avatar_id).ended_by_grid += 1

    def count_logout(self, session: Session) -> None:
        """Count a client's request to log out."""
        session.logouts += 1
        self.totals(session.avatar_id).logouts += 1

    def totals(self, avatar_id: AvatarId) -> SessionTotals:
        """Return the counts of one avatar."""
        return self._totals.setdefault(avatar_id, SessionTotals())

    def recent(self) -> tuple[Session, ...]:
        """Return the newest sessions, oldest first."""
        return tuple(self._recent)

    def not_logged_out_once(self) -> tuple[Session, ...]:
        """Return ended sessions whose client did not log out exactly once: the breaches of SUP-9."""
        return tuple(
            session for session in self._recent if not session.live and not session.hosted and session.logouts != 1
        )
