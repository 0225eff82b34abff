"""One circuit: what it takes, drops, counts and tells."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.captures import NAMES, datagrams
from live_grid.circuit import (
    Circuit,
    CircuitConfig,
    CircuitEnded,
    CircuitEvent,
    MessageDelivered,
    MessageLost,
    MessageReceived,
    Role,
)
from live_grid.circuit.events import CircuitEnd
from live_grid.circuit.state import CircuitState
from live_grid.errors import LocalProtocolError
from live_grid.limits import ACKS_PENDING_MAX, EVENTS_CHATTER_MAX, EVENTS_CONTROL_MAX, EVENTS_MAX
from live_grid.messages import NIL, Message
from live_grid.messages.avatars import AgentDataUpdateRequest
from live_grid.messages.circuits import (
    AgentMovementComplete,
    CloseCircuit,
    CompletePingCheck,
    DisableSimulator,
    EnableSimulator,
    KickUser,
    PacketAck,
    StartPingCheck,
)
from live_grid.messages.notation import AgentSession
from live_grid.messages.objects import KillObject, ObjectUpdateCached
from live_grid.messages.speech import ChatFromSimulator, ImprovedInstantMessage, RetrieveInstantMessages
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted

PEER = ("203.0.113.9", 9000)
AGENT, SESSION, OTHER = b"a" * 16, b"s" * 16, b"o" * 16
KILL = KillObject((KillObject.ObjectData(1),))
CACHED = ObjectUpdateCached(ObjectUpdateCached.RegionData(0, 0))
KICK = KickUser(KickUser.TargetBlock(bytes(4), 0), KickUser.UserInfo(AGENT, SESSION, b"out\0"))
CHAT = ChatFromSimulator(ChatFromSimulator.ChatData(b"A\0", NIL, NIL, 1, 1, 255, (0.0, 0.0, 0.0), b"hi\0"))


def viewer(**options: object) -> Circuit:
    """Our end, as a viewer."""
    return Circuit(PEER, now=0.0, **options)  # type: ignore[arg-type]


def feed(circuit: Circuit, message: Message, sequence: int, now: float = 0.0, **flags: object) -> None:
    """Let a message arrive."""
    circuit.receive_datagram_untrusted(encode_packet(message, sequence=sequence, **flags), PEER, now)  # type: ignore[arg-type]


def events(circuit: Circuit) -> list[CircuitEvent]:
    """Take all events."""
    return list(iter(circuit.next_event, None))


def sent(circuit: Circuit, now: float) -> list[Message]:
    """Read what leaves now."""
    return [read_message_untrusted(decode_packet_untrusted(data)) for data, _ in circuit.datagrams_to_send(now)]


def moved(agent: bytes, session: bytes) -> AgentMovementComplete:
    """A message that begins with agent and session id."""
    data = AgentMovementComplete.Data((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, 0)
    return AgentMovementComplete(AgentSession(agent, session), data, AgentMovementComplete.SimData(b"x"))


def test_a_datagram_from_elsewhere_is_dropped_unread() -> None:
    """Another address or another port: counted, nothing else changes. Fault: 1."""
    circuit = viewer()
    data = encode_packet(KILL, sequence=1, reliable=True)
    for address in (("203.0.113.9", 9001), ("203.0.113.8", 9000)):
        circuit.receive_datagram_untrusted(data, address, 50.0)
    figures = circuit.statistics()
    assert (figures.foreign, figures.packets_in, figures.acks_owed, figures.heard_at) == (2, 0, 0, 0.0)
    assert events(circuit) == []


def test_a_message_of_another_session_is_dropped_unacknowledged() -> None:
    """The address is right and the circuit an old one. Fault: 2."""
    circuit = viewer(session=(AGENT, SESSION))
    feed(circuit, moved(AGENT, OTHER), 1, reliable=True)
    assert (circuit.statistics().other_session, circuit.statistics().acks_owed) == (1, 0)
    feed(circuit, moved(AGENT, SESSION), 1, reliable=True)
    assert [type(event) for event in events(circuit)] == [MessageReceived]
    assert circuit.statistics().acks_owed == 1


def test_messages_of_other_avatars_name_no_session() -> None:
    """Simulators send instant messages with the sender's id and an empty session; a viewer takes them."""
    data = {"agent_data": AgentSession(OTHER, NIL)}
    block = ImprovedInstantMessage.MessageBlock(
        False, AGENT, 0, NIL, (0.0, 0.0, 0.0), 0, 0, NIL, 0, b"A\0", b"hi\0", b""
    )
    message = ImprovedInstantMessage(**data, message_block=block, estate_block=ImprovedInstantMessage.EstateBlock(0))
    circuit = viewer(session=(AGENT, SESSION))
    feed(circuit, message, 1)
    assert events(circuit) == [MessageReceived(message, 1)]
    simulator = viewer(session=(AGENT, SESSION), role=Role.SIMULATOR)
    feed(simulator, message, 1)
    assert events(simulator) == []
    assert simulator.statistics().other_session == 1


