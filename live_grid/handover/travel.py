"""Who has authority over us: the course of a session from region to region.

Owns the one pointer to the region that may be talked to, the region we are on the way to, and the deadlines of the
way. It decides by `TRAVEL_TABLE`; sending and closing is done by `live_grid.handover.session`.

Invariant: at most one link has authority, and none while we are on the way (Spec: LIV-7; Fault: 9).
"""

from __future__ import annotations

from typing import Final

import msgspec

from live_grid.handover.events import How
from live_grid.handover.link import Link
from live_grid.handover.tables import TRAVEL_TABLE, TravelInput, TravelState

__all__ = ("Travel", "TravelTimes")


class TravelTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long each stretch of a journey may take, in seconds."""

    entry_s: float = 60.0
    """From the login to the first region's word that we are present."""
    asked_s: float = 60.0
    """From our asking to any news; grids give up a teleport after 15 to 50 s."""
    moving_s: float = 40.0
    """From the news to the new region's word; the old one's "it failed" comes after 25 s."""
    doubt_s: float = 30.0
    """For news after all."""
    alive_s: float = 12.0
    """A region that was heard so lately still has us: it pings every few seconds."""
    logout_s: float = 5.0
    """For the grid's word that we are saved; half of the time it does not come."""


_STAYS_PUT: Final = (TravelState.PRESENT, TravelState.ASKED)


class Travel:
    """Where we are and where we are going.

    Args:
        first: the link of the login.
        now: seconds.
        times: how long a stretch may take.
    """

    __slots__ = ("_first", "_times", "deadline", "how", "root", "sent_away", "state", "target")

    def __init__(self, first: Link, *, now: float, times: TravelTimes) -> None:
        self._first = first
        self._times = times
        self.state = TRAVEL_TABLE.initial
        self.root: Link | None = None
        """Where we are present, or were last."""
        self.target: Link | None = first
        """Where we are on the way to."""
        self.how = How.LOGIN
        self.sent_away = False
        """The region we were in last has sent us elsewhere, and not said that it has us back."""
        self.deadline: float | None = now + times.entry_s

    @property
    def authority(self) -> Link | None:
        """The one link that may be talked to, if any."""
        if self.state in _STAYS_PUT or (self.state is TravelState.DOUBTFUL and not self.sent_away):
            return self.root
        return None

    @property
    def latest(self) -> Link:
        """Where we are, or were last; before the first arrival, where we knocked."""
        return self.root or self._first

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return self.state is TravelState.ENDED

    def allows(self, given: TravelInput) -> bool:
        """Tell whether something can happen now."""
        return TRAVEL_TABLE.allows(self.state, given)

    def step(self, given: TravelInput, now: float) -> None:
        """Take a step of the table and set the deadline of the next stretch."""
        self.state = TRAVEL_TABLE.step(self.state, given)
        times = self._times
        seconds = {
            TravelState.ASKED: times.asked_s,
            TravelState.MOVING: times.moving_s,
            TravelState.DOUBTFUL: times.doubt_s,
            TravelState.LEAVING: times.logout_s,
        }.get(self.state)
        self.deadline = None if seconds is None else now + seconds

    def ask(self, now: float) -> None:
        """Take notice that we asked for a teleport."""
        self.step(TravelInput.ASK, now)
        self.how = How.TELEPORT

    def go(self, target: Link, how: How, now: float) -> None:
        """Be on the way to a region."""
        self.step(TravelInput.ELSEWHERE, now)
        self.target = target
        self.how = how
        self.sent_away = True

    def arrive(self, now: float) -> Link | None:
        """Be there.

        Returns:
            The link that had authority before, if it was another one.
        """
        self.step(TravelInput.ARRIVED, now)
        before, self.root, self.target = self.root, self.target, None
        self.sent_away = False
        return before if before is not self.root else None

    def turn_back(self, given: TravelInput, now: float) -> Link | None:
        """Stay where we are, or are again.

        Returns:
            The link that we were on the way to, if any.
        """
        self.step(given, now)
        given_up, self.target = self.target, None
        self.sent_away = False
        return given_up

    def lose_target(self) -> None:
        """Take notice that the region we are on the way to is gone."""
        self.target = None

    def still_here(self, now: float) -> bool:
        """Tell whether the region we were in last still has us: it is heard, and has not sent us away."""
        root = self.root
        return root is not None and not self.sent_away and root.heard_within(self._times.alive_s, now)
