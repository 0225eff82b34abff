"""Every hard ceiling of the protocol package, with the reason for its number.

Owns the numbers and nothing else; each core names the ceiling it keeps. Nothing here is infinite,
and nothing a peer sends can raise one (Spec: LIV-3, BND-7).
"""

from __future__ import annotations

from typing import Final

__all__ = (
    "ACKS_APPENDED_MAX",
    "ACKS_PENDING_MAX",
    "ACK_DELAY_S",
    "BODY_MAX_BYTES",
    "CAPABILITIES_MAX",
    "DATAGRAM_IN_MAX_BYTES",
    "DATAGRAM_OUT_MAX_BYTES",
    "DEAD_AFTER_S",
    "DUPLICATE_WINDOW",
    "EVENTS_CHATTER_MAX",
    "EVENTS_CONTROL_MAX",
    "EVENTS_MAX",
    "EVENT_QUEUE_EVENTS_MAX",
    "GRID_INFO_MAX_BYTES",
    "HTTP_BODY_MAX_BYTES",
    "LLSD_DEPTH_MAX",
    "LLSD_NODES_MAX",
    "LOGIN_DEPTH_MAX",
    "MFA_HASH_MAX_CHARACTERS",
    "OUTBOX_MAX_BYTES",
    "OUTBOX_MAX_PACKETS",
    "PING_EVERY_S",
    "SENDS_OPEN_MAX",
    "SENDS_OPEN_MAX_BYTES",
    "URL_MAX_CHARACTERS",
)

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- datagrams ---------------------------------------------------------------------------------
DATAGRAM_IN_MAX_BYTES: Final = 8 * KIB
"""One incoming datagram. Simulators keep to 1,400 bytes; the viewer's own receive buffer is 8 KiB."""
DATAGRAM_OUT_MAX_BYTES: Final = 1_200
"""One outgoing datagram, appended acks included: the payload ceiling of both server families."""
BODY_MAX_BYTES: Final = 0x3000
"""A message after zero expansion. A full scene update stays under 8 KiB; a bomb asks for 127 times its size."""
# --- circuit: what we owe and what we wait for ---------------------------------------------------
ACKS_APPENDED_MAX: Final = 255
"""Acks on the tail of one packet: their count is one byte."""
ACKS_PENDING_MAX: Final = 4_096
"""Acks owed; at the ceiling the packet is treated as lost on the wire, so the peer sends it again."""
ACK_DELAY_S: Final = 0.2
"""Longest time an ack waits for a packet to ride on; later ones cause resends."""
SENDS_OPEN_MAX: Final = 512
"""Reliable messages accepted and not yet reported delivered or lost; one more is refused."""
SENDS_OPEN_MAX_BYTES: Final = 512 * KIB
"""Bytes of those messages; one more is refused."""
OUTBOX_MAX_PACKETS: Final = 1_024
"""Messages waiting for the throttle; one more is refused."""
OUTBOX_MAX_BYTES: Final = 512 * KIB
"""Bytes waiting for the throttle; one more is refused."""
DUPLICATE_WINDOW: Final = 65_536
"""Sequence numbers remembered: 3 s at 20,000 packets/s, longer than any resend takes. A power of two."""
EVENTS_CHATTER_MAX: Final = 4_096
"""Undrained messages at which object chatter is shed (Spec: LIV-9)."""
EVENTS_MAX: Final = 6_144
"""Undrained messages at which everything but control is shed."""
EVENTS_CONTROL_MAX: Final = 8_192
"""Undrained messages at which even control waits to be resent by the peer."""
PING_EVERY_S: Final = 5.0
"""Pause between our own pings."""
DEAD_AFTER_S: Final = 60.0
"""Silence after which a circuit is dead (OpenSimulator's own default)."""
# --- HTTP bodies -------------------------------------------------------------------------------
HTTP_BODY_MAX_BYTES: Final = 8 * MIB
"""One HTTP body (Spec: BND-7)."""
GRID_INFO_MAX_BYTES: Final = 64 * KIB
"""The answer of a grid-information page."""
LLSD_DEPTH_MAX: Final = 64
"""Nesting of LLSD; real capabilities stay under 12."""
LLSD_NODES_MAX: Final = 262_144
"""Values in one LLSD document: an inventory of 10,000 items needs 210,000."""
LOGIN_DEPTH_MAX: Final = 96
"""Nesting of XML elements in a login reply, where each value takes four levels."""
MFA_HASH_MAX_CHARACTERS: Final = 1_024
"""The proof that a grid gives for a passed one-time code: a hash and a moment; it is kept in a file."""
EVENT_QUEUE_EVENTS_MAX: Final = 1_024
"""Events in one answer of the event queue; Second Life overflows its queue at about 100."""
CAPABILITIES_MAX: Final = 512
"""Capabilities in one seed answer; grids offer about 100."""
URL_MAX_CHARACTERS: Final = 2_048
"""One capability address."""
