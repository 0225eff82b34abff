"""What a circuit tells its owner, and what it counts.

Owns the event structs and the figures; no behaviour. Events come in the order of their causes.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec

from live_grid.messages.notation import Message

__all__ = (
    "CircuitEnd",
    "CircuitEnded",
    "CircuitEvent",
    "CircuitStatistics",
    "Counters",
    "MessageDelivered",
    "MessageLost",
    "MessageReceived",
)


class CircuitEnd(Enum):
    """How a circuit came to its end."""

    CLOSED_BY_US = "closed_by_us"
    CLOSED_BY_PEER = "closed_by_peer"
    SILENCE = "silence"
    """Nothing was heard for too long (Fault: 7)."""


class MessageReceived(msgspec.Struct, frozen=True, gc=False):
    """A message arrived, for the first time."""

    message: Message
    sequence: int


class MessageDelivered(msgspec.Struct, frozen=True, gc=False):
    """The peer has received a reliable message; that says nothing of what it did with it."""

    token: int
    """What `Circuit.send` returned."""
    message: Message


class MessageLost(msgspec.Struct, frozen=True, gc=False):
    """A reliable message was not acknowledged; it may have arrived nevertheless."""

    token: int
    """What `Circuit.send` returned."""
    message: Message


class CircuitEnded(msgspec.Struct, frozen=True, gc=False):
    """The circuit is over; nothing follows."""

    end: CircuitEnd


CircuitEvent: TypeAlias = MessageReceived | MessageDelivered | MessageLost | CircuitEnded


class Counters:
    """Running counts of one circuit."""

    __slots__ = (
        "acks_in",
        "ancient",
        "bytes_in",
        "bytes_out",
        "duplicates",
        "extra_headers",
        "foreign",
        "late",
        "lost",
        "malformed",
        "other_session",
        "packets_in",
        "packets_out",
        "refused_over_udp",
        "resent",
        "shed",
        "skipped",
    )

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, 0)

    acks_in: int
    ancient: int
    bytes_in: int
    bytes_out: int
    duplicates: int
    extra_headers: int
    foreign: int
    late: int
    lost: int
    malformed: int
    other_session: int
    packets_in: int
    packets_out: int
    refused_over_udp: int
    resent: int
    shed: int
    skipped: int


class CircuitStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A circuit's figures at one moment (Spec: LIV-12)."""

    packets_in: int
    packets_out: int
    bytes_in: int
    bytes_out: int
    acks_in: int
    """Acks received, appended or not."""
    duplicates: int
    """Packets that came again; acknowledged again, handled once."""
    ancient: int
    """Packets from behind the duplicate window; dropped unacknowledged."""
    foreign: int
    """Datagrams from another address; dropped unread (Fault: 1)."""
    late: int
    """Datagrams after the end of the circuit; dropped unread."""
    other_session: int
    """Messages that name another session; dropped unacknowledged (Fault: 2)."""
    malformed: int
    """Packets and messages that could not be read (Fault: 5)."""
    refused_over_udp: int
    """Messages that may not come this way: by the event queue only, or from a simulator only."""
    shed: int
    """Packets dropped unacknowledged because nobody took what came before (Fault: 6)."""
    skipped: int
    """Messages acknowledged and not read, because nobody wants them."""
    extra_headers: int
    """Packets with an extra header; none are known to exist."""
    resent: int
    lost: int
    unacked: int
    """Reliable messages that wait for their ack."""
    unacked_bytes: int
    waiting: int
    """Messages that wait for the throttle."""
    inbox: int
    """Events nobody took yet."""
    inbox_peak: int
    acks_owed: int
    round_trip_s: float | None
    """Smoothed, of pings."""
    ack_time_s: float | None
    """Smoothed, from sending to ack, the peer's batching included."""
    heard_at: float
    """When the last packet came, on the caller's clock."""
