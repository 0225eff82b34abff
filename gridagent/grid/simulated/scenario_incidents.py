"""The timeline of a scenario: what befalls people and regions without their asking, and when.

Owns the words of the section ``incidents``; makes nothing happen (the world and its links do, when
`gridagent.grid.simulated.scenario_build` puts the timeline on their timers). Times are seconds since the
world began. Invariant: with ``every_s`` an incident comes back for ever, without it once.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from gridagent.grid.simulated.inhabitants.casting import AvatarRef, RegionRef
from gridagent.limits import Bounded, Name, ShortText

__all__ = (
    "Alert",
    "Disconnect",
    "Flood",
    "GroupIm",
    "Incident",
    "Kick",
    "RegionRestart",
    "Stall",
)

At: TypeAlias = Annotated[float, Meta(ge=0.0, le=31_536_000.0)]
"""A moment within the first year."""
Every: TypeAlias = Annotated[float, Meta(ge=10.0, le=31_536_000.0)] | None
Span: TypeAlias = Annotated[float, Meta(ge=0.0, le=86_400.0)]


class _Incident(Bounded, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """Base of the union."""

    at_s: At
    """When it happens for the first time."""
    every_s: Every = None
    """Pause until it happens again; null means once."""


class Kick(_Incident, frozen=True, kw_only=True, tag="kick"):
    """The grid's operators end somebody's session."""

    avatar: AvatarRef
    reason: ShortText = "You have been logged out by an administrator."


class RegionRestart(_Incident, frozen=True, kw_only=True, tag="region_restart"):
    """A region announces its restart, ends everybody's session, and is back after a while."""

    region: RegionRef
    notice_s: Span = 60.0
    """From the announcement to the end of everybody's session."""
    down_s: Span = 90.0
    """From there until it is back."""


class Disconnect(_Incident, frozen=True, kw_only=True, tag="disconnect"):
    """An avatar's connection breaks without a word."""

    avatar: AvatarRef


class Stall(_Incident, frozen=True, kw_only=True, tag="stall"):
    """An avatar's connection carries nothing for a while, then everything that waited."""

    avatar: AvatarRef
    for_s: Annotated[float, Meta(gt=0.0, le=86_400.0)] = 30.0


class Flood(_Incident, frozen=True, kw_only=True, tag="flood"):
    """Many strangers talk to an avatar at once, half in public and half by IM (Fault: 18)."""

    avatar: AvatarRef
    messages: Annotated[int, Meta(ge=1, le=100_000)] = 1_000
    senders: Annotated[int, Meta(ge=1, le=1_000)] = 100
    over_s: Annotated[float, Meta(ge=0.1, le=86_400.0)] = 1.0


class Alert(_Incident, frozen=True, kw_only=True, tag="alert"):
    """The grid shows an avatar a text."""

    avatar: AvatarRef
    text: Annotated[ShortText, Meta(min_length=1)]
    modal: bool = False


class GroupIm(_Incident, frozen=True, kw_only=True, tag="group_im"):
    """A group of an avatar's talks."""

    avatar: AvatarRef
    group: Annotated[Name, Meta(min_length=1)] = "Friends of the Plaza"


Incident: TypeAlias = Kick | RegionRestart | Disconnect | Stall | Flood | Alert | GroupIm
"""Anything that can stand in the timeline; the key ``kind`` chooses."""
