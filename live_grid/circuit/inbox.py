"""What arrived and was not taken yet: packets still unread, outcomes, and the end.

Owns the bounds of that buffer, in number and in bytes, and the reading of a packet's message at the moment
somebody takes it. Outcomes and the end always fit: the sender accepts no more messages than that.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from live_grid.circuit.events import (
    CircuitEnded,
    CircuitEvent,
    Counters,
    MessageDelivered,
    MessageLost,
    MessageReceived,
)
from live_grid.errors import RemoteProtocolError
from live_grid.limits import EVENTS_CONTROL_MAX, SENDS_OPEN_MAX
from live_grid.packet import Packet, read_message_untrusted

__all__ = ("Inbox",)

_END: Final = 1
_BYTES_AN_EVENT_SHIFT: Final = 10
"""Packets may take a KiB each on average: the bound in bytes that goes with a bound in number."""


class Inbox:
    """Events of one circuit that its owner has not taken yet.

    Args:
        counters: where malformed messages are counted.
    """

    __slots__ = ("_counters", "_events", "bytes", "outcomes", "peak")

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._events: deque[Packet | CircuitEvent] = deque(maxlen=EVENTS_CONTROL_MAX + SENDS_OPEN_MAX + _END)
        self.bytes = 0
        """Bytes of the packets in it."""
        self.outcomes = 0
        """Outcomes in it."""
        self.peak = 0
        """Most events it ever held when somebody came to take one."""

    def __len__(self) -> int:
        return len(self._events)

    def has_room(self, patience: int) -> bool:
        """Tell whether a message of this patience still gets in; see `live_grid.circuit.shedding`."""
        return len(self._events) < patience and self.bytes < patience << _BYTES_AN_EVENT_SHIFT

    def put_packet(self, packet: Packet) -> None:
        """Keep a packet whose message somebody wants; there must be room."""
        self._events.append(packet)
        self.bytes += len(packet.coded)

    def put_outcome(self, outcome: MessageDelivered | MessageLost) -> None:
        """Keep what became of a message of ours."""
        self._events.append(outcome)
        self.outcomes += 1

    def put_end(self, end: CircuitEnded) -> None:
        """Keep the end of the circuit; nothing is put after it."""
        self._events.append(end)

    def take(self) -> CircuitEvent | None:
        """Take the next event, if any; malformed messages are counted and passed over (Fault: 5)."""
        events = self._events
        self.peak = max(self.peak, len(events))
        while events:
            item = events.popleft()
            if isinstance(item, Packet):
                self.bytes -= len(item.coded)
                try:
                    return MessageReceived(read_message_untrusted(item), item.sequence)
                except RemoteProtocolError:
                    self._counters.malformed += 1
                    continue
            if isinstance(item, MessageDelivered | MessageLost):
                self.outcomes -= 1
            return item
        return None
