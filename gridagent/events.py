"""Everything a grid can tell an avatar, as one tagged union of frozen, bounded structs.

Owns what crosses `GridBackend` inwards (Spec: SUP-12): chat, people, objects, offers, money, the state
of the connection, and the evidence that confirms actions. Texts are untrusted, clipped by the adapter,
and bounded by construction. May import only L0 below it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Position, Volume
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId, OfferId, ParcelId
from gridagent.limits import Bounded, ChatText, Label, LongText, Name, ShortText

__all__ = (
    "EVENTS",
    "AvatarView",
    "DisconnectCause",
    "GridEvent",
    "GridProfile",
    "ItemView",
    "ObjectView",
    "ParcelView",
    "PartHealth",
    "Posture",
    "Speaker",
    "SpeakerKind",
    "event_name",
)


class DisconnectCause(StrEnum):
    """Why a generation ended; the reconnect table has a row for each (Spec: SUP-6)."""

    BAD_CREDENTIALS = "bad_credentials"
    TERMS_NOT_ACCEPTED = "terms_not_accepted"
    MFA_REQUIRED = "mfa_required"
    """The grid wants a one-time code: an operator gives it (`Connect.code`)."""
    MFA_REFUSED = "mfa_refused"
    """The one-time code that was given was not taken."""
    BANNED = "banned"
    ALREADY_LOGGED_IN = "already_logged_in"
    MAINTENANCE = "maintenance"
    KICKED = "kicked"
    REGION_RESTART = "region_restart"
    CIRCUIT_LOST = "circuit_lost"
    LOGIN_FAILED = "login_failed"
    """Login answered with something not understood, or not at all."""
    GRID_CLOSED = "grid_closed"
    """The grid ended the session in order (logout reply, end of a simulation)."""
    BACKEND_FAULT = "backend_fault"
    """Our own backend raised something unexpected."""
    REQUESTED = "requested"
    """An operator asked for it."""


class SpeakerKind(StrEnum):
    """Who uttered something, as the simulator says; never taken from the text."""

    SELF = "self"
    AVATAR = "avatar"
    OBJECT = "object"
    SYSTEM = "system"


class Speaker(Bounded, frozen=True, kw_only=True):
    """The source of an utterance or IM."""

    kind: SpeakerKind
    id: Annotated[str, Meta(max_length=36)] = NIL_UUID
    """Avatar or object UUID; nil for the system."""
    name: Name = ""
    """Display text: can be spoofed, is never identity."""
    owner_id: AvatarId | None = None
    """Owner of an object; being owned by somebody never makes its words theirs."""


class Posture(StrEnum):
    """How the avatar's body is held."""

    STANDING = "standing"
    SITTING = "sitting"
    SITTING_ON_GROUND = "sitting_on_ground"
    FLYING = "flying"


class PartHealth(Bounded, frozen=True, kw_only=True):
    """One figure of the connection's health, such as packet loss or the age of the event queue (Spec: LIV-12)."""

    part: Label
    """Stable name: ``circuit``, ``event_queue``, …"""
    figure: Label
    """Stable name with its unit: ``loss_ratio``, ``ping_s``, …"""
    value: float


class GridProfile(Bounded, frozen=True, kw_only=True):
    """What the connected grid can do, probed at login (Spec: LIV-11)."""

    grid: Name
    has_money: bool = True
    has_inventory: bool = True
    has_build: bool = True
    has_upload: bool = False
    bots_allowed: bool = True


class AvatarView(Bounded, frozen=True, kw_only=True):
    """What can be seen of another avatar."""

    avatar_id: AvatarId
    name: Name
    position: Position
    scripted_agent: bool = False
    distance_m: float = 0.0


class ObjectView(Bounded, frozen=True, kw_only=True):
    """What can be seen of an object."""

    object_id: ObjectId
    name: Name
    owner_id: AvatarId
    position: Position
    description: ShortText = ""
    for_sale: Annotated[int, Meta(ge=0)] | None = None
    """Price in L$, or None when it isn't for sale."""
    touchable: bool = False
    sittable: bool = False
    reference: Label = ""
    """Nonce of the action of ours that made or changed it, where the grid can carry one."""


class ParcelView(Bounded, frozen=True, kw_only=True):
    """A parcel and what the avatar may do there."""

    parcel_id: ParcelId
    name: Name
    owner_id: AvatarId
    may_build: bool = False
    may_run_scripts: bool = True
    bots_allowed: bool = True
    description: ShortText = ""


class ItemView(Bounded, frozen=True, kw_only=True):
    """An inventory item."""

    item_id: ItemId
    name: Name
    kind: Label
    may_copy: bool = True
    may_transfer: bool = True


class _Event(Bounded, frozen=True, kw_only=True, tag_field="event"):
    """Base of the union."""


# --- the connection ---------------------------------------------------------------------------


class TransportUp(_Event, frozen=True, kw_only=True, tag="transport_up"):
    """Logged in and a circuit stands; the world is not known yet."""

    avatar_id: AvatarId
    name: Name


