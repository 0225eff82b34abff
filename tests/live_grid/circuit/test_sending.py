"""The sending half: order, riding acks, bounds."""

from __future__ import annotations

import pytest

from live_grid.circuit.config import CircuitConfig
from live_grid.circuit.events import Counters
from live_grid.circuit.sending import Sender
from live_grid.errors import LimitReached
from live_grid.limits import DATAGRAM_OUT_MAX_BYTES, SENDS_OPEN_MAX, SENDS_OPEN_MAX_BYTES
from live_grid.messages import NIL, Message
from live_grid.messages.circuits import CloseCircuit, PacketAck, StartPingCheck
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ChatFromViewer
from live_grid.packet import decode_packet_untrusted, read_message_untrusted

SLOW = CircuitConfig(send_rate_bytes_s=100.0, send_burst_bytes=10.0)


def sender(config: CircuitConfig | None = None) -> Sender:
    """A sender that has sent nothing."""
    return Sender(config=config or CircuitConfig(), counters=Counters(), now=0.0)


def chat(size: int) -> Message:
    """A message of about this size that does not get shorter by zero-coding."""
    return ChatFromViewer(AgentSession(b"\1" * 16, b"\1" * 16), ChatFromViewer.ChatData(b"x" * size, 1, 0x01010101))


def names(datagrams: list[bytes]) -> list[str]:
    """Name the messages of datagrams."""
    return [decode_packet_untrusted(data).name for data in datagrams]


def test_answers_and_pings_leave_before_messages() -> None:
    """Pong, ping, resend, message: in that order, and acks ride on the first. Spec: LIV-2."""
    one = sender()
    one.send(chat(3), reliable=True, outcomes_untaken=0)
    assert names(list(one.datagrams(0.0))) == ["ChatFromViewer"]
    assert list(one.expire(6.0)) == []
    one.send(CloseCircuit(), reliable=False, outcomes_untaken=0)
    one.pings.owe(3)
    one.acks.owe(44, 6.0)
    out = list(one.datagrams(6.0))
    assert names(out) == ["CompletePingCheck", "StartPingCheck", "ChatFromViewer", "CloseCircuit"]
    packets = [decode_packet_untrusted(data) for data in out]
    assert [packet.acks for packet in packets] == [(44,), (), (), ()]
    assert [packet.sequence for packet in packets] == [2, 3, 1, 4]
    assert [(packet.reliable, packet.resent) for packet in packets[2:]] == [(True, True), (False, False)]


def test_our_ping_names_the_oldest_open_packet() -> None:
    """Or, if none is open, the next number to come."""
    one = sender()
    idle = read_message_untrusted(decode_packet_untrusted(next(iter(one.datagrams(5.0)))))
    assert idle == StartPingCheck(StartPingCheck.PingID(0, 1))
    one.send(chat(3), reliable=True, outcomes_untaken=0)
    one.send(chat(3), reliable=True, outcomes_untaken=0)
    list(one.datagrams(5.0))
    busy = read_message_untrusted(decode_packet_untrusted(next(iter(one.datagrams(10.0)))))
    assert busy == StartPingCheck(StartPingCheck.PingID(1, 2))


def test_acks_leave_alone_when_they_are_due() -> None:
    """All of them, in as few packets as they fit in."""
    one = sender()
    for number in range(300):
        one.acks.owe(number, 1.0)
    out = [decode_packet_untrusted(data) for data in one.datagrams(1.0)]
    sent = [ack for packet in out for ack in packet.acks]
    for packet in out:
        message = read_message_untrusted(packet)
        assert isinstance(message, PacketAck)
        sent += [one.id for one in message.packets]
    assert sorted(sent) == list(range(300))
    assert len(out) == 2
    one.acks.owe(7, 2.0)
    assert one.timer() == 2.2
    assert list(one.datagrams(2.1)) == []
    assert names(list(one.datagrams(2.2))) == ["PacketAck"]


