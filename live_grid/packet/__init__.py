"""Packets: framing, zero-coding and appended acks; the codec between datagrams and messages."""

from live_grid.packet.codec import RELIABLE as RELIABLE
from live_grid.packet.codec import RESENT as RESENT
from live_grid.packet.codec import ZEROCODED as ZEROCODED
from live_grid.packet.codec import Packet as Packet
from live_grid.packet.codec import Payload as Payload
from live_grid.packet.codec import assemble as assemble
from live_grid.packet.codec import decode_packet_untrusted as decode_packet_untrusted
from live_grid.packet.codec import encode_message as encode_message
from live_grid.packet.codec import encode_packet as encode_packet
from live_grid.packet.codec import read_message_untrusted as read_message_untrusted

__all__ = (
    "RELIABLE",
    "RESENT",
    "ZEROCODED",
    "Packet",
    "Payload",
    "assemble",
    "decode_packet_untrusted",
    "encode_message",
    "encode_packet",
    "read_message_untrusted",
)
