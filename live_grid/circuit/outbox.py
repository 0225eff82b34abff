"""Messages that were accepted for sending and wait for the throttle.

Owns their order and their bounds in number and bytes. First in, first out; resends do not pass through here.
"""

from __future__ import annotations

from collections import deque

import msgspec

from live_grid.errors import LimitReached
from live_grid.limits import OUTBOX_MAX_BYTES, OUTBOX_MAX_PACKETS
from live_grid.messages.notation import Message
from live_grid.packet import Payload

__all__ = ("Outbox", "Waiting")


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """A message that waits."""

    token: int
    message: Message
    payload: Payload
    reliable: bool


class Outbox:
    """Messages of one circuit that wait for the throttle."""

    __slots__ = ("_waiting", "bytes", "reliable")

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque(maxlen=OUTBOX_MAX_PACKETS)
        self.bytes = 0
        self.reliable = 0
        """How many of them are reliable."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, waiting: Waiting) -> None:
        """Let a message wait.

        Raises:
            LimitReached: too many wait already, or too many bytes.
        """
        if len(self._waiting) >= OUTBOX_MAX_PACKETS:
            raise LimitReached("messages waiting for the throttle", allowed=OUTBOX_MAX_PACKETS)
        if self.bytes + len(waiting.payload.data) > OUTBOX_MAX_BYTES:
            raise LimitReached("bytes waiting for the throttle", allowed=OUTBOX_MAX_BYTES)
        self._waiting.append(waiting)
        self.bytes += len(waiting.payload.data)
        self.reliable += waiting.reliable

    def take(self) -> Waiting:
        """Take the message that waits longest; there must be one."""
        waiting = self._waiting.popleft()
        self.bytes -= len(waiting.payload.data)
        self.reliable -= waiting.reliable
        return waiting