def test_no_datagram_is_longer_than_allowed() -> None:
    """Acks ride as far as there is room, and none on a packet that is full."""
    one = sender()
    for number in range(150):
        one.acks.owe(number, 1.0)
    for size in (1151, 1100, 3):
        one.send(chat(size), reliable=False, outcomes_untaken=0)
    out = list(one.datagrams(1.0))
    assert all(len(data) <= DATAGRAM_OUT_MAX_BYTES for data in out)
    assert [len(decode_packet_untrusted(data).acks) for data in out] == [0, 12, 138]


def test_the_throttle_holds_messages_and_resends_back() -> None:
    """Pings and acks leave all the same; the timer names the moment to go on. Spec: LIV-2."""
    one = sender(SLOW)
    for _ in range(3):
        one.send(chat(3), reliable=True, outcomes_untaken=0)
    first = list(one.datagrams(0.0))
    assert names(first) == ["ChatFromViewer"]
    assert (one.waiting, len(one.reliability)) == (2, 1)
    assert list(one.datagrams(0.0)) == []
    again = one.timer()
    assert again == pytest.approx((len(first[0]) - 10 + 1) / 100)
    assert names(list(one.datagrams(again))) == ["ChatFromViewer"]
    one.pings.owe(1)
    assert list(one.expire(1.6)) == []
    assert names(list(one.datagrams(1.6)))[0] == "CompletePingCheck"


def test_a_flood_of_acks_does_not_silence_us() -> None:
    """What comes in does not count against what we may say. Fault: 6."""
    one = sender(CircuitConfig(send_rate_bytes_s=100.0, send_burst_bytes=100.0))
    for number in range(4000):
        one.acks.owe(number, 0.0)
        one.pings.owe(number % 256)
    assert len(list(one.datagrams(0.0))) == 256
    one.send(chat(3), reliable=False, outcomes_untaken=0)
    assert names(list(one.datagrams(0.0))) == ["ChatFromViewer"]


def test_an_ack_that_comes_before_the_resend_makes_it_needless() -> None:
    """What was overdue and is delivered meanwhile does not leave again."""
    one = sender(SLOW)
    one.send(chat(3), reliable=True, outcomes_untaken=0)
    list(one.datagrams(0.0))
    one.acks.owe(1, 1.4)
    one._bucket.charge(1000)
    assert list(one.expire(1.5)) == []
    assert names(list(one.datagrams(1.6))) == ["PacketAck"]
    assert one.timer() == 5.0
    assert len(list(one.reliability.acknowledge([1], 2.0))) == 1
    assert names(list(one.datagrams(30.0))) == ["StartPingCheck"]


def test_reliable_messages_without_an_outcome_are_bounded() -> None:
    """Open, waiting and untaken ones count together. Spec: LIV-2."""
    one = sender()
    for _ in range(SENDS_OPEN_MAX - 1):
        one.send(CloseCircuit(), reliable=True, outcomes_untaken=0)
    with pytest.raises(LimitReached, match="without an outcome"):
        one.send(CloseCircuit(), reliable=True, outcomes_untaken=1)
    one.send(CloseCircuit(), reliable=True, outcomes_untaken=0)
    with pytest.raises(LimitReached, match="without an outcome"):
        one.send(CloseCircuit(), reliable=True, outcomes_untaken=0)
    assert one.send(CloseCircuit(), reliable=False, outcomes_untaken=0) == SENDS_OPEN_MAX + 1


def test_bytes_of_reliable_messages_are_bounded() -> None:
    """A few large ones count like many small ones."""
    one = sender()
    one.reliability.bytes_open = SENDS_OPEN_MAX_BYTES - 10
    with pytest.raises(LimitReached, match="bytes of reliable"):
        one.send(chat(100), reliable=True, outcomes_untaken=0)


def test_the_end_names_everything_that_did_not_get_through() -> None:
    """Sent or still waiting, each reliable message once; a farewell goes past them all."""
    one = sender(SLOW)
    tokens = [one.send(chat(3), reliable=reliable, outcomes_untaken=0) for reliable in (True, False, True)]
    list(one.datagrams(0.0))
    assert names([one.farewell(CloseCircuit())]) == ["CloseCircuit"]
    assert [token for token, _ in one.give_up()] == [tokens[0], tokens[2]]
    assert (one.waiting, len(one.reliability)) == (0, 0)
    assert bytes(16) == NIL
