"""One turn that is under way, and everything that is out for it.

Owns the bookkeeping between a `gridagent.turn.loop.Turn` and the session: which errand is which request, which call
waits for which outcome, and when each is late. Decides nothing. Used by `gridagent.thinking.thinker`. Pure.

Invariant: whatever is out for a turn is known here and nowhere else, so that ending the turn leaves nothing behind.
"""

from __future__ import annotations

from typing import Final

import attrs

from gridagent.authority import Origin, Principal, Role, TextSource
from gridagent.conversation.keys import ConversationKey
from gridagent.ids import CorrelationId
from gridagent.thinking.lanes import Batch
from gridagent.thinking.sight import Sight
from gridagent.tools.access import TurnMode
from gridagent.turn.loop import Turn

__all__ = ("LABELS", "Out", "Running")

LABELS: Final = {Role.OWNER: TextSource.OWNER, Role.TRUSTED: TextSource.AUTHORISED}
"""The label of what somebody said, by their role; whoever is not here is a stranger."""


@attrs.frozen
class Out:
    """An errand of a turn: a request by its number, or a call by its ordinal."""

    running: Running
    number: int
    is_request: bool
    held: int | None = None
    """Number of what is reserved for a request."""


@attrs.define(eq=False, kw_only=True)
class Running:
    """One turn."""

    turn: Turn
    key: ConversationKey
    batch: Batch
    """What it answers."""
    mode: TurnMode
    correlation: CorrelationId
    cause: str
    origin: Origin
    principal: Principal
    role: Role
    sight: Sight
    ends_at: float
    """Monotonic seconds at which its time is over."""
    deadline: int = 0
    """Number of its timer."""
    errands: dict[str, Out] = attrs.Factory(dict)
    """What is out, by errand; at most one a call, and one request."""
    late: dict[int, int] = attrs.Factory(dict)
    """Timers of the calls that run, by ordinal."""
    acted: bool = False
    """It has proposed an action: from now on no newer message takes its place."""

    @property
    def authorised(self) -> bool:
        """Whether it answers an owner's or trusted avatar's words."""
        return self.role in LABELS
