"""Avatars: the account that stays and the body that is in the world while somebody is logged in.

Owns the records and what can be seen of a body at a moment; performs no action. A walking body has no
ticking position: it has a straight segment and a speed, and its position is computed from ``now``.
Invariant: `Avatar.body` is set exactly while `Avatar.session` is live.
"""

from __future__ import annotations

from typing import Annotated, Final

import attrs
from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import AvatarView, ImReceived, Posture, Speaker, SpeakerKind
from gridagent.grid.simulated.items import Item
from gridagent.grid.simulated.parcels import Parcel
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.sessions import Session
from gridagent.grid.simulated.timers import Timer
from gridagent.ids import AvatarId, ItemId, ObjectId, OfferId
from gridagent.limits import Bounded, Label, Name

__all__ = ("OFFLINE_IMS_MAX", "Account", "Avatar", "Body", "Follow", "Place", "Transit", "Walk")


class Place(Bounded, frozen=True, kw_only=True):
    """A point of a region."""

    region: Annotated[Name, Meta(min_length=1)]
    position: Position


class Account(Bounded, frozen=True, kw_only=True):
    """Somebody who can log in."""

    name: Annotated[Name, Meta(min_length=1)]
    avatar_id: AvatarId | None = None
    """Chosen by the world when None."""
    home: Place | None = None
    """Where they live and first log in; the middle of the first region when None."""
    balance: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    """L$ at the start."""
    scripted_agent: bool = False
    """Registered as a bot, as other avatars can see."""


@attrs.define(eq=False, kw_only=True)
class Walk:
    """One straight segment at one speed."""

    start: Position
    target: Position
    started_at: float
    ends_at: float
    reference: Label
    """Of the action that asked for it."""
    timer: Timer
    """The next moment at which others are told."""


@attrs.define(eq=False, kw_only=True)
class Follow:
    """Somebody to walk after."""

    target_id: AvatarId
    distance_m: float
    reference: Label
    caught_up: bool = False


@attrs.define(eq=False, kw_only=True)
class Transit:
    """A teleport under way."""

    timer: Timer
    reference: Label
    offer_id: OfferId | None = None
    """The invitation that is being accepted."""


@attrs.define(eq=False, kw_only=True)
class Body:
    """An avatar in the world."""

    region: Region
    position: Position
    """Where it stands, or where the current walk began."""
    heading_deg: float = 0.0
    posture: Posture = Posture.STANDING
    seat: ObjectId | None = None
    animations: dict[ItemId, None] = attrs.field(factory=dict)
    typing: bool = False
    walk: Walk | None = None
    follow: Follow | None = None
    followers: dict[AvatarId, None] = attrs.field(factory=dict)
    """Who walks after this body, in the order in which they began."""
    transit: Transit | None = None
    parcel: Parcel | None = None
    """The parcel the avatar was last told it is on."""

    def position_at(self, now: float) -> Position:
        """Return where the body is."""
        walk = self.walk
        if walk is None:
            return self.position
        if now >= walk.ends_at:
            return walk.target
        share = max(0.0, now - walk.started_at) / (walk.ends_at - walk.started_at)
        start, target = walk.start, walk.target
        return Position(
            x=start.x + (target.x - start.x) * share,
            y=start.y + (target.y - start.y) * share,
            z=start.z + (target.z - start.z) * share,
        )


OFFLINE_IMS_MAX: Final = 25
"""The grid keeps so many messages for somebody who is away."""


@attrs.define(eq=False, kw_only=True)
class Avatar:
    """An account and everything that belongs to it."""

    avatar_id: AvatarId
    name: str
    scripted_agent: bool
    home: Place
    last: Place
    """Where the next login puts the body."""
    balance: int
    inventory: dict[ItemId, Item] = attrs.field(factory=dict)
    friends: dict[AvatarId, None] = attrs.field(factory=dict)
    offline_ims: list[ImReceived] = attrs.field(factory=list)
    session: Session | None = None
    body: Body | None = None

    @property
    def online(self) -> bool:
        """Whether somebody is logged in."""
        return self.session is not None

    def speaker(self, kind: SpeakerKind = SpeakerKind.AVATAR) -> Speaker:
        """Return the avatar as the source of words."""
        return Speaker(kind=kind, id=self.avatar_id, name=self.name)

    def view(self, position: Position, distance_m: float = 0.0) -> AvatarView:
        """Return what others see of the avatar at a point."""
        return AvatarView(
            avatar_id=self.avatar_id,
            name=self.name,
            position=position,
            scripted_agent=self.scripted_agent,
            distance_m=distance_m,
        )
