"""What the world tells its owner: one frozen struct for each thing that can happen.

Owns the vocabulary and nothing else. Events name people and things by their sixteen bytes; what is known of them
stands in `live_grid.world.state.World` at the time of asking. Every text was cleaned and cut by the reducer that
made the event, and stays untrusted (Spec: LIV-6).
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec

from live_grid.world.packed import Vector

__all__ = (
    "AlertShown",
    "AnimationsPlayed",
    "AvatarChanged",
    "AvatarLeft",
    "BalanceKnown",
    "ChatHeard",
    "Describe",
    "FriendChanged",
    "FriendshipAnswered",
    "GiftAnswered",
    "GroupImSeen",
    "ImReceived",
    "ItemMade",
    "ItemsMade",
    "Kicked",
    "LogoutConfirmed",
    "LureAnswered",
    "MovementCompleted",
    "NameLearnt",
    "ObjectChanged",
    "ObjectGone",
    "OfferLapsed",
    "OfferMade",
    "OwnMotion",
    "ParcelDescribed",
    "PayPriceShown",
    "RegionDescribed",
    "RegionFound",
    "RegionsFound",
    "RestartAnnounced",
    "SeatGiven",
    "SourceKind",
    "TeleportAsked",
    "TeleportEndedHere",
    "TeleportProgressed",
    "TeleportRefused",
    "TypingShown",
    "UrlShown",
    "WorldEvent",
)


class SourceKind(Enum):
    """Who utters something, as the simulator says; never taken from the text."""

    SELF = "self"
    AVATAR = "avatar"
    OBJECT = "object"
    SYSTEM = "system"


class _Event(msgspec.Struct, frozen=True, gc=False):
    """Base of all; frozen, and without a cycle."""


class RegionDescribed(_Event, frozen=True):
    """What the region is has become known, or changed."""

    here: bool
    """It is the one we are in; else a neighbour."""


class RegionFound(_Event, frozen=True):
    """One row of the map."""

    name: str
    handle: int
    access: int
    agents: int


class RegionsFound(_Event, frozen=True):
    """The map's answer to a question by name or place."""

    regions: tuple[RegionFound, ...]
    asked: str = ""
    """The name that was asked for, where the end mark repeats it."""


class RestartAnnounced(_Event, frozen=True):
    """The region restarts soon."""

    seconds: float


class ParcelDescribed(_Event, frozen=True):
    """What the parcel is has become known, or changed; see `World.parcel`."""

    under_us: bool
    """We stand on it; else it was asked for or hovered over."""


class OwnMotion(_Event, frozen=True):
    """We moved, turned, sat down or stood up."""


class MovementCompleted(_Event, frozen=True):
    """We are present in a region."""

    position: Vector
    look_at: Vector
    handle: int


class SeatGiven(_Event, frozen=True):
    """An object offers us a seat; to be taken."""

    object_id: bytes
    auto_pilot: bool


class AnimationsPlayed(_Event, frozen=True):
    """The animations we play have changed."""

    started: tuple[bytes, ...]
    stopped: tuple[bytes, ...]


class AvatarChanged(_Event, frozen=True):
    """An avatar came, moved, or got a name."""

    avatar_id: bytes


class AvatarLeft(_Event, frozen=True):
    """An avatar is no longer here."""

    avatar_id: bytes


class NameLearnt(_Event, frozen=True):
    """The name that goes with an avatar."""

    avatar_id: bytes
    name: str


class ObjectChanged(_Event, frozen=True):
    """An object came, moved, or was described."""

    object_id: bytes
    described: bool
    """Name, owner and price came with it."""


class ObjectGone(_Event, frozen=True):
    """An object is no longer here."""

    object_id: bytes


class Describe(_Event, frozen=True):
    """Objects that were named by local id only: ask for them in full."""

    local_ids: tuple[int, ...]


class FriendChanged(_Event, frozen=True):
    """A friend came online, went offline, was won or lost."""

    avatar_id: bytes
    friend: bool
    online: bool


class ChatHeard(_Event, frozen=True):
    """Somebody or something was heard."""

    kind: SourceKind
    source_id: bytes
    owner_id: bytes
    """Owner of the object; its words are not theirs."""
    name: str
    text: str
    volume: int
    """0 whisper, 1 say, 2 shout; scripts also 8 to the owner, 9 to one avatar."""
    position: Vector


