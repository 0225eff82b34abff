"""Server-sent events from bytes in pieces of any size; sans-IO and bounded.

Owns the line rules of the event stream format and nothing of what events mean. A decoder feeds it what the
transport received. One leniency: an event at the very end without its blank line is given out all the same,
since servers end that way; whether it means anything is for the decoder to judge.

Invariant: however the bytes are cut, the same events come out, and no more than ``event_max_bytes`` are kept.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gridagent.errors import LimitExceeded

__all__ = ("EVENT_MAX_BYTES", "SseEvent", "SseParser")

EVENT_MAX_BYTES: Final = 512 * 1024
"""Room for one event that holds a whole reply of 256 KiB, escaped."""
_BOM: Final = b"\xef\xbb\xbf"
_NAME_MAX_BYTES: Final = 64


class SseEvent(msgspec.Struct, frozen=True):
    """One event that has data."""

    name: str
    """What ``event:`` said, at most 64 bytes of it; empty when it said nothing."""
    data: bytes
    """Every ``data:`` line, joined by line feeds."""


class SseParser:
    """Takes bytes, gives events.

    Bounds: keeps at most ``event_max_bytes`` of an unfinished event.
    """

    __slots__ = ("_after_cr", "_at_start", "_data", "_held", "_line", "_max", "_name")

    def __init__(self, event_max_bytes: int = EVENT_MAX_BYTES) -> None:
        self._max = event_max_bytes
        self._line = bytearray()
        self._data: list[bytes] = []  # at most ``event_max_bytes`` in all, one byte a line counted on top
        self._held = 0
        self._name = ""
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[SseEvent]:
        """Take the next piece and return the events it completes.

        Raises:
            LimitExceeded: one event or line is over the bound; the parser is of no more use.
        """
        if not data:
            return []
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
        self._after_cr = data[-1:] == b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        tail = lines.pop()
        events: list[SseEvent] = []
        if lines and self._line:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        for line in lines:
            self._end_line(line, events)
        self._check(len(self._line) + len(tail))
        self._line += tail  # in place: a line that drips in is not copied with each drop
        return events

    def end(self) -> list[SseEvent]:
        """Return the event that the end of the stream left without a blank line, if there is one."""
        events: list[SseEvent] = []
        if self._line:
            self._end_line(bytes(self._line), events)
        self._dispatch(events)
        return events

    def _check(self, size: int) -> None:
        if self._held + size > self._max:
            raise LimitExceeded("one server-sent event, bytes", allowed=self._max, seen=self._held + size)

    def _end_line(self, line: bytes, events: list[SseEvent]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(events)
            return
        self._check(len(line))
        if line[:1] == b":":
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._held += len(value) + 1
        elif field == b"event":
            self._name = value[:_NAME_MAX_BYTES].decode("utf-8", "replace")
        # Ids and retry times mean nothing to a single reply.

    def _dispatch(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(SseEvent(self._name, self._data[0] if len(self._data) == 1 else b"\n".join(self._data)))
            self._data.clear()
            self._held = 0
        self._name = ""
