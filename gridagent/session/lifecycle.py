"""The two state tables of a session: the agent (Spec: SUP-1) and its link to the grid (Spec: SUP-4).

Owns every legal move of both; performs nothing. The core (`gridagent.session.core`) steps them and
reports each step. The agent is the avatar's mind and mandate: it goes on running while its link is
down and comes back by itself. The link is one connection after another.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gridagent.observations import AgentState, LinkState
from gridagent.state_table import StateTable

__all__ = ("AGENT", "LINK", "AgentInput", "LinkInput")


class AgentInput(StrEnum):
    """What moves the agent."""

    READY = "backend_ready"
    PAUSE = "pause"
    RESUME = "resume"
    """Resumed after it had once been in the world: it is running at once, its link follows."""
    RESUME_UNREADY = "resume_unready"
    """Resumed before it ever was in the world: it starts again."""
    STOP = "stop"
    STOPPED = "all_joined"
    FAIL = "task_failed"


AGENT: Final = StateTable(
    "agent",
    initial=AgentState.STARTING,
    terminal=frozenset({AgentState.STOPPED, AgentState.FAILED}),
    transitions={
        (AgentState.STARTING, AgentInput.READY): AgentState.RUNNING,
        (AgentState.STARTING, AgentInput.PAUSE): AgentState.PAUSED,
        (AgentState.STARTING, AgentInput.STOP): AgentState.STOPPING,
        (AgentState.STARTING, AgentInput.FAIL): AgentState.FAILED,
        (AgentState.RUNNING, AgentInput.READY): AgentState.RUNNING,
        (AgentState.RUNNING, AgentInput.PAUSE): AgentState.PAUSED,
        (AgentState.RUNNING, AgentInput.STOP): AgentState.STOPPING,
        (AgentState.RUNNING, AgentInput.FAIL): AgentState.FAILED,
        (AgentState.PAUSED, AgentInput.RESUME): AgentState.RUNNING,
        (AgentState.PAUSED, AgentInput.RESUME_UNREADY): AgentState.STARTING,
        (AgentState.PAUSED, AgentInput.STOP): AgentState.STOPPING,
        (AgentState.PAUSED, AgentInput.FAIL): AgentState.FAILED,
        (AgentState.STOPPING, AgentInput.STOPPED): AgentState.STOPPED,
        (AgentState.STOPPING, AgentInput.FAIL): AgentState.FAILED,
    },
)
"""Running and paused alternate; stopping and failing have no way back (Spec: SUP-1)."""


class LinkInput(StrEnum):
    """What moves the link."""

    CONNECT = "connect"
    TRANSPORT_UP = "transport_up"
    READY = "ready"
    PART_SICK = "part_sick"
    LOST = "lost"
    """The connection ended and its cause allows another attempt later."""
    LOST_BLOCKED = "lost_blocked"
    """The connection ended and only an operator can mend the cause."""
    LOST_FOR_GOOD = "lost_for_good"
    """The connection ended and no other is wanted (offline mode, disconnect)."""
    PAUSE = "pause"
    SHUT_DOWN = "shut_down"
    CLEANED = "cleaned_up"


def _link_rows() -> dict[tuple[LinkState, LinkInput], LinkState]:
    up = (LinkState.CONNECTING, LinkState.DEGRADED, LinkState.ONLINE)
    down = (LinkState.STOPPED, LinkState.BACKOFF, LinkState.AUTHENTICATION_BLOCKED, LinkState.PAUSED)
    rows = {
        (LinkState.CONNECTING, LinkInput.TRANSPORT_UP): LinkState.DEGRADED,
        (LinkState.DEGRADED, LinkInput.READY): LinkState.ONLINE,
        (LinkState.ONLINE, LinkInput.READY): LinkState.ONLINE,
        (LinkState.ONLINE, LinkInput.PART_SICK): LinkState.DEGRADED,
        (LinkState.DEGRADED, LinkInput.PART_SICK): LinkState.DEGRADED,
        (LinkState.SHUTTING_DOWN, LinkInput.CLEANED): LinkState.STOPPED,
    }
    for state in up:
        rows[state, LinkInput.LOST] = LinkState.BACKOFF
        rows[state, LinkInput.LOST_BLOCKED] = LinkState.AUTHENTICATION_BLOCKED
        rows[state, LinkInput.LOST_FOR_GOOD] = LinkState.STOPPED
        rows[state, LinkInput.PAUSE] = LinkState.PAUSED
        rows[state, LinkInput.SHUT_DOWN] = LinkState.SHUTTING_DOWN
    for state in down:
        rows[state, LinkInput.CONNECT] = LinkState.CONNECTING
        rows[state, LinkInput.SHUT_DOWN] = LinkState.SHUTTING_DOWN
        if state is not LinkState.PAUSED:
            rows[state, LinkInput.PAUSE] = LinkState.PAUSED
    rows[LinkState.BACKOFF, LinkInput.LOST_FOR_GOOD] = LinkState.STOPPED
    rows[LinkState.AUTHENTICATION_BLOCKED, LinkInput.LOST_FOR_GOOD] = LinkState.STOPPED
    rows[LinkState.PAUSED, LinkInput.LOST_FOR_GOOD] = LinkState.STOPPED
    return rows


LINK: Final = StateTable("link", initial=LinkState.STOPPED, transitions=_link_rows())
"""One connection after another; nothing is terminal, since the agent decides when it is over (Spec: SUP-4)."""