def test_a_session_that_cannot_be_read_is_malformed() -> None:
    """A zero-coding bomb in the place of ids, or half of one. Fault: 4, 5."""
    circuit = viewer(session=(AGENT, SESSION))
    circuit.receive_datagram_untrusted(b"\x80\0\0\0\1\0\xff\xff\0\1\xfa" + b"\0\xff" * 600, PEER, 0.0)
    circuit.receive_datagram_untrusted(b"\0\0\0\0\2\0\xff\xff\0\xfa" + AGENT, PEER, 0.0)
    assert (circuit.statistics().malformed, circuit.statistics().other_session) == (2, 0)


def test_a_duplicate_is_acknowledged_again_and_handled_once() -> None:
    """The first ack may have been lost. Fault: 3."""
    circuit = viewer()
    feed(circuit, KILL, 7, reliable=True)
    assert sent(circuit, 1.0) == [PacketAck((PacketAck.Packets(7),))]
    feed(circuit, KILL, 7, 1.0, reliable=True, resent=True)
    assert sent(circuit, 2.0) == [PacketAck((PacketAck.Packets(7),))]
    assert events(circuit) == [MessageReceived(KILL, 7)]
    feed(circuit, KILL, 7 + 100_000, reliable=True)
    feed(circuit, KILL, 7, reliable=True)
    figures = circuit.statistics()
    assert (figures.duplicates, figures.ancient, figures.acks_owed) == (1, 1, 1)


def test_malformed_packets_and_messages_are_counted_and_the_circuit_lives() -> None:
    """Cut frames, bombs, cut bodies, unknown numbers. Fault: 4, 5."""
    circuit = viewer()
    for data in (
        b"",
        b"\0\0\0\0\1\0\xff",
        b"\x80\0\0\0\2\0\x0c" + b"\0\xff" * 700,
        b"\0\0\0\0\3\0\x10\xff",
        b"\0\0\0\0\4\0\2",
    ):
        circuit.receive_datagram_untrusted(data, PEER, 1.0)
    circuit.receive_datagram_untrusted(b"\x40\0\0\0\5\0\xff\xff\xff\x01", PEER, 1.0)
    feed(circuit, KILL, 6)
    assert events(circuit) == [MessageReceived(KILL, 6)]
    figures = circuit.statistics()
    assert (figures.malformed, figures.skipped, figures.acks_owed) == (5, 1, 1)
    assert circuit.state is CircuitState.OPEN


@given(st.lists(st.tuples(st.binary(max_size=60), st.booleans()), max_size=30))
def test_no_datagram_makes_a_circuit_raise(steps) -> None:
    """Whatever comes is taken or dropped, and what leaves is well formed. Fault: 5."""
    circuit = viewer(session=(AGENT, SESSION))
    for number, (data, framed) in enumerate(steps):
        circuit.receive_datagram_untrusted(b"\x50\0\0\0" + data if framed else data, PEER, number * 0.1)
        events(circuit)
        for out in sent(circuit, number * 0.1):
            assert out is not None
        circuit.handle_timer(number * 0.1)
    assert circuit.statistics().acks_owed <= ACKS_PENDING_MAX


