"""Who waits for whom: one lane a conversation, first in first out, side by side with all others (Spec: MND-15).

Owns the lanes and their bounds; decides nothing about turns. Used by `gridagent.thinking.thinker`. Pure.

Invariant: at most one turn a lane is under way; of the lanes that wait for a place, the one that waited longest is
next; a lane with nothing to do is gone.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final, Generic, TypeAlias, TypeVar

import msgspec

from gridagent.authority import Origin
from gridagent.conversation.entries import Heard
from gridagent.conversation.keys import ConversationKey
from gridagent.ids import AvatarId
from gridagent.tools.access import TurnMode

__all__ = ("JOINED_MAX", "LANES_MAX", "WAITING_MAX", "Asked", "Batch", "Lane", "Lanes", "joined")

LANES_MAX: Final = 4_096
WAITING_MAX: Final = 64
JOINED_MAX: Final = 16
"""Messages that one turn answers; of more, the oldest are in the history only."""

T = TypeVar("T")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One message that is to be answered."""

    heard: Heard
    cause: str
    """Id of the utterance, as the grid gave it: unique in its connection; `heard` has one that is unique for good."""
    peer: AvatarId
    mode: TurnMode
    origin: Origin
    disclose: bool
    """The answer says that the avatar is a bot."""


Batch: TypeAlias = tuple[Asked, ...]
"""The messages that one turn answers, oldest first."""


class Lane(Generic[T]):
    """One conversation."""

    __slots__ = ("running", "superseded", "waiting")

    def __init__(self) -> None:
        self.running: T | None = None
        self.waiting: deque[Batch] = deque(maxlen=WAITING_MAX)
        self.superseded = 0
        """How often in a row a newer message took the place of a turn."""


class Lanes(Generic[T]):
    """Every conversation with something to do."""

    __slots__ = ("_lanes", "_ready")

    def __init__(self) -> None:
        self._lanes: dict[ConversationKey, Lane[T]] = {}  # at most LANES_MAX
        self._ready: OrderedDict[ConversationKey, None] = OrderedDict()  # at most one entry a lane

    def __len__(self) -> int:
        return len(self._lanes)

    def open(self, key: ConversationKey) -> Lane[T] | None:
        """Return the lane of a conversation, making it; None where there are too many."""
        lane = self._lanes.get(key)
        if lane is None and len(self._lanes) < LANES_MAX:
            lane = self._lanes[key] = Lane()
        return lane

    def find(self, key: ConversationKey) -> Lane[T] | None:
        """Return the lane of a conversation, if it has anything to do."""
        return self._lanes.get(key)

    def settle(self, key: ConversationKey) -> None:
        """Put a lane where it belongs after it changed: ready, under way, or gone."""
        lane = self._lanes.get(key)
        if lane is None:
            return
        if lane.running is None and lane.waiting:
            self._ready.setdefault(key, None)
            return
        self._ready.pop(key, None)
        if lane.running is None:
            del self._lanes[key]

    def next_ready(self) -> tuple[ConversationKey, Lane[T]] | None:
        """Return the lane that waited longest for a place, and let it wait no more."""
        if not self._ready:
            return None
        key, _ = self._ready.popitem(last=False)
        return key, self._lanes[key]

    def drop(self, key: ConversationKey) -> None:
        """Forget what waits in a lane."""
        lane = self._lanes.get(key)
        if lane is not None:
            lane.waiting.clear()
            self.settle(key)

    def busy(self) -> tuple[ConversationKey, ...]:
        """Return every conversation with something to do."""
        return tuple(self._lanes)


def joined(*batches: Batch) -> Batch:
    """Return several batches as one, the newest messages of it."""
    return tuple(each for batch in batches for each in batch)[-JOINED_MAX:]
