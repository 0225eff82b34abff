"""The two messages that several modules make: an instant message to an avatar, and the one that throws its client out.

Owns the fields that every one of them carries. What they say is the business of who makes them (Spec: LIV-15).
"""

from __future__ import annotations

from typing import Final

from gridagent.events import Speaker
from live_grid.messages import NIL, Message
from live_grid.messages.circuits import KickUser
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import wire_id
from live_grid.simulator.wording import long_text, short_text

__all__ = ("im", "kick")

_NOWHERE: Final = (0.0, 0.0, 0.0)
_ESTATE: Final = 1


def im(
    agent: Agent,
    source: Speaker,
    dialog: int,
    text: str,
    *,
    id: bytes = NIL,  # noqa: A002 - the field's own name
    bucket: bytes = b"\0",
    offline: bool = False,
    from_group: bool = False,
) -> ImprovedInstantMessage:
    """Make an instant message to an avatar."""
    sender = source.owner_id if source.owner_id is not None else source.id
    here = agent.here
    return ImprovedInstantMessage(
        agent_data=AgentSession(wire_id(sender), NIL),
        message_block=ImprovedInstantMessage.MessageBlock(
            from_group=from_group,
            to_agent_id=agent.agent_id,
            parent_estate_id=_ESTATE,
            region_id=NIL if here is None else here.region_id,
            position=_NOWHERE,
            offline=int(offline),
            dialog=dialog,
            id=id,
            timestamp=agent.stage.started_at_wall + int(agent.stage.world.now),
            from_agent_name=short_text(source.name),
            message=long_text(text),
            binary_bucket=bucket,
        ),
        estate_block=ImprovedInstantMessage.EstateBlock(0),
    )


def kick(agent: Agent, reason: str) -> Message:
    """Make the message that throws a client out."""
    return KickUser(
        target_block=KickUser.TargetBlock(bytes(4), 0),
        user_info=KickUser.UserInfo(agent.agent_id, agent.session_id, long_text(reason)),
    )
