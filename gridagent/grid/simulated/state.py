"""The state of one simulated world and the few primitives every verb is built from.

Owns who and what exists, the present moment, and how somebody is told something; knows no verb (those
are in the modules beside this one, and `gridagent.grid.simulated.world` puts them in a table). No clock
and no ambient randomness: `now` comes in with every call, one `random.Random` and one id source at
construction (Spec: SIM-2). Invariant: nothing is ever ordered by hash; who came first is told first.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Position
from gridagent.errors import OperatorError
from gridagent.events import (
    ActionRefused,
    AvatarSeen,
    Delivered,
    GridEvent,
    GridProfile,
    OfferClosed,
    ParcelSeen,
    TeleportFailed,
)
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.book import Book
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.offers import Offer, Offers
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import Atlas, Region
from gridagent.grid.simulated.sessions import SessionLog
from gridagent.grid.simulated.timers import Callback, Timer, Timers
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import Bounded, Label

__all__ = ("AVATARS_MAX", "State", "WorldSettings", "distance_m")

AVATARS_MAX: Final = 16_384
"""Accounts of one world."""
NEAR_MAX: Final = 256
"""Most avatars or objects a look round returns."""

SecondsRange: TypeAlias = tuple[float, float]


class WorldSettings(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the grid as a whole behaves when nothing is wrong with it."""

    profile: GridProfile = msgspec.field(default_factory=lambda: GridProfile(grid="Simulated Grid", has_upload=True))
    """What the grid can do; what it can't is refused with a code."""
    walk_speed_m_s: Annotated[float, Meta(gt=0, le=100)] = 3.2
    """Speed of every walking avatar; 3.2 m/s is a viewer's walk."""
    teleport_s: SecondsRange = (1.0, 4.0)
    """Shortest and longest teleport, in seconds."""
    carries_references: bool = True
    """Whether echoes, payments, new items and new objects carry the action's nonce; many grids cannot."""
    keeps_history: bool = True
    """Whether an avatar can look up what it paid, made and changed; most grids show that on a web page only."""


class State:
    """Everything there is."""

    __slots__ = (
        "_base",
        "_utterances",
        "atlas",
        "avatars",
        "book",
        "ids",
        "now",
        "objects",
        "offers",
        "rng",
        "sessions",
        "settings",
        "timers",
        "treasury",
    )

    def __init__(self, rng: random.Random, ids: Callable[[], str], settings: WorldSettings) -> None:
        self.rng = rng
        self.ids = ids
        self.settings = settings
        self.now = 0.0
        self.atlas = Atlas()
        self.avatars: dict[AvatarId, Avatar] = {}  # bounded by AVATARS_MAX
        self.objects: dict[ObjectId, GridObject] = {}  # bounded by the regions' prim limits
        self.timers = Timers()
        self.offers = Offers(ids)
        self.sessions = SessionLog()
        self.book = Book()
        self.treasury = 0
        """L$ paid to the grid itself, so that money is never lost or made."""
        self._base = rng.getrandbits(64)
        self._utterances = 0

    # --- time, randomness, names -----------------------------------------------------------------

    def after(self, delay_s: float, callback: Callback) -> Timer:
        """Do something later."""
        return self.timers.at(self.now + delay_s, callback)

    def stream(self, name: str) -> random.Random:
        """Return a new random stream that depends on the world's seed and on ``name`` only."""
        return random.Random(f"{self._base}/{name}")  # noqa: S311 - seeded on purpose

    def utterance_id(self) -> str:
        """Return a new id for something said."""
        self._utterances += 1
        return f"u{self._utterances}"

    def carried(self, reference: Label) -> Label:
        """Return the nonce an echo carries on this grid."""
        return reference if self.settings.carries_references else ""

    # --- telling ----------------------------------------------------------------------------------

    def tell(self, avatar: Avatar, event: GridEvent) -> None:
        """Let an avatar perceive something; nobody hears it while they are away."""
        session = avatar.session
        if session is not None and session.on_event is not None:
            session.on_event(event)

    def tell_others(self, region: Region, me: Avatar, event: GridEvent) -> None:
        """Let everybody else in a region perceive something."""
        for other in tuple(region.avatars.values()):
            if other is not me:
                self.tell(other, event)

    def show_to_others(self, avatar: Avatar, body: Body) -> None:
        """Let everybody else in the region see where an avatar is, each from where they are."""
        here = body.position_at(self.now)
        for other in tuple(body.region.avatars.values()):
            if other is not avatar and other.body is not None:
                metres = distance_m(other.body.position_at(self.now), here)
                self.tell(other, AvatarSeen(avatar=avatar.view(here, metres)))

    def show_parcel(self, avatar: Avatar, body: Body) -> None:
        """Tell an avatar on which parcel it is, when that has changed."""
        parcel = body.region.parcel_at(body.position_at(self.now))
        if parcel is not body.parcel:
            body.parcel = parcel
            self.tell(avatar, ParcelSeen(parcel=parcel.view(avatar.avatar_id)))

    def tell_region(self, region: Region, event: GridEvent) -> None:
        """Let everybody in a region perceive something."""
        for avatar in tuple(region.avatars.values()):
            self.tell(avatar, event)

    def refuse(self, avatar: Avatar, reference: Label, reason: Refusal) -> None:
        """Say no to one action."""
        self.tell(avatar, ActionRefused(reference=reference, reason=reason.value))

    def deliver(self, avatar: Avatar, reference: Label) -> None:
        """Acknowledge one action that has no stronger evidence."""
        self.tell(avatar, Delivered(reference=reference))

    def fail_teleport(self, avatar: Avatar, reference: Label, reason: Refusal) -> None:
        """Say that a teleport did not happen, in both ways a grid does."""
        self.tell(avatar, TeleportFailed(reason=reason.value))
        self.refuse(avatar, reference, reason)

    def withdraw(self, offer: Offer) -> None:
        """Take an open offer away from its receiver."""
        self.offers.close(offer)
        self.tell(self.avatars[offer.to], OfferClosed(offer_id=offer.offer_id, accepted=False, answer="withdrawn"))

    # --- finding ----------------------------------------------------------------------------------

    def avatar(self, avatar_id: AvatarId) -> Avatar:
        """Return an account.

        Raises:
            OperatorError: the world has no such account.
        """
        found = self.avatars.get(avatar_id)
        if found is None:
            raise OperatorError(f"the simulated grid has no avatar {avatar_id}; add it with World.add_avatar")
        return found

    def region(self, name: str) -> Region:
        """Return a region.

        Raises:
            OperatorError: the map has no such region.
        """
        found = self.atlas.find(name)
        if found is None:
            raise OperatorError(f"the simulated grid has no region {name!r}; add it with World.add_region")
        return found

    def body(self, avatar: Avatar) -> Body:
        """Return the body of an avatar that is in the world.

        Raises:
            OperatorError: the avatar is away.
        """
        if avatar.body is None:
            raise OperatorError(f"{avatar.name} is not logged in to the simulated grid")
        return avatar.body

    def object_here(self, body: Body, object_id: ObjectId) -> GridObject | None:
        """Return an object of the body's region, or None."""
        return body.region.objects.get(object_id)


def distance_m(here: Position, there: Position) -> float:
    """Return the distance between two points, rounded to centimetres as events carry it."""
    return round(here.distance_to(there), 2)
