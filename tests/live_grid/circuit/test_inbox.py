"""Events that nobody took yet."""

from __future__ import annotations

from live_grid.circuit.events import (
    CircuitEnd,
    CircuitEnded,
    Counters,
    MessageDelivered,
    MessageLost,
    MessageReceived,
)
from live_grid.circuit.inbox import Inbox
from live_grid.messages.circuits import CloseCircuit, StartPingCheck
from live_grid.packet import Packet, decode_packet_untrusted, encode_packet

PING = StartPingCheck(StartPingCheck.PingID(1, 2))


def packet(sequence: int) -> Packet:
    """A packet with a message."""
    return decode_packet_untrusted(encode_packet(PING, sequence=sequence))


def test_events_come_in_the_order_of_their_causes() -> None:
    """Messages, outcomes and the end share one line."""
    inbox = Inbox(Counters())
    inbox.put_packet(packet(5))
    inbox.put_outcome(MessageDelivered(1, CloseCircuit()))
    inbox.put_outcome(MessageLost(2, CloseCircuit()))
    inbox.put_end(CircuitEnded(CircuitEnd.SILENCE))
    assert (len(inbox), inbox.outcomes, inbox.bytes) == (4, 2, 5)
    assert inbox.take() == MessageReceived(PING, 5)
    assert (inbox.bytes, inbox.peak) == (0, 4)
    assert inbox.take() == MessageDelivered(1, CloseCircuit())
    assert inbox.take() == MessageLost(2, CloseCircuit())
    assert inbox.outcomes == 0
    assert inbox.take() == CircuitEnded(CircuitEnd.SILENCE)
    assert inbox.take() is None


def test_malformed_messages_are_counted_and_passed_over() -> None:
    """The next good one is returned. Fault: 5."""
    counters = Counters()
    inbox = Inbox(counters)
    inbox.put_packet(Packet(0, 1, 1, b"\x01", 0, (), 0))
    inbox.put_packet(packet(6))
    assert inbox.take() == MessageReceived(PING, 6)
    assert counters.malformed == 1
    inbox.put_packet(Packet(0, 1, 1, b"\x01", 0, (), 0))
    assert inbox.take() is None


def test_room_is_counted_in_messages_and_in_bytes() -> None:
    """A KiB each on average is what the bound in number stands for. Fault: 6."""
    inbox = Inbox(Counters())
    assert inbox.has_room(2)
    inbox.put_packet(packet(1))
    assert inbox.has_room(2)
    inbox.put_packet(packet(2))
    assert not inbox.has_room(2)
    assert inbox.has_room(3)
    inbox.put_packet(Packet(0, 3, 1, bytes(8192), 0, (), 0))
    assert not inbox.has_room(8)
    assert inbox.has_room(9)