class BackendReady(_Event, frozen=True, kw_only=True, tag="backend_ready"):
    """In world: position, region and profile are known."""

    avatar_id: AvatarId
    name: Name
    region: Name
    position: Position
    profile: GridProfile


class PartDegraded(_Event, frozen=True, kw_only=True, tag="part_degraded"):
    """A part of the connection (event queue, circuit, world) is sick; the session goes on."""

    part: Label
    remedy: Label = ""
    """What is done about it now: ``renewed``, ``asked_again``, or ``reconnect``; empty while nothing is."""


class PartRecovered(_Event, frozen=True, kw_only=True, tag="part_recovered"):
    """The part is well again."""

    part: Label


class RegionEntered(_Event, frozen=True, kw_only=True, tag="region_entered"):
    """The avatar is now in this region."""

    region: Name
    position: Position
    size_m: Annotated[int, Meta(ge=1, le=8192)] = 256
    how: Label = "login"


class RegionRestarting(_Event, frozen=True, kw_only=True, tag="region_restarting"):
    """The region announced its restart."""

    region: Name
    seconds: Annotated[float, Meta(ge=0)]


class Kicked(_Event, frozen=True, kw_only=True, tag="kicked"):
    """Somebody with the right to do so ended the session; ``reason`` is their text."""

    reason: ShortText = ""


class AlertShown(_Event, frozen=True, kw_only=True, tag="alert_shown"):
    """The grid shows the avatar a text."""

    text: ShortText
    modal: bool = False


class EventsShed(_Event, frozen=True, kw_only=True, tag="events_shed"):
    """The backend dropped events of a class that may be shed (Spec: LIV-9)."""

    kind: Label
    count: Annotated[int, Meta(ge=1)]


# --- words ------------------------------------------------------------------------------------


class ChatHeard(_Event, frozen=True, kw_only=True, tag="chat_heard"):
    """Public speech in range; the avatar's own words come back with kind ``self`` and confirm them."""

    utterance_id: Label
    source: Speaker
    text: ChatText
    volume: Volume = Volume.SAY
    chat_channel: int = 0
    distance_m: float = 0.0
    reference: Label = ""
    """Nonce of the action that said it, for the avatar's own words where the grid can carry one."""


class ImReceived(_Event, frozen=True, kw_only=True, tag="im_received"):
    """An instant message to the avatar."""

    utterance_id: Label
    source: Speaker
    text: ChatText
    offline: bool = False
    """Sent while the avatar was away: not to be answered as if it were now."""


class GroupImSeen(_Event, frozen=True, kw_only=True, tag="group_im_seen"):
    """Group IM: counted, never conversed with (Spec: MEM-1)."""

    group: Name


class TypingSeen(_Event, frozen=True, kw_only=True, tag="typing_seen"):
    """Somebody began or ceased to type."""

    avatar_id: AvatarId
    typing: bool


# --- what is there ----------------------------------------------------------------------------


class AvatarSeen(_Event, frozen=True, kw_only=True, tag="avatar_seen"):
    """An avatar arrived or changed."""

    avatar: AvatarView


class AvatarLeft(_Event, frozen=True, kw_only=True, tag="avatar_left"):
    """An avatar is no longer here."""

    avatar_id: AvatarId


class ObjectSeen(_Event, frozen=True, kw_only=True, tag="object_seen"):
    """An object appeared or changed; evidence for rez and edit."""

    object: ObjectView


class ObjectGone(_Event, frozen=True, kw_only=True, tag="object_gone"):
    """An object disappeared; evidence for delete and return."""

    object_id: ObjectId


class ParcelSeen(_Event, frozen=True, kw_only=True, tag="parcel_seen"):
    """The avatar stands on this parcel."""

    parcel: ParcelView


class SelfMoved(_Event, frozen=True, kw_only=True, tag="self_moved"):
    """Where the avatar is; evidence for turn, walk, follow and stop."""

    region: Name
    position: Position
    heading_deg: float = 0.0
    moving: bool = False


class PostureChanged(_Event, frozen=True, kw_only=True, tag="posture_changed"):
    """How the avatar's body is held; evidence for sit and stand."""

    posture: Posture
    object_id: ObjectId | None = None


class AnimationChanged(_Event, frozen=True, kw_only=True, tag="animation_changed"):
    """An animation of the avatar started or stopped; evidence for animate."""

    animation_id: ItemId
    playing: bool


class TeleportFinished(_Event, frozen=True, kw_only=True, tag="teleport_finished"):
    """The teleport ended in this region; evidence for teleport."""

    region: Name
    position: Position


class TeleportFailed(_Event, frozen=True, kw_only=True, tag="teleport_failed"):
    """The teleport did not happen."""

    reason: Label


# --- offers that wait for an answer -------------------------------------------------------------


class DialogOpened(_Event, frozen=True, kw_only=True, tag="dialog_opened"):
    """A script shows a dialog."""

    offer_id: OfferId
    object_id: ObjectId
    object_name: Name
    owner_id: AvatarId
    text: Annotated[str, Meta(max_length=1024)]
    buttons: Annotated[tuple[Label, ...], Meta(max_length=12)]


