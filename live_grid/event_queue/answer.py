"""What comes back from an event queue, sorted by what it means.

Owns the reading of an answer's status and body, with the quirks of both server families: no events by 502,
by any 5xx, by HTML in a 200, or by an empty list; a queue that is gone by 404 or 410 (Spec: LIV-4, Fault: 11).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.limits import EVENT_QUEUE_EVENTS_MAX
from live_grid.llsd import LlsdValue, read_llsd_xml_untrusted

__all__ = ("Answer", "Meaning", "QueueEvent", "read_answer_untrusted")

_OK: Final = 200
_GONE: Final = frozenset({404, 410})
_NAME_MAX_CHARACTERS: Final = 64


class QueueEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event: the name of a message, and its body as LLSD."""

    name: str
    body: dict[str, LlsdValue]


class Meaning(Enum):
    """What an answer says."""

    EVENTS = "events"
    NOTHING = "nothing"
    """Nothing happened, or an error that is how a server says so."""
    GONE = "gone"
    """The queue is no more; for the main region that means we are not there any more."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was read."""

    meaning: Meaning
    id: int | None = None
    """To be acknowledged with the next poll."""
    events: tuple[QueueEvent, ...] = ()
    malformed: int = 0
    """Events that could not be read, or the body if it could not be read as a whole."""


def _event(entry: LlsdValue) -> QueueEvent | None:
    match entry:
        case {"message": str(name), "body": dict(body)} if 0 < len(name) <= _NAME_MAX_CHARACTERS:
            return QueueEvent(name=name, body=body)
        case _:
            return None


def read_answer_untrusted(status: int, body: bytes) -> Answer:
    """Read the answer to a poll; it never raises.

    Args:
        status: of the HTTP response.
        body: of the HTTP response, whole.

    Bounds: an answer with more than `EVENT_QUEUE_EVENTS_MAX` events counts as malformed.
    """
    if status in _GONE:
        return Answer(meaning=Meaning.GONE)
    if status != _OK or not body:
        return Answer(meaning=Meaning.NOTHING)
    try:
        value = read_llsd_xml_untrusted(body)
    except RemoteProtocolError:
        return Answer(meaning=Meaning.NOTHING, malformed=1)
    match value:
        case {"events": list(entries), **others} if len(entries) <= EVENT_QUEUE_EVENTS_MAX:
            number = others.get("id")
            events = [event for event in map(_event, entries) if event is not None]
            return Answer(
                meaning=Meaning.EVENTS if entries else Meaning.NOTHING,
                id=number if isinstance(number, int) and not isinstance(number, bool) else None,
                events=tuple(events),
                malformed=len(entries) - len(events),
            )
        case None:
            return Answer(meaning=Meaning.NOTHING)
        case _:
            return Answer(meaning=Meaning.NOTHING, malformed=1)