def test_pings_are_answered_at_once_and_sent() -> None:
    """Unreliable, before everything else; answers measure the distance."""
    circuit = viewer()
    feed(circuit, StartPingCheck(StartPingCheck.PingID(9, 0)), 1)
    assert sent(circuit, 0.0) == [CompletePingCheck(CompletePingCheck.PingID(9))]
    assert circuit.get_timer() == 5.0
    circuit.handle_timer(5.0)
    assert sent(circuit, 5.0) == [StartPingCheck(StartPingCheck.PingID(0, 2))]
    feed(circuit, CompletePingCheck(CompletePingCheck.PingID(0)), 2, 5.25)
    assert circuit.statistics().round_trip_s == 0.25
    assert events(circuit) == []


def test_a_reliable_message_is_delivered_or_lost() -> None:
    """Its outcome names it, by token and by itself. Spec: LIV-2."""
    circuit = viewer(config=CircuitConfig(resends_max=1))
    first = circuit.send(CHAT, reliable=True)
    second = circuit.send(KILL, reliable=True)
    circuit.send(KILL)
    assert len(sent(circuit, 0.0)) == 3
    assert (circuit.statistics().unacked, circuit.statistics().unacked_bytes > 0) == (2, True)
    feed(circuit, PacketAck((PacketAck.Packets(1), PacketAck.Packets(500))), 1, 0.3)
    assert events(circuit) == [MessageDelivered(first, CHAT)]
    assert circuit.statistics().ack_time_s == pytest.approx(0.3)
    for now in (1.3, 3.3, 5.3):
        feed(circuit, CACHED, int(now * 10), now)
        circuit.handle_timer(now)
        sent(circuit, now)
    assert [event for event in events(circuit) if not isinstance(event, MessageReceived)] == [MessageLost(second, KILL)]
    figures = circuit.statistics()
    assert (figures.resent, figures.lost, figures.unacked) == (1, 1, 0)


def test_appended_acks_count_like_others() -> None:
    """They ride on any packet, also on one that is skipped."""
    circuit = viewer(wanted=())
    token = circuit.send(CHAT, reliable=True)
    sent(circuit, 0.0)
    feed(circuit, CACHED, 1, acks=(1,))
    assert events(circuit) == [MessageDelivered(token, CHAT)]
    assert circuit.statistics().skipped == 1


def test_what_nobody_wants_is_acknowledged_and_not_read() -> None:
    """A malformed message of that kind does not even show. Spec: LIV-9."""
    circuit = viewer(wanted=[ChatFromSimulator])
    circuit.receive_datagram_untrusted(b"\x40\0\0\0\1\0\x0e\xff", PEER, 0.0)
    feed(circuit, CHAT, 2, reliable=True)
    assert [type(event) for event in events(circuit)] == [MessageReceived]
    figures = circuit.statistics()
    assert (figures.skipped, figures.malformed, figures.acks_owed) == (1, 0, 2)


def test_messages_that_come_by_the_event_queue_only_are_refused_here() -> None:
    """Anybody could forge an address to go to; a viewer's peer may send what it is trusted with. Spec: LIV-4."""
    circuit = viewer()
    feed(circuit, EnableSimulator(EnableSimulator.SimulatorInfo(0, bytes(4), 0)), 1)
    feed(circuit, KICK, 2)
    assert [type(event.message) for event in events(circuit) if isinstance(event, MessageReceived)] == [KickUser]
    simulator = viewer(role=Role.SIMULATOR)
    feed(simulator, KICK, 1)
    feed(simulator, AgentDataUpdateRequest(AgentSession(AGENT, SESSION)), 2)
    assert [type(event.message) for event in events(simulator) if isinstance(event, MessageReceived)] == [
        AgentDataUpdateRequest
    ]
    assert (circuit.statistics().refused_over_udp, simulator.statistics().refused_over_udp) == (1, 1)


