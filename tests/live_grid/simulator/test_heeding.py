"""Which messages are done, and on which circuit."""

from __future__ import annotations

from gridagent.events import ChatHeard
from gridagent.grid.simulated.witness import Witness
from live_grid.messages import header_of, wire_text
from live_grid.messages.avatars import AgentDataUpdate, AgentDataUpdateRequest, AgentUpdate
from live_grid.messages.circuits import AgentPause
from live_grid.messages.speech import ChatFromViewer
from live_grid.simulator import heeding
from live_grid.simulator.heeding import HEEDED
from live_grid.simulator.puppet import Puppet, Table


def look(ada: Puppet) -> None:
    """Say how far is looked, so that neighbours are announced."""
    zero = (0.0, 0.0, 0.0)
    data = AgentUpdate.AgentData(ada.agent_id, ada.session.session_id, zero, zero, 0, zero, zero, zero, zero, 9.0, 0, 0)
    ada.say(AgentUpdate(agent_data=data), 0)


def test_every_heeded_message_is_one_that_viewers_send() -> None:
    """None is trusted, none comes by the queue only, and none stands in both tables. Spec: LIV-15."""
    headers = [header_of(kind) for kind in HEEDED]
    assert not [header.name for header in headers if header.trusted or header.event_queue_only]
    assert not set(heeding._ANYWHERE) & set(heeding._AT_HOME)
    assert len(set(HEEDED)) == len(HEEDED)


def test_a_child_circuit_answers_questions_and_does_nothing(table: Table, ada: Puppet, ben: Witness) -> None:
    """Words said to a neighbour are heard nowhere. Spec: LIV-7, LIV-15."""
    look(ada)
    table.pass_time(1.0)
    ada.open_circuit(1)
    chat = ChatFromViewer.ChatData(wire_text("psst"), 1, 0)
    ada.say(ChatFromViewer(agent_data=ada.session, chat_data=chat), 1)
    ada.say(AgentDataUpdateRequest(agent_data=ada.session), 1)
    assert ben.saw(ChatHeard) == []
    assert len(ada.saw(AgentDataUpdate, 1)) == 1


def test_a_message_nobody_heeds_is_acknowledged_and_nothing_more(table: Table, ada: Puppet) -> None:
    """Pauses and the like. Spec: LIV-3, LIV-15."""
    head = AgentPause.AgentData(ada.agent_id, ada.session.session_id, 1)
    ada.say(AgentPause(agent_data=head))
    table.pass_time(1.0)
    assert ada.circuits[0].statistics().unacked == 0
    assert ada.messages.maxlen is not None
