"""The two messages that several modules make."""

from __future__ import annotations

from gridagent.events import DisconnectCause, Speaker, SpeakerKind
from gridagent.grid.simulated import World
from gridagent.ids import ObjectId
from live_grid.messages import text_of
from live_grid.messages.circuits import KickUser
from live_grid.simulator.ids import wire_id
from live_grid.simulator.instant import im
from live_grid.simulator.puppet import Puppet, Table

ADA = "00000000-0000-4000-8000-000000000001"
BELL = ObjectId("00000000-0000-4000-8000-0000000000b1")


def test_a_kick_gives_the_reason(world: World, table: Table, ada: Puppet) -> None:
    """And ends the login. Spec: LIV-6; Fault: 8."""
    world.kick(world.avatars()[0], table.now, reason="Behave.")
    table.pass_time(1.0)
    (kick,) = ada.saw(KickUser)
    assert (text_of(kick.user_info.reason), kick.user_info.session_id) == ("Behave.", ada.session.session_id)
    assert table.core.statistics().agents == 0


def test_every_instant_message_says_from_whom_and_to_whom(table: Table, ada: Puppet) -> None:
    """An object speaks with its owner's id; whoever has left is nowhere. Spec: LIV-6, LIV-15."""
    (agent,) = table.core._agents.values()
    owner = "00000000-0000-4000-8000-000000000002"
    source = Speaker(kind=SpeakerKind.OBJECT, id=BELL, name="Bell", owner_id=owner)
    message = im(agent, source, 19, "Ding!")
    block = message.message_block
    assert (message.agent_data.agent_id, block.to_agent_id) == (wire_id(owner), ada.agent_id)
    assert (text_of(block.from_agent_name), text_of(block.message)) == ("Bell", "Ding!")
    assert block.region_id == agent.here.region_id
    agent.ended = DisconnectCause.KICKED
    assert im(agent, source, 19, "Ding!").message_block.region_id == bytes(16)
