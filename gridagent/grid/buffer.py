"""A bounded buffer of grid events that knows what may be lost.

Owns the rule for a full buffer (Spec: BND-1, LIV-9; Fault: 18). Three classes: *chatter* (objects and
avatars seen again, typing, group notices) goes first, oldest first; then *words* of others, always of
whoever has most of them waiting, so that a flood sheds itself and a person with one message keeps it;
all else (the avatar's own evidence, kicks, offers, money) is never shed. What was shed is told as
`EventsShed` before the next events. Invariant: at most ``limit`` events wait, in the order in which
they came.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from enum import Enum
from typing import Final

from gridagent.events import (
    AvatarSeen,
    ChatHeard,
    EventsShed,
    GridEvent,
    GroupImSeen,
    ImReceived,
    ObjectSeen,
    SpeakerKind,
    TeleportAsked,
    TypingSeen,
    UrlShown,
    event_name,
)
from gridagent.limits import DRAIN_BATCH_MAX, GRID_EVENT_QUEUE_MAX

__all__ = ("EventBuffer", "EventClass", "class_of")


class EventClass(Enum):
    """What may happen to an event when there is no room."""

    CHATTER = "chatter"
    WORDS = "words"
    KEEP = "keep"


_CHATTER: Final = (AvatarSeen, TypingSeen, GroupImSeen)
_WORDS: Final = (ChatHeard, ImReceived, TeleportAsked)
_TRUSTED: Final = (SpeakerKind.SELF, SpeakerKind.SYSTEM)


def class_of(event: GridEvent) -> tuple[EventClass, str]:
    """Return an event's class and, for words, whose they are."""
    if isinstance(event, _CHATTER):
        return EventClass.CHATTER, ""
    if isinstance(event, ObjectSeen):
        # One that carries a reference is evidence of building.
        return (EventClass.KEEP if event.object.reference else EventClass.CHATTER), ""
    if isinstance(event, _WORDS) and event.source.kind not in _TRUSTED:
        return EventClass.WORDS, event.source.id
    if isinstance(event, UrlShown):
        return EventClass.WORDS, event.object_id
    return EventClass.KEEP, ""


class EventBuffer:
    """Events between a grid that does not wait and a reader that may.

    Args:
        limit: most events that wait.
    """

    __slots__ = ("_chatter", "_events", "_seq", "_shed", "_words", "_words_total", "limit", "peak", "shed_total")

    def __init__(self, limit: int = GRID_EVENT_QUEUE_MAX) -> None:
        self.limit = limit
        self.peak = 0
        """Most events that ever waited."""
        self.shed_total = 0
        self._events: OrderedDict[int, GridEvent] = OrderedDict()
        self._chatter: deque[int] = deque(maxlen=limit)
        self._words: dict[str, deque[int]] = {}  # one entry a sender with something waiting
        self._words_total = 0
        self._shed: dict[str, int] = {}  # one entry an event class
        self._seq = 0

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: GridEvent) -> bool:
        """Add an event, shedding where there is no room.

        Returns:
            False when the buffer is full of events that may not be shed and this one may not either: the
            connection cannot go on honestly.
        """
        kind, sender = class_of(event)
        if len(self._events) >= self.limit and not self._make_room(kind, sender):
            if kind is EventClass.KEEP:
                return False
            self._count(event)
            return True
        self._seq += 1
        self._events[self._seq] = event
        self.peak = max(self.peak, len(self._events))
        if kind is EventClass.CHATTER:
            self._chatter.append(self._seq)
        elif kind is EventClass.WORDS:
            self._words.setdefault(sender, deque(maxlen=self.limit)).append(self._seq)
            self._words_total += 1
        return True

    def drain(self, most: int = DRAIN_BATCH_MAX) -> list[GridEvent]:
        """Take what waits, oldest first, after what was shed since the last time; about ``most`` events."""
        batch: list[GridEvent] = [EventsShed(kind=kind, count=count) for kind, count in self._shed.items()]
        self._shed.clear()
        while self._events and len(batch) < most:
            _, event = self._events.popitem(last=False)
            kind, sender = class_of(event)
            # The oldest event of all is the oldest of its class, and of its sender.
            if kind is EventClass.CHATTER:
                self._chatter.popleft()
            elif kind is EventClass.WORDS:
                self._forget_word(sender)
            batch.append(event)
        return batch

    def clear(self) -> None:
        """Throw away what waits."""
        self._events.clear()
        self._chatter.clear()
        self._words.clear()
        self._words_total = 0

    def _make_room(self, kind: EventClass, sender: str) -> bool:
        """Shed one waiting event for one that comes; False when that one should rather go itself."""
        if self._chatter:
            self._evict(self._chatter.popleft())
            return True
        if kind is EventClass.CHATTER or not self._words:
            return False
        own = len(self._words.get(sender, ()))
        if kind is EventClass.KEEP or own * len(self._words) <= self._words_total:
            sender = max(self._words, key=lambda one: len(self._words[one]))
        self._evict(self._forget_word(sender))
        return True

    def _forget_word(self, sender: str) -> int:
        waiting = self._words[sender]
        number = waiting.popleft()
        self._words_total -= 1
        if not waiting:
            del self._words[sender]
        return number

    def _evict(self, number: int) -> None:
        self._count(self._events.pop(number))

    def _count(self, event: GridEvent) -> None:
        name = event_name(event)
        self._shed[name] = self._shed.get(name, 0) + 1
        self.shed_total += 1
