"""The one message that may come from an address nobody knows: the one that opens a circuit.

Owns the reading of it, and the ack that OpenSimulator gives before it looks at it (Spec: LIV-15, Fault: 2).
"""

from __future__ import annotations

from typing import Final

from live_grid.errors import RemoteProtocolError
from live_grid.messages import BY_NAME
from live_grid.messages.circuits import PacketAck, UseCircuitCode
from live_grid.packet import RELIABLE, decode_packet_untrusted, encode_packet, read_message_untrusted

__all__ = ("blind_ack", "read_opener_untrusted")

_OPENER: Final = BY_NAME["UseCircuitCode"].number


def read_opener_untrusted(data: bytes) -> UseCircuitCode | None:
    """Read a datagram that wants to open a circuit, and no other; it never raises."""
    try:
        packet = decode_packet_untrusted(data)
        if packet.number != _OPENER:
            return None
        message = read_message_untrusted(packet)
    except RemoteProtocolError:
        return None
    return message if isinstance(message, UseCircuitCode) else None


def blind_ack(data: bytes) -> bytes | None:
    """Make the datagram that acknowledges an opener without a circuit, if it asks for an ack."""
    if not data[0] & RELIABLE:
        return None
    sequence = int.from_bytes(data[1:5], "big")
    return encode_packet(PacketAck(packets=(PacketAck.Packets(sequence),)), sequence=1)
