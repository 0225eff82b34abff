"""A bounded buffer of grid events that knows what may be lost.

Owns the rule for a full buffer (Spec: BND-1, LIV-9; Fault: 18). Three classes: *chatter* (objects and
avatars seen again, typing, group notices) goes first, oldest first; then *words* of others, always of
whoever has most of them waiting, so that a flood sheds itself and a person with one message keeps it;
all else (the avatar's own evidence, kicks, offers, money) is never shed. A flood from as many senders as
there is room would leave nobody most: words of the avatars that are *heeded* go only when nobody
else's are left. What was shed is told as `EventsShed` before the next events. Invariant: at most
``limit`` events wait, in the order in which they came; to shed one takes the same time however many
senders wait.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Set as AbstractSet
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


class _Piles:
    """Numbers of waiting words, a pile a sender; knows the largest without looking at the others."""

    __slots__ = ("_by_size", "_largest", "_limit", "_piles", "total")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._piles: dict[str, deque[int]] = {}  # one entry a sender with something waiting
        self._by_size: dict[int, OrderedDict[str, None]] = {}  # the same senders
        self._largest = 0
        self.total = 0

    def add(self, sender: str, number: int) -> None:
        """Put a number on a sender's pile."""
        pile = self._piles.setdefault(sender, deque(maxlen=self._limit))
        pile.append(number)
        self.total += 1
        self._move(sender, len(pile) - 1, len(pile))
        self._largest = max(self._largest, len(pile))

    def take(self, sender: str) -> int:
        """Take a sender's oldest number."""
        pile = self._piles[sender]
        number = pile.popleft()
        self.total -= 1
        self._move(sender, len(pile) + 1, len(pile))
        if self._largest not in self._by_size:
            self._largest -= 1  # the pile that was alone the largest is one smaller now
        if not pile:
            del self._piles[sender]
        return number

    def payer(self, sender: str) -> str:
        """Name who makes room for one more of a sender: itself if it has more than its share, else the largest."""
        own = len(self._piles.get(sender, ()))
        if own * len(self._piles) > self.total:
            return sender
        return next(iter(self._by_size[self._largest]))

    def clear(self) -> None:
        """Throw everything away."""
        self._piles.clear()
        self._by_size.clear()
        self._largest = self.total = 0

    def _move(self, sender: str, old: int, new: int) -> None:
        if old:
            alike = self._by_size[old]
            del alike[sender]
            if not alike:
                del self._by_size[old]
        if new:
            self._by_size.setdefault(new, OrderedDict())[sender] = None


class EventBuffer:
    """Events between a grid that does not wait and a reader that may.

    Args:
        limit: most events that wait.
        heeded: avatars whose words are shed last, by UUID.
    """

    __slots__ = (
        "_chatter",
        "_events",
        "_heeded",
        "_heeded_words",
        "_seq",
        "_shed",
        "_words",
        "limit",
        "peak",
        "shed_total",
    )

    def __init__(self, limit: int = GRID_EVENT_QUEUE_MAX, heeded: AbstractSet[str] = frozenset()) -> None:
        self.limit = limit
        self.peak = 0
        """Most events that ever waited."""
        self.shed_total = 0
        self._events: OrderedDict[int, GridEvent] = OrderedDict()
        self._chatter: deque[int] = deque(maxlen=limit)
        self._heeded = heeded
        self._words = _Piles(limit)
        self._heeded_words = _Piles(limit)
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
        piles = self._piles_of(event, sender)
        if len(self._events) >= self.limit and not self._make_room(kind, sender, piles):
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
            piles.add(sender, self._seq)
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
                self._piles_of(event, sender).take(sender)
            batch.append(event)
        return batch

    def clear(self) -> None:
        """Throw away what waits."""
        self._events.clear()
        self._chatter.clear()
        self._words.clear()
        self._heeded_words.clear()

    def _piles_of(self, event: GridEvent, sender: str) -> _Piles:
        """Return where an event's words belong; a thing is not heeded, whatever id it shows."""
        if sender in self._heeded and isinstance(event, _WORDS) and event.source.kind is SpeakerKind.AVATAR:
            return self._heeded_words
        return self._words

    def _make_room(self, kind: EventClass, sender: str, piles: _Piles) -> bool:
        """Shed one waiting event for one that comes; False when that one should rather go itself."""
        if self._chatter:
            self._evict(self._chatter.popleft())
            return True
        if kind is EventClass.CHATTER:
            return False
        if self._words.total:
            paying = self._words
        elif self._heeded_words.total and (kind is EventClass.KEEP or piles is self._heeded_words):
            paying = self._heeded_words
        else:
            return False
        # Evidence has no sender, and a heeded one no pile among the others: there the largest pays.
        self._evict(paying.take(paying.payer(sender)))
        return True

    def _evict(self, number: int) -> None:
        self._count(self._events.pop(number))

    def _count(self, event: GridEvent) -> None:
        name = event_name(event)
        self._shed[name] = self._shed.get(name, 0) + 1
        self.shed_total += 1
