"""The watchdogs of a session's parts: what is done for a sick part, how often, and when the connection is given up.

Owns the table of remedies by sick part and how often in a row, and the judgement of whether what we see of a region is
whole and fresh. A circuit's silence is judged by the circuit itself, which pings and ends it; an event queue's by the
queue. Performs nothing: `live_grid.handover.link` renews queues, `live_grid.handover.course` asks regions again. Pure
(Spec: LIV-12, SUP-7).

Invariant: a part is treated at most `Plan.tries` times in a row, with a pause before each; then, unless its row says
otherwise, the connection ends, so that the session's own plan for lost connections takes over.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

import msgspec

from live_grid.handover.events import Part
from live_grid.messages.objects import (
    ImprovedTerseObjectUpdate,
    KillObject,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
)

__all__ = ("PLANS", "SIGHTS", "Picture", "Plan", "Remedy", "WorldWatch", "remedy_for")

LOOK_EVERY_S: Final = 5.0
SETTLE_S: Final = 30.0
"""After an arrival, for a region to show itself and us; and for a treatment to work."""
QUIET_S: Final = 120.0
"""Without a word about any avatar or object a region is asked for one that we know."""
ANSWER_S: Final = 15.0
"""For that word."""
WELL_S: Final = 300.0
"""Being well so long makes earlier treatments forgotten."""
SIGHTS: Final = (
    ObjectUpdate,
    ObjectUpdateCompressed,
    ObjectUpdateCached,
    ImprovedTerseObjectUpdate,
    KillObject,
)
"""What a region shows of avatars and objects. Its raster of who is where does not count: it comes to the blind, too."""


class Remedy(Enum):
    """What is done for a sick part."""

    RENEW = "renewed"
    """Begin anew what belongs to the part: another event queue, from a seed that is asked again."""
    ASK_AGAIN = "asked_again"
    """Ask the region again for what it should have shown by itself."""
    RECONNECT = "reconnect"
    """End the connection: the session makes another one."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How one part is treated."""

    remedy: Remedy
    tries: int | None
    """In a row; one more ends the connection. None never ends it."""


PLANS: Final[Mapping[Part, Plan]] = MappingProxyType(
    {
        Part.EVENT_QUEUE: Plan(remedy=Remedy.RENEW, tries=3),
        # A region whose web server is down for an hour still lets us hear and speak.
        Part.CAPABILITIES: Plan(remedy=Remedy.RENEW, tries=None),
        Part.WORLD: Plan(remedy=Remedy.ASK_AGAIN, tries=3),
    }
)
"""Every part that can be treated; a circuit is asked by its own pings, and lost after a minute without an answer."""


def remedy_for(part: Part, times: int) -> Remedy:
    """Return what to do for a part that is sick for the ``times``-th time in a row, from 1."""
    plan = PLANS[part]
    return plan.remedy if plan.tries is None or times <= plan.tries else Remedy.RECONNECT


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be judged of the region we are in."""

    described: bool
    """It has said what it is."""
    shows_us: bool
    """Our own avatar is known in full."""
    has_things: bool
    """It has an object that can be asked for."""


class WorldWatch:
    """Judges whether what we see of the region we are in is whole and fresh.

    A region that shows nothing new may be quiet, so it is asked for something that we know. Only one that has answered
    such a question before, in this connection, is given up for not answering: grids may ignore it.

    Args:
        now: seconds.
    """

    __slots__ = ("_answers", "_asked_at", "_heard_at", "_settles_at", "_times", "_whole_since", "due", "sick")

    def __init__(self, *, now: float) -> None:
        self.due = now + LOOK_EVERY_S
        """When to call `look`."""
        self.sick = False
        self._heard_at = now
        self._settles_at = now + SETTLE_S
        self._asked_at: float | None = None
        self._answers = False
        self._times = 0
        self._whole_since: float | None = None

    @property
    def times(self) -> int:
        """How often in a row it was treated."""
        return self._times

    def heard(self, now: float) -> None:
        """Take notice that the region said something of an avatar or an object."""
        if self._asked_at is not None:
            self._answers = self._answers or now - self._asked_at <= ANSWER_S
            self._asked_at = None
        self._heard_at = now

    def arrived(self, now: float) -> None:
        """Begin anew: we are in another region, or in this one again."""
        self._heard_at = now
        self._settles_at = now + SETTLE_S
        self._asked_at = None
        self._whole_since = None

    def look(self, picture: Picture, now: float) -> Remedy | None:
        """Judge; None where nothing is to be done. `sick` tells what was found.

        Args:
            picture: what we have.
            now: seconds.

        Returns:
            `Remedy.ASK_AGAIN` also while nothing is known to be sick: then it is the question whether something is.
        """
        self.due = now + LOOK_EVERY_S
        whole = picture.described and picture.shows_us
        if whole and not self._deaf(now):
            return self._look_well(picture, now)
        self._whole_since = None
        if now < self._settles_at:
            return None
        self.sick = True
        self._times += 1
        self._settles_at = now + SETTLE_S
        return remedy_for(Part.WORLD, self._times)

    def _look_well(self, picture: Picture, now: float) -> Remedy | None:
        if self._whole_since is None:
            self._whole_since = now
            self._settles_at = max(self._settles_at, now)
        self.sick = False
        if now - self._whole_since >= WELL_S:
            self._times = 0
        if picture.has_things and self._asked_at is None and now - self._heard_at >= QUIET_S:
            self._asked_at = now
            return Remedy.ASK_AGAIN
        if self._asked_at is not None and not self._answers and now - self._asked_at >= QUIET_S:
            self._asked_at = None  # this grid does not answer such questions; it is asked again, seldom
            self._heard_at = now
        return None

    def _deaf(self, now: float) -> bool:
        """Tell whether a region that used to answer has not."""
        asked = self._asked_at
        return self._answers and asked is not None and now - asked > ANSWER_S