class PermissionAsked(_Event, frozen=True, kw_only=True, tag="permission_asked"):
    """A script asks for permissions (take money, animate, attach, control …)."""

    offer_id: OfferId
    object_id: ObjectId
    object_name: Name
    owner_id: AvatarId
    permissions: Annotated[tuple[Label, ...], Meta(max_length=16)]


class UrlShown(_Event, frozen=True, kw_only=True, tag="url_shown"):
    """A script offers a web page; it is never opened (Fault: 20)."""

    object_id: ObjectId
    object_name: Name
    url: ShortText


class FriendshipOffered(_Event, frozen=True, kw_only=True, tag="friendship_offered"):
    """Somebody wants to be a friend."""

    offer_id: OfferId
    source: Speaker
    message: ShortText = ""


class TeleportOffered(_Event, frozen=True, kw_only=True, tag="teleport_offered"):
    """Somebody invites the avatar to come."""

    offer_id: OfferId
    source: Speaker
    message: ShortText = ""


class TeleportAsked(_Event, frozen=True, kw_only=True, tag="teleport_asked"):
    """Somebody asks the avatar for an invitation."""

    source: Speaker
    message: ShortText = ""


class InventoryOffered(_Event, frozen=True, kw_only=True, tag="inventory_offered"):
    """Somebody, or an object, offers an item."""

    offer_id: OfferId
    source: Speaker
    name: Name
    kind: Label


class OfferClosed(_Event, frozen=True, kw_only=True, tag="offer_closed"):
    """An offer ended: answered or withdrawn; evidence for every answer."""

    offer_id: OfferId
    accepted: bool
    answer: Label = ""


# --- people, inventory, money -------------------------------------------------------------------


class FriendChanged(_Event, frozen=True, kw_only=True, tag="friend_changed"):
    """The friends list changed, or a friend came or went."""

    avatar_id: AvatarId
    friend: bool
    online: bool = False


class InventoryChanged(_Event, frozen=True, kw_only=True, tag="inventory_changed"):
    """The inventory gained an item; evidence for notecard, landmark and upload."""

    item: ItemView
    reference: Label = ""


class InventoryRemoved(_Event, frozen=True, kw_only=True, tag="inventory_removed"):
    """The inventory lost an item."""

    item_id: ItemId


class GiftAnswered(_Event, frozen=True, kw_only=True, tag="gift_answered"):
    """The receiver of a gift accepted or declined it; evidence for give."""

    item_id: ItemId
    to: AvatarId
    accepted: bool
    reference: Label = ""
    """Nonce of the gift, where the grid tells which one was answered."""


class BalanceChanged(_Event, frozen=True, kw_only=True, tag="balance_changed"):
    """The L$ balance, and what changed it; evidence for pay."""

    balance: int
    change: int = 0
    counterpart_id: Annotated[str, Meta(max_length=36)] = NIL_UUID
    """The other avatar or the object; nil when the grid doesn't say."""
    description: ShortText = ""
    reference: Label = ""
    """Nonce of the payment, where the grid's description carries it (Spec: EFX-5)."""


# --- the grid's answers to single requests --------------------------------------------------------


class Delivered(_Event, frozen=True, kw_only=True, tag="delivered"):
    """The simulator acknowledged the message that carried this action."""

    reference: Label


class ActionRefused(_Event, frozen=True, kw_only=True, tag="action_refused"):
    """The grid said no to one action."""

    reference: Label
    reason: Label


class NotecardRead(_Event, frozen=True, kw_only=True, tag="notecard_read"):
    """Text of a notecard the avatar asked to read; as untrusted as its author."""

    item_id: ItemId
    text: LongText


GridEvent: TypeAlias = (
    TransportUp
    | BackendReady
    | PartDegraded
    | PartRecovered
    | RegionEntered
    | RegionRestarting
    | Kicked
    | AlertShown
    | EventsShed
    | ChatHeard
    | ImReceived
    | GroupImSeen
    | TypingSeen
    | AvatarSeen
    | AvatarLeft
    | ObjectSeen
    | ObjectGone
    | ParcelSeen
    | SelfMoved
    | PostureChanged
    | AnimationChanged
    | TeleportFinished
    | TeleportFailed
    | DialogOpened
    | PermissionAsked
    | UrlShown
    | FriendshipOffered
    | TeleportOffered
    | TeleportAsked
    | InventoryOffered
    | OfferClosed
    | FriendChanged
    | InventoryChanged
    | InventoryRemoved
    | GiftAnswered
    | BalanceChanged
    | Delivered
    | ActionRefused
    | NotecardRead
)
"""Any grid event."""

EVENTS: Final[tuple[type[GridEvent], ...]] = GridEvent.__args__
"""Every event class, in the order of the catalogue."""


def event_name(event: msgspec.Struct) -> str:
    """Return the stable tag of an event."""
    tag = type(event).__struct_config__.tag
    assert isinstance(tag, str)  # noqa: S101 - every class above declares a text tag
    return tag