def test_an_extra_header_is_counted() -> None:
    """None is known to exist; if one does, an operator should see it."""
    circuit = viewer()
    circuit.receive_datagram_untrusted(b"\0\0\0\0\1\2\x10ab\x01\0\0\0\0", PEER, 0.0)
    assert events(circuit) == [MessageReceived(KillObject((KillObject.ObjectData(0),)), 1)]
    assert circuit.statistics().extra_headers == 1


def test_chatter_is_shed_first_and_control_last() -> None:
    """What is shed is not acknowledged, so that a reliable packet comes again. Spec: LIV-9, Fault: 6."""
    circuit = viewer()
    number = 0
    for message, most in ((CACHED, EVENTS_CHATTER_MAX), (CHAT, EVENTS_MAX), (KICK, EVENTS_CONTROL_MAX)):
        while circuit.statistics().shed == 0 or len_of(circuit) < most:
            before = len_of(circuit)
            number += 1
            feed(circuit, message, number, reliable=False)
            if len_of(circuit) == before:
                break
        assert len_of(circuit) == most
    feed(circuit, StartPingCheck(StartPingCheck.PingID(1, 0)), number + 1)
    feed(circuit, CHAT, number + 2, reliable=True)
    assert circuit.statistics().acks_owed == 0
    assert sent(circuit, 0.0) == [CompletePingCheck(CompletePingCheck.PingID(1))]
    assert len(events(circuit)) == EVENTS_CONTROL_MAX
    feed(circuit, CHAT, number + 2, reliable=True, resent=True)
    assert events(circuit) == [MessageReceived(CHAT, number + 2)]
    assert circuit.statistics().inbox_peak == EVENTS_CONTROL_MAX


def len_of(circuit: Circuit) -> int:
    """How many events wait."""
    return circuit.statistics().inbox


def test_a_hundred_thousand_updates_cost_bounded_memory() -> None:
    """With nobody taking them; acks and pings are still dealt with. Fault: 6."""
    circuit = viewer()
    frame = b"\x40" + bytes(5) + b"\x0e" + bytes(1200)
    tracemalloc.start()
    try:
        for number in range(20_000):
            circuit.receive_datagram_untrusted(frame[:1] + number.to_bytes(4, "big") + frame[5:], PEER, 0.0)
        assert tracemalloc.get_traced_memory()[0] < 8 * 1024 * 1024
    finally:
        tracemalloc.stop()
    figures = circuit.statistics()
    assert figures.inbox <= EVENTS_CHATTER_MAX
    assert figures.shed + figures.inbox == 20_000


def test_too_many_acks_owed_are_packets_not_taken() -> None:
    """At the ceiling a reliable packet is as good as lost on the wire. Spec: LIV-2."""
    circuit = viewer(wanted=())
    for number in range(ACKS_PENDING_MAX + 5):
        feed(circuit, CACHED, number, reliable=True)
    figures = circuit.statistics()
    assert (figures.acks_owed, figures.shed) == (ACKS_PENDING_MAX, 5)
    assert len(circuit.datagrams_to_send(1.0)) == 14
    assert circuit.statistics().acks_owed == 0


def test_silence_ends_a_circuit() -> None:
    """After 60 s without a word everything open is lost, and nothing leaves any more. Fault: 7."""
    circuit = viewer()
    token = circuit.send(CHAT, reliable=True)
    sent(circuit, 0.0)
    circuit.receive_datagram_untrusted(b"junk", PEER, 50.0)
    now = 0.0
    while (timer := circuit.get_timer()) is not None:
        now = timer
        circuit.handle_timer(now)
        circuit.datagrams_to_send(now)
    assert now == 60.0
    assert events(circuit) == [MessageLost(token, CHAT), CircuitEnded(CircuitEnd.SILENCE)]
    feed(circuit, KILL, 1, 61.0)
    circuit.handle_timer(62.0)
    assert (circuit.statistics().late, circuit.datagrams_to_send(62.0), circuit.next_event()) == (1, [], None)
    with pytest.raises(LocalProtocolError, match="not open"):
        circuit.send(KILL)