class TypingShown(_Event, frozen=True):
    """Somebody began or ceased to type."""

    avatar_id: bytes
    typing: bool


class ImReceived(_Event, frozen=True):
    """An instant message."""

    kind: SourceKind
    source_id: bytes
    owner_id: bytes
    name: str
    text: str
    offline: bool
    """Stored while we were away."""
    automatic: bool
    """The other side's machine answers, not the person."""
    sent_at: int
    """Unix seconds by the grid's clock; 0 if it does not say."""


class GroupImSeen(_Event, frozen=True):
    """A group, or a conference, spoke: counted, not conversed with."""

    name: str


class AlertShown(_Event, frozen=True):
    """A notice of the grid."""

    text: str
    key: str
    """The word that programs can rely on, where there is one."""
    modal: bool


class UrlShown(_Event, frozen=True):
    """A script suggests a page; never opened (Fault: 20)."""

    object_id: bytes
    owner_id: bytes
    object_name: str
    text: str
    url: str


class Kicked(_Event, frozen=True):
    """We are thrown out."""

    reason: str


class OfferMade(_Event, frozen=True):
    """Something waits for our answer; see `World.offers`."""

    offer_id: str


class OfferLapsed(_Event, frozen=True):
    """An offer made room for newer ones."""

    offer_id: str


class TeleportAsked(_Event, frozen=True):
    """Somebody asks for an invitation to come here."""

    avatar_id: bytes
    name: str
    message: str


class FriendshipAnswered(_Event, frozen=True):
    """Our offer of friendship was answered."""

    avatar_id: bytes
    accepted: bool


class LureAnswered(_Event, frozen=True):
    """Our invitation was answered."""

    avatar_id: bytes
    accepted: bool


class GiftAnswered(_Event, frozen=True):
    """What we gave was taken or declined."""

    avatar_id: bytes
    transaction_id: bytes
    """The id it was given under."""
    accepted: bool


class BalanceKnown(_Event, frozen=True):
    """Our balance, and the transaction that changed it."""

    balance: int
    success: bool
    transaction_id: bytes
    description: str
    amount: int
    """0 where the grid does not say."""
    source_id: bytes
    dest_id: bytes


class PayPriceShown(_Event, frozen=True):
    """What an object wants to be paid."""

    object_id: bytes
    prices: tuple[int, ...]


class ItemMade(_Event, frozen=True):
    """An inventory item that came into being or changed."""

    item_id: bytes
    folder_id: bytes
    asset_id: bytes
    kind: int
    """Asset type: 3 landmark, 7 notecard, 6 object, 20 animation, …"""
    name: str
    description: str
    callback: int
    """The number we asked for it with; 0 for none."""
    next_owner_mask: int
    owner_mask: int


class ItemsMade(_Event, frozen=True):
    """Inventory items came into being or changed."""

    items: tuple[ItemMade, ...]


class TeleportProgressed(_Event, frozen=True):
    """A teleport has begun or goes on."""

    text: str


class TeleportEndedHere(_Event, frozen=True):
    """A teleport inside the region is done."""

    position: Vector
    look_at: Vector


class TeleportRefused(_Event, frozen=True):
    """A teleport failed, and we stay."""

    reason: str
    key: str
    """The word that programs can rely on, where there is one."""


class LogoutConfirmed(_Event, frozen=True):
    """The grid has saved us; not guaranteed to come."""


WorldEvent: TypeAlias = (
    RegionDescribed
    | RegionsFound
    | RestartAnnounced
    | ParcelDescribed
    | OwnMotion
    | MovementCompleted
    | SeatGiven
    | AnimationsPlayed
    | AvatarChanged
    | AvatarLeft
    | NameLearnt
    | ObjectChanged
    | ObjectGone
    | Describe
    | FriendChanged
    | ChatHeard
    | TypingShown
    | ImReceived
    | GroupImSeen
    | AlertShown
    | UrlShown
    | Kicked
    | OfferMade
    | OfferLapsed
    | TeleportAsked
    | FriendshipAnswered
    | LureAnswered
    | GiftAnswered
    | BalanceKnown
    | PayPriceShown
    | ItemsMade
    | TeleportProgressed
    | TeleportEndedHere
    | TeleportRefused
    | LogoutConfirmed
)
