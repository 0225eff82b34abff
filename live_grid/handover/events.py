"""What a session tells its owner besides what happens in the world.

Owns the structs and no behaviour. Reasons are text from outside, cleaned by the world's reducers.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec

from live_grid.world import Vector, WorldEvent

__all__ = (
    "EndCause",
    "How",
    "Journey",
    "JourneyEnded",
    "Part",
    "PartDegraded",
    "PartRecovered",
    "Reached",
    "RegionEntered",
    "RequestDelivered",
    "RequestLost",
    "SessionEnded",
    "SessionEvent",
    "WalkEnded",
)


class How(Enum):
    """How we came into a region."""

    LOGIN = "login"
    TELEPORT = "teleport"
    CROSSING = "crossing"


class Journey(Enum):
    """How a teleport ended."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """The grid never said; we are where we were."""


class EndCause(Enum):
    """Why a session is over."""

    LOGGED_OUT = "logged_out"
    KICKED = "kicked"
    REGION_DOWN = "region_down"
    """The region we were in closed our circuit."""
    SILENCE = "silence"
    """The region we were in was not heard for too long (Fault: 7)."""
    NO_ENTRY = "no_entry"
    """Logged in, and no region ever said that we are present."""
    STRANDED = "stranded"
    """A journey ended nowhere (Fault: 9)."""
    QUEUE_GONE = "queue_gone"
    """The region we were in has no event queue for us any more: we are not there."""
    BLIND = "blind"
    """The region we were in shows us nothing, or not even ourselves, however often it is asked."""


class Part(Enum):
    """What can be sick while the session lives."""

    CAPABILITIES = "capabilities"
    EVENT_QUEUE = "event_queue"
    WORLD = "world"
    """What we see of the region we are in."""


class RegionEntered(msgspec.Struct, frozen=True):
    """We are in a region, and know what it is."""

    how: How
    name: str
    position: Vector
    size_x: int
    size_y: int


class JourneyEnded(msgspec.Struct, frozen=True):
    """The teleport that was asked for, or that somebody sent us on, is over."""

    how: Journey
    position: Vector
    reason: str = ""
    key: str = ""


class Reached(Enum):
    """How a walk ended."""

    THERE = "there"
    STUCK = "stuck"
    TARGET_GONE = "target_gone"
    STOPPED = "stopped"


class WalkEnded(msgspec.Struct, frozen=True):
    """A walk or a pursuit is over."""

    how: Reached


class RequestDelivered(msgspec.Struct, frozen=True):
    """The simulator has every message of a request; that says nothing of what it did with them."""

    token: int


class RequestLost(msgspec.Struct, frozen=True):
    """A message of a request was not acknowledged; it may have arrived nevertheless."""

    token: int


class PartDegraded(msgspec.Struct, frozen=True):
    """A part is sick; the session goes on, unless what is done about it is to reconnect."""

    part: Part
    remedy: str = ""
    """What is done about it now; empty while nothing is."""


class PartRecovered(msgspec.Struct, frozen=True):
    """The part is well again."""

    part: Part


class SessionEnded(msgspec.Struct, frozen=True):
    """The session is over; nothing follows."""

    cause: EndCause
    reason: str = ""


SessionEvent: TypeAlias = (
    WorldEvent
    | RegionEntered
    | JourneyEnded
    | WalkEnded
    | RequestDelivered
    | RequestLost
    | PartDegraded
    | PartRecovered
    | SessionEnded
)