@pytest.mark.parametrize("heard_at", [46.69281961442614 - 30.0, 0.1, 1.1, 2.675, 16.7, 1e9 + 0.3])
@pytest.mark.parametrize("dead_after_s", [30.0, 60.1])
def test_the_silence_is_over_at_the_moment_of_the_timer(heard_at: float, dead_after_s: float) -> None:
    """Not a rounding later: whoever wakes at the timer would be told to wake at the same moment. Fault: 7."""
    config = CircuitConfig(dead_after_s=dead_after_s)
    circuit = Circuit(PEER, now=heard_at, role=Role.VIEWER, config=config)
    while (timer := circuit.get_timer()) is not None and timer < heard_at + dead_after_s:
        circuit.handle_timer(timer)
        circuit.datagrams_to_send(timer)
    circuit.handle_timer(heard_at + dead_after_s)
    assert events(circuit) == [CircuitEnded(CircuitEnd.SILENCE)]


def test_the_peer_can_close() -> None:
    """What was open is lost, what waited too, and the end comes last. Fault: 8."""
    circuit = viewer(config=CircuitConfig(send_burst_bytes=1.0, send_rate_bytes_s=1.0))
    tokens = [circuit.send(CHAT, reliable=True) for _ in range(2)]
    sent(circuit, 0.0)
    feed(circuit, DisableSimulator(), 1)
    feed(circuit, CloseCircuit(), 2)
    assert events(circuit) == [
        MessageReceived(DisableSimulator(), 1),
        *[MessageLost(token, CHAT) for token in tokens],
        CircuitEnded(CircuitEnd.CLOSED_BY_PEER),
    ]
    circuit.close()
    assert circuit.state is CircuitState.ENDED


def test_we_can_close() -> None:
    """A farewell leaves once, and then nothing. Closing twice does nothing."""
    circuit = viewer()
    circuit.close()
    circuit.close()
    assert circuit.get_timer() is None
    assert sent(circuit, 1.0) == [CloseCircuit()]
    assert sent(circuit, 2.0) == []
    assert events(circuit) == [CircuitEnded(CircuitEnd.CLOSED_BY_US)]


def test_sending_asks_for_a_message_that_can_be_written() -> None:
    """A value its field cannot carry is refused at once, not when it leaves."""
    with pytest.raises(LocalProtocolError):
        viewer().send(StartPingCheck(StartPingCheck.PingID(999, 0)))
    assert viewer().send(RetrieveInstantMessages(AgentSession(AGENT, SESSION))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_recorded_conversations_are_followed(name: str) -> None:
    """Each recorded packet is handled once and acknowledged; nothing recorded is malformed. Spec: LIV-2, LIV-3."""
    flows: dict[tuple[int, int], list[tuple[float, bytes]]] = {}
    for one in datagrams(name):
        flows.setdefault((one.source, one.target), []).append((one.time, one.data))
    for (source, _), packets in flows.items():
        role = Role.VIEWER if source in {9000, 9001} else Role.SIMULATOR
        circuit = Circuit(PEER, now=packets[0][0], role=role)
        acknowledged: list[int] = []
        received: list[int] = []
        for now, data in packets:
            circuit.receive_datagram_untrusted(data, PEER, now)
            for out, _ in circuit.datagrams_to_send(now + 0.3):
                packet = decode_packet_untrusted(out)
                acknowledged += packet.acks
                message = read_message_untrusted(packet)
                if isinstance(message, PacketAck):
                    acknowledged += [one.id for one in message.packets]
            received += [event.sequence for event in events(circuit) if isinstance(event, MessageReceived)]
        reliable = {decode_packet_untrusted(data).sequence for _, data in packets if data[0] & 0x40}
        assert set(acknowledged) == reliable
        assert len(received) == len(set(received))
        figures = circuit.statistics()
        assert (figures.malformed, figures.shed, figures.ancient, figures.extra_headers) == (0, 0, 0, 0)
        assert figures.packets_in == len(packets)
        repeated = len(packets) - len({decode_packet_untrusted(data).sequence for _, data in packets})
        assert figures.duplicates == repeated
