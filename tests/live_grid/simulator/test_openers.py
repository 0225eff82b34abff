"""The one message that may come from an address nobody knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.messages.circuits import CompleteAgentMovement, PacketAck, UseCircuitCode
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted
from live_grid.simulator.openers import blind_ack, read_opener_untrusted

OPENER = UseCircuitCode(circuit_code=UseCircuitCode.CircuitCode(7, b"s" * 16, b"a" * 16))


def test_an_opener_is_read_and_nothing_else() -> None:
    """Another message of a client does not open a circuit. Spec: LIV-15."""
    assert read_opener_untrusted(encode_packet(OPENER, sequence=3, reliable=True)) == OPENER
    other = CompleteAgentMovement(agent_data=CompleteAgentMovement.AgentData(b"a" * 16, b"s" * 16, 7))
    assert read_opener_untrusted(encode_packet(other, sequence=3)) is None


@pytest.mark.parametrize("cut", [0, 5, 9, 12, 20])
def test_half_an_opener_opens_nothing(cut: int) -> None:
    """Cut anywhere. Fault: 1."""
    assert read_opener_untrusted(encode_packet(OPENER, sequence=3)[:cut]) is None


@given(st.binary(max_size=64))
def test_bytes_of_a_stranger_never_raise(data: bytes) -> None:
    """Whatever they are. Fault: 2."""
    read = read_opener_untrusted(data)
    assert read is None or isinstance(read, UseCircuitCode)


def test_only_an_opener_that_asks_is_acknowledged() -> None:
    """With its own number, in a packet that belongs to no circuit. Spec: LIV-15."""
    assert blind_ack(encode_packet(OPENER, sequence=0x01020304)) is None
    ack = blind_ack(encode_packet(OPENER, sequence=0x01020304, reliable=True))
    message = read_message_untrusted(decode_packet_untrusted(ack))
    assert message == PacketAck(packets=(PacketAck.Packets(0x01020304),))
