"""The whole simulator without a socket: circuits, ends, faults, strangers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import Position
from gridagent.events import ChatHeard
from gridagent.grid.simulated import Account, Thing, World
from gridagent.grid.simulated.witness import Witness
from gridagent.runtime.deterministic import simulated_ports
from live_grid.login import LoginRefused, LoginReply
from live_grid.messages import text_of, wire_text
from live_grid.messages.circuits import (
    AgentMovementComplete,
    CloseCircuit,
    DisableSimulator,
    KickUser,
    LogoutReply,
    LogoutRequest,
    PacketAck,
    UseCircuitCode,
)
from live_grid.messages.objects import ObjectUpdate
from live_grid.messages.regions import CoarseLocationUpdate, RegionHandshake
from live_grid.messages.speech import ChatFromSimulator, ChatFromViewer
from live_grid.messages.travel import TeleportLocationRequest
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted
from live_grid.simulator.faults import WireFaultKind, WireFaults
from live_grid.simulator.http1 import HttpRequest
from live_grid.simulator.profiles import SECOND_LIFE
from live_grid.simulator.puppet import Puppet, Table

STRANGER = ("127.0.0.1", 60_000)


def say(puppet: Puppet, text: str, number: int = 0) -> None:
    """Say something."""
    data = ChatFromViewer.ChatData(wire_text(text), 1, 0)
    puppet.say(ChatFromViewer(agent_data=puppet.session, chat_data=data), number)


def log_out(puppet: Puppet) -> None:
    """Ask to leave."""
    puppet.say(LogoutRequest(agent_data=puppet.session), 0)


def opener(puppet: Puppet, **other) -> UseCircuitCode:
    """Write what opens a circuit, with something of it changed."""
    reply = puppet.login_reply
    fields = {"code": reply.circuit_code, "session_id": reply.session_id, "id": reply.agent_id} | other
    return UseCircuitCode(circuit_code=UseCircuitCode.CircuitCode(**fields))


# --- circuits ------------------------------------------------------------------------------------


def test_the_opener_is_acknowledged_before_the_greeting(table: Table) -> None:
    """In a packet of its own: clients wait for one before they listen for the other. Spec: LIV-7, LIV-15."""
    ada = table.puppet("Ada Actor")
    ada.log_in()
    data = encode_packet(opener(ada), sequence=0, reliable=True)
    table.core.receive_datagram_untrusted(0, data, STRANGER, table.now)
    first = [read_message_untrusted(decode_packet_untrusted(one[1])) for one in table.core.datagrams_to_send(table.now)]
    assert first == [PacketAck(packets=(PacketAck.Packets(0),))]
    due = table.core.get_timer()
    assert 0 < due - table.now < 0.1
    later = [read_message_untrusted(decode_packet_untrusted(one[1])) for one in table.core.datagrams_to_send(due)]
    assert [type(message) for message in later] == [RegionHandshake]


@pytest.mark.parametrize("other", [{"code": 5}, {"session_id": b"x" * 16}, {"id": b"x" * 16}])
@pytest.mark.parametrize(("blind", "acks"), [(True, 1), (False, 0)])
def test_a_code_that_nobody_knows_opens_nothing(other: dict, *, blind: bool, acks: int, world: World) -> None:
    """OpenSimulator acknowledges it all the same, Second Life says nothing. Spec: LIV-15; Fault: 1, 2."""
    table = Table(world) if blind else Table(world, profile=SECOND_LIFE)
    ada = table.puppet("Ada Actor")
    ada.log_in()
    data = encode_packet(opener(ada, **other), sequence=9, reliable=True)
    table.core.receive_datagram_untrusted(0, data, STRANGER, table.now)
    sent = [read_message_untrusted(decode_packet_untrusted(one[1])) for one in table.core.datagrams_to_send(table.now)]
    assert sent == [PacketAck(packets=(PacketAck.Packets(9),))] * acks
    figures = table.core.statistics()
    assert (figures.circuits, figures.strangers) == (0, 1)


def test_a_circuit_opens_only_in_the_region_of_the_login(table: Table) -> None:
    """Elsewhere nobody was announced. Spec: LIV-15."""
    ada = table.puppet("Ada Actor")
    ada.log_in()
    unreliable = encode_packet(opener(ada), sequence=9)
    table.core.receive_datagram_untrusted(1, unreliable, STRANGER, table.now)
    assert table.core.datagrams_to_send(table.now) == []
    assert table.core.statistics().strangers == 1


def test_messages_of_another_session_are_dropped(table: Table, ada: Puppet, ben: Witness) -> None:
    """Even on a circuit that stands. Spec: LIV-2; Fault: 2."""
    forged = type(ada.session)(ada.agent_id, b"x" * 16)
    data = ChatFromViewer.ChatData(wire_text("forged"), 1, 0)
    ada.say(ChatFromViewer(agent_data=forged, chat_data=data))
    assert ben.saw(ChatHeard) == []


@pytest.mark.slow
@settings(max_examples=60)
@given(
    data=st.binary(max_size=300) | st.binary(max_size=60).map(lambda tail: b"\x40\0\0\0\1\0\xff\xff" + tail),
    stranger=st.booleans(),
)
def test_hostile_datagrams_never_end_the_server(data: bytes, *, stranger: bool) -> None:
    """From strangers and over a circuit that stands, any bytes leave it serving. Spec: LIV-15; Fault: 5."""
    world = World(random.Random(1), simulated_ports(1).ids.uuid)
    world.add_region("Plaza", x_m=256_000, y_m=256_000)
    for name in ("Ada Actor", "Ben Bystander"):
        world.add_avatar(Account(name=name))
    table = Table(world)
    ada = table.puppet("Ada Actor")
    ada.enter()
    table.core.receive_datagram_untrusted(0, data, STRANGER if stranger else ada.address, table.now)
    table.settle()
    ben = table.puppet("Ben Bystander")
    ben.enter()
    say(ben, "still here")
    assert len(ben.saw(ChatFromSimulator)) == 1


@pytest.mark.slow
@given(
    body=st.binary(max_size=300), path=st.sampled_from(["/", "/login", "seed", "queue", "cap", "/x", "/get_grid_info"])
)
def test_hostile_requests_never_end_the_server(body: bytes, path: str) -> None:
    """To every kind of address. Spec: LIV-15; Fault: 12, 13."""
    world = World(random.Random(1), simulated_ports(1).ids.uuid)
    world.add_region("Plaza", x_m=256_000, y_m=256_000)
    world.add_avatar(Account(name="Ada Actor"))
    table = Table(world)
    ada = table.puppet("Ada Actor")
    ada.enter()
    caps = ada.caps[0]
    known = {"seed": ada._seeds[0], "queue": caps["EventQueueGet"], "cap": caps["FetchInventoryDescendents2"]}
    answers = []
    target = "/" + known.get(path, path).removeprefix(table.stage.base_url).removeprefix("/")
    for method in ("POST", "GET", "PUT"):
        table.ask(HttpRequest(method=method, target=target, body=body), answers.append)
    table.settle()
    assert all(answer.status in {200, 400, 404, 502} for answer in answers)
    say(ada, "still here")
    assert len(ada.saw(ChatFromSimulator)) == 1


# --- ends ----------------------------------------------------------------------------------------


def test_a_logout_is_answered_and_the_login_gone(world: World, table: Table, ada: Puppet) -> None:
    """Reply, end of neighbours, nothing left after a moment; counted once by the world. Spec: SUP-9, LIV-15."""
    log_out(ada)
    table.pass_time(1.0)
    (reply,) = ada.saw(LogoutReply)
    assert reply.agent_data == ada.session
    assert not world.avatar(world.avatars()[0]).online
    assert world.sessions.not_logged_out_once() == ()
    table.pass_time(5.0)
    figures = table.core.statistics()
    assert (figures.agents, figures.circuits, figures.lingering, figures.addresses) == (0, 0, 0, 0)
    assert isinstance(ada.log_in(), LoginReply)


def test_a_logout_may_stay_without_an_answer(world: World) -> None:
    """The knob for what real servers do half the time; asking again changes nothing. Spec: LIV-15."""
    table = Table(world, faults=WireFaults(logout_reply_missing=1.0))
    ada = table.puppet("Ada Actor")
    ada.enter()
    log_out(ada)
    log_out(ada)
    table.pass_time(5.0)
    assert ada.saw(LogoutReply) == []
    assert table.stage.counts[WireFaultKind.LOGOUT_REPLY_MISSING] == 1
    assert not world.avatar(world.avatars()[0]).online


def test_a_client_that_was_thrown_out_may_still_say_goodbye(
    world: World, table: Table, ada: Puppet, ben: Witness
) -> None:
    """What it says besides is heard by nobody; a circuit cannot be opened any more. Spec: LIV-15; Fault: 8."""
    world.kick(world.avatars()[0], table.now)
    data = encode_packet(opener(ada), sequence=0, reliable=True)
    table.core.receive_datagram_untrusted(0, data, STRANGER, table.now)
    assert table.core.statistics().strangers == 1
    table.core.datagrams_to_send(table.now)
    say(ada, "unfair!")
    log_out(ada)
    assert ben.saw(ChatHeard) == []
    assert len(ada.saw(LogoutReply)) == 1


def test_an_opener_that_comes_again_is_acknowledged_and_no_more(table: Table, ada: Puppet) -> None:
    """On a circuit that stands, and on a child that was closed. Spec: LIV-7, LIV-15."""
    ada.say(opener(ada), 0)
    table.pass_time(1.0)
    assert ada.saw(RegionHandshake) == []
    assert ada.circuits[0].statistics().unacked == 0


def test_a_client_that_closes_its_circuit_is_gone(world: World, table: Table, ada: Puppet) -> None:
    """As one that says goodbye without logging out. Spec: LIV-2, LIV-15."""
    ada.say(CloseCircuit(), 0, reliable=False)
    table.pass_time(1.0)
    assert not world.avatar(world.avatars()[0]).online
    assert ada.fetch(ada.caps[0]["EventQueueGet"], b"").status == 404


def test_a_login_that_never_comes_is_given_up(world: World, table: Table) -> None:
    """After a minute without a circuit, or with one and no presence. Spec: LIV-15."""
    ada, ben = table.puppet("Ada Actor"), table.puppet("Ben Bystander")
    ada.log_in()
    ben.log_in()
    ben.open_circuit(0)
    table.pass_time(50.0)
    assert world.avatar(world.avatars()[0]).online
    table.pass_time(15.0)
    assert not world.avatar(world.avatars()[0]).online
    assert not world.avatar(world.avatars()[1]).online
    assert table.core.statistics().agents == 0


def test_a_second_login_kicks_the_first_client(world: World, table: Table, ada: Puppet) -> None:
    """The stale one is told over its circuit; the newcomer gets in at the second try. Spec: LIV-1, LIV-15."""
    other = table.puppet("Ada Actor")
    assert isinstance(other.log_in(), LoginRefused)
    table.pass_time(1.5)
    assert [text_of(one.user_info.reason) for one in ada.saw(KickUser)] == ["You logged in from another place."]
    other.enter()
    say(other, "it is me")
    assert len(other.saw(ChatFromSimulator)) == 1
    assert ada.saw(ChatFromSimulator) == []


def test_a_client_that_was_gone_is_resent_to_when_it_comes_back(world: World) -> None:
    """A dead stream over the same socket: the new login lives with it. Spec: LIV-15."""
    table = Table(world, faults=WireFaults(dead_stream=1.0))
    ada = table.puppet("Ada Actor")
    ada.enter()
    ada.vanish()
    again = table.puppet("Ada Actor")
    again.address = ada.address
    assert isinstance(again.log_in(), LoginRefused)
    again.enter()
    (agent,) = [one for _, one in table.core._lingering]
    table.pass_time(10.0)
    assert agent.root.circuit.statistics().resent > 0
    assert table.stage.counts[WireFaultKind.DEAD_STREAM] == 1
    say(again, "alive")
    assert len(again.saw(ChatFromSimulator)) == 1
    table.pass_time(60.0)
    assert table.core.statistics().lingering == 0


def test_the_server_goes_down_in_order(world: World, table: Table, ada: Puppet) -> None:
    """Everybody is told and put out, polls are answered, circuits closed. Spec: LIV-15."""
    flights = table.core.close(table.now)
    names = [decode_packet_untrusted(data).name for _, data, _ in flights]
    assert names == ["KickUser", "CloseCircuit"]
    assert not world.avatar(world.avatars()[0]).online
    table.settle()
    assert ada.queues[0].state.value == "gone"


def test_a_server_that_goes_down_answers_what_it_still_holds(world: World) -> None:
    """Also answers that a fault had made late; logins without a circuit have nothing to be told. Spec: LIV-15."""
    table = Table(world)
    table.puppet("Ada Actor").log_in()
    table.core.set_faults(WireFaults(http_late=1.0))
    answers = []
    table.ask(HttpRequest(method="GET", target="/get_grid_info"), answers.append)
    assert answers == []
    assert table.core.close(table.now) == []
    assert [answer.status for answer in answers] == [200]


# --- what is shown -------------------------------------------------------------------------------


def test_nothing_is_shown_before_seed_and_handshake(world: World, table: Table) -> None:
    """A client that never fetches its seed is blind, as on OpenSimulator. Spec: LIV-15."""
    ada = table.puppet("Ada Actor")
    reply = ada.log_in()
    ada.open_circuit(0)
    ada.ask_presence(0)
    table.pass_time(3.0)
    assert len(ada.saw(AgentMovementComplete)) == 1
    assert ada.saw(ObjectUpdate) == []
    ada.ask_seed(0, reply.seed_capability)
    table.pass_time(1.0)
    assert {block.full_id for one in ada.saw(ObjectUpdate) for block in one.object_data} >= {ada.agent_id}


def test_where_everybody_is_comes_again_and_again(table: Table, ada: Puppet) -> None:
    """Coarsely, every few seconds. Spec: LIV-5, LIV-15."""
    table.pass_time(20.0)
    assert 3 <= len(ada.saw(CoarseLocationUpdate)) <= 6


def test_a_scene_of_thousands_arrives_whole(world: World) -> None:
    """As fast as it is acknowledged, over a wire that loses, doubles and reorders. Spec: LIV-15; Fault: 6."""
    for number in range(600):
        spot = Position(x=1.0 + number % 200, y=2.0, z=22.0)
        world.add_object("Plaza", owner_id=world.avatars()[0], position=spot, thing=Thing(name=f"T{number}"))
    knobs = WireFaults(datagram_lost=0.1, datagram_doubled=0.1, datagram_reordered=0.1, delay_s=(0.01, 0.1))
    table = Table(world, faults=knobs)
    ada = table.puppet("Ada Actor")
    ada.log_in()
    ada.open_circuit(0)
    ada.ask_seed(0, ada.login_reply.seed_capability)
    ada.ask_presence(0)
    table.pass_time(60.0)
    shown = {block.full_id for one in ada.saw(ObjectUpdate) for block in one.object_data}
    assert len(shown) == 605
    assert table.core.statistics().unsaid == 0
    counts = table.core.statistics().faults
    assert all(
        counts[kind] > 10 for kind in ("datagram_lost", "datagram_doubled", "datagram_reordered", "datagram_delayed")
    )


# --- faults --------------------------------------------------------------------------------------


def test_words_arrive_once_over_a_bad_wire(world: World, ben: Witness) -> None:
    """Lost, doubled and reordered datagrams: everything is said once, whatever happens. Spec: LIV-2, LIV-15."""
    knobs = WireFaults(datagram_lost=0.2, datagram_doubled=0.2, datagram_reordered=0.2)
    table = Table(world, faults=knobs)
    ada = table.puppet("Ada Actor")
    ada.log_in()
    ada.open_circuit(0)
    ada.ask_seed(0, ada.login_reply.seed_capability)
    ada.ask_presence(0)
    table.pass_time(30.0)
    words = [f"word {number}" for number in range(30)]
    for word in words:
        say(ada, word)
    table.pass_time(60.0)
    assert sorted(event.text for event in ben.saw(ChatHeard)) == sorted(words)
    assert sorted(text_of(one.chat_data.message) for one in ada.saw(ChatFromSimulator)) == sorted(words)


def test_a_bad_http_side_is_survived(world: World) -> None:
    """502s, 404s aside, pages and late answers: the event queue goes on. Spec: LIV-4, LIV-15; Fault: 11."""
    table = Table(world)
    ada = table.puppet("Ada Actor")
    ada.enter()
    table.core.set_faults(WireFaults(http_502=0.2, http_html=0.2, http_late=0.3, http_late_s=(0.5, 2.0)))
    info = TeleportLocationRequest.Info(256_256 << 32 | 256_000, (9.0, 9.0, 22.0), (1.0, 0.0, 0.0))
    ada.say(TeleportLocationRequest(agent_data=ada.session, info=info))
    table.pass_time(120.0)
    counts = table.core.statistics().faults
    assert counts["http_502"] + counts["http_html"] + counts["http_late"] > 0
    assert ada.queues[0].statistics().polls > 1


def test_a_repeated_answer_is_taken_once(world: World) -> None:
    """The client tells by its id. Spec: LIV-4, LIV-15."""
    table = Table(world, faults=WireFaults(event_repeated=1.0))
    ada = table.puppet("Ada Actor")
    ada.enter()
    table.pass_time(2.0)
    assert table.stage.counts[WireFaultKind.EVENT_REPEATED] >= 1
    assert ada.queues[0].statistics().repeats == table.stage.counts[WireFaultKind.EVENT_REPEATED]
    assert len(ada.told("ParcelProperties")) == 1


def test_a_poll_whose_connection_breaks_frees_its_place(table: Table, ada: Puppet) -> None:
    """The next one is held in its stead, and gets what came. Spec: LIV-4, LIV-15."""
    answers = []
    url = "/" + ada.caps[0]["EventQueueGet"].removeprefix(table.stage.base_url)
    ada.queues.clear()
    forget = table.ask(HttpRequest(method="POST", target=url), answers.append)
    answers.clear()
    forget()
    forget()
    (agent,) = table.core._agents.values()
    assert not agent.root.mailbox.held


def test_one_seed_gives_one_story(world: World) -> None:
    """Two runs over equally bad wires send the same bytes at the same times. Spec: LIV-15, SIM-2."""

    def run() -> list[tuple[float, bytes]]:
        built = World(random.Random(3), simulated_ports(3).ids.uuid)
        built.add_region("Plaza", x_m=256_000, y_m=256_000)
        built.add_avatar(Account(name="Ada Actor"))
        table = Table(built, faults=WireFaults(datagram_lost=0.1, datagram_reordered=0.2, delay_s=(0.0, 0.2)))
        ada = table.puppet("Ada Actor")
        ada.log_in()
        ada.open_circuit(0)
        ada.ask_seed(0, ada.login_reply.seed_capability)
        ada.ask_presence(0)
        story, take = [], ada.take

        class Recorder:
            def __call__(self, number: int, data: bytes, address) -> None:
                story.append((table.now, data))
                take(number, data, address)

        for _ in range(40):
            for number, data, address in table.core.datagrams_to_send(table.now):
                Recorder()(number, data, address)
            table.pass_time(0.5)
            say(ada, "tick")
        return story

    assert run() == run()


def test_figures_add_up(table: Table, ada: Puppet) -> None:
    """Agents, circuits, addresses and faults at one moment. Spec: LIV-12, LIV-15."""
    figures = table.core.statistics()
    assert (figures.agents, figures.circuits, figures.lingering) == (1, 1, 0)
    assert figures.addresses == 1 + len(ada.caps[0])
    assert figures.faults.keys() == {kind.value for kind in WireFaultKind}
    assert ada.saw(DisableSimulator) == []
