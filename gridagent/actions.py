"""Everything an avatar can be asked to do, as one tagged union of frozen structs.

Owns the verbs, and beside each verb what follows from it: the capability it needs, what repeating it
would do (effect class), the evidence that confirms it, and the resource it occupies. Nothing here can
perform anything: a backend takes only an `AuthorizedAction`, which the policy gateway mints
(Spec: POL-1, EFX-1, MND-13). May import only L0 below it.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, ClassVar, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.ids import AvatarId, ItemId, ObjectId, OfferId
from gridagent.limits import LINDEN_PER_PAYMENT_MAX, Bounded, ChatText, Label, LongText, Name, ShortText

__all__ = (
    "ACTIONS",
    "Action",
    "ActionSpec",
    "Capability",
    "Confirmed",
    "EffectClass",
    "EvidenceKind",
    "InDoubt",
    "Outcome",
    "Position",
    "Refused",
    "Resource",
    "SettledBy",
    "action_name",
)


class Capability(StrEnum):
    """What an action needs the right to do; one column of the policy matrix each (Spec: POL-4)."""

    OBSERVE = "observe"
    SPEAK = "speak"
    DIRECT_MESSAGE = "direct_message"
    ANIMATE = "animate"
    MOVE = "move"
    TELEPORT = "teleport"
    INTERACT = "interact"
    SOCIAL = "social"
    INVENTORY = "inventory"
    MONEY = "money"
    UPLOAD = "upload"
    BUILD = "build"
    LAND = "land"


class EffectClass(StrEnum):
    """What sending an action twice would do (Spec: EFX-3)."""

    REPEATABLE = "repeatable"
    """Twice is as once: stop, stand, stop animation."""
    EPHEMERAL = "ephemeral"
    """Speech and movement: harmless in time, wrong later; never resent after a restart."""
    ONCE = "once"
    """Money, gifts, building: durable before it is sent, never retried blindly."""


class EvidenceKind(StrEnum):
    """What proves that an action happened; "sent" never does (Spec: EFX-1)."""

    OWN_ECHO = "own_echo"
    """The avatar's own words came back as chat."""
    DELIVERED = "delivered"
    """The simulator acknowledged the reliable message; the grid has no stronger answer for this verb."""
    POSITION = "position"
    """The avatar's own position or heading is now the wanted one."""
    POSTURE = "posture"
    """The simulator reports the avatar seated or standing."""
    ARRIVED = "arrived"
    """Teleport finished: the avatar is in the wanted region."""
    ANIMATION = "animation"
    """The simulator lists the animation as playing or not."""
    FRIENDSHIP = "friendship"
    """The friends list changed."""
    OFFER_CLOSED = "offer_closed"
    """The offer is no longer open and says how it ended."""
    GIFT_ANSWERED = "gift_answered"
    """The receiver accepted or declined."""
    INVENTORY = "inventory"
    """The inventory holds the new item."""
    BALANCE = "balance"
    """The balance changed by exactly this amount towards exactly this counterpart."""
    OBJECT = "object"
    """The object is there, as wanted."""
    OBJECT_GONE = "object_gone"
    """The object is no longer there."""
    AVATAR_GONE = "avatar_gone"
    """The avatar is no longer on the parcel."""


class Resource(StrEnum):
    """What an action occupies while it runs; two actions on one resource exclude each other (Spec: LIV-7)."""

    NONE = "none"
    BODY = "body"
    """Walking, following, sitting and teleporting move one body."""
    PAYMENT = "payment"
    """One payment in flight an avatar (Spec: EFX-5)."""


class ActionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from a verb, for whoever asks."""

    capability: Capability
    effect: EffectClass
    evidence: EvidenceKind
    resource: Resource = Resource.NONE
    preempts: bool = False
    """Takes its resource from whoever holds it (stop, stand), instead of being refused."""
    deadline_s: float = 10.0
    """How long evidence is waited for before the outcome is in doubt, in seconds."""


Coordinate: TypeAlias = Annotated[float, Meta(ge=-8192.0, le=16384.0)]
Degrees: TypeAlias = Annotated[float, Meta(ge=0.0, lt=360.0)]
Linden: TypeAlias = Annotated[int, Meta(ge=1, le=LINDEN_PER_PAYMENT_MAX)]
Metres: TypeAlias = Annotated[float, Meta(ge=0.5, le=256.0)]
ChatChannel: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A point in the region frame, in metres from the region's south-west corner at sea floor."""

    x: Coordinate
    y: Coordinate
    z: Coordinate = 0.0

    def distance_to(self, other: Position) -> float:
        """Return the straight distance in metres."""
        return math.dist((self.x, self.y, self.z), (other.x, other.y, other.z))


class Volume(StrEnum):
    """How far speech carries: 10, 20 and 100 metres."""

    WHISPER = "whisper"
    SAY = "say"
    SHOUT = "shout"


class _Action(Bounded, frozen=True, kw_only=True, tag_field="action", forbid_unknown_fields=True):
    spec: ClassVar[ActionSpec]


def _speech(capability: Capability, evidence: EvidenceKind) -> ActionSpec:
    return ActionSpec(capability=capability, effect=EffectClass.EPHEMERAL, evidence=evidence)


def _body(
    capability: Capability,
    evidence: EvidenceKind,
    *,
    effect: EffectClass = EffectClass.EPHEMERAL,
    preempts: bool = False,
    deadline_s: float = 10.0,
) -> ActionSpec:
    return ActionSpec(
        capability=capability,
        effect=effect,
        evidence=evidence,
        resource=Resource.BODY,
        preempts=preempts,
        deadline_s=deadline_s,
    )


def _once(
    capability: Capability,
    evidence: EvidenceKind,
    *,
    resource: Resource = Resource.NONE,
    deadline_s: float = 30.0,
) -> ActionSpec:
    return ActionSpec(
        capability=capability,
        effect=EffectClass.ONCE,
        evidence=evidence,
        resource=resource,
        deadline_s=deadline_s,
    )


# --- speech -----------------------------------------------------------------------------------


class Say(_Action, frozen=True, kw_only=True, tag="say"):
    """Speak in public, on channel 0 unless told otherwise."""

    spec: ClassVar = _speech(Capability.SPEAK, EvidenceKind.OWN_ECHO)
    text: Annotated[ChatText, Meta(min_length=1)]
    volume: Volume = Volume.SAY
    chat_channel: ChatChannel = 0


class Emote(_Action, frozen=True, kw_only=True, tag="emote"):
    """Describe what the avatar does, as ``/me`` speech."""

    spec: ClassVar = _speech(Capability.SPEAK, EvidenceKind.OWN_ECHO)
    text: Annotated[str, Meta(min_length=1, max_length=1019, extra={"max_bytes": 1019})]


class SetTyping(_Action, frozen=True, kw_only=True, tag="set_typing"):
    """Show or hide the typing indicator."""

    spec: ClassVar = _speech(Capability.SPEAK, EvidenceKind.DELIVERED)
    typing: bool


class SendIm(_Action, frozen=True, kw_only=True, tag="send_im"):
    """Send an instant message to one avatar."""

    spec: ClassVar = _speech(Capability.DIRECT_MESSAGE, EvidenceKind.DELIVERED)
    to: AvatarId
    text: Annotated[ChatText, Meta(min_length=1)]


# --- body -------------------------------------------------------------------------------------


class TurnTo(_Action, frozen=True, kw_only=True, tag="turn_to"):
    """Face a heading; 0 is east, 90 north."""

    spec: ClassVar = _body(Capability.MOVE, EvidenceKind.POSITION)
    heading_deg: Degrees


class WalkTo(_Action, frozen=True, kw_only=True, tag="walk_to"):
    """Walk to a point of this region."""

    spec: ClassVar = _body(Capability.MOVE, EvidenceKind.POSITION, deadline_s=60.0)
    position: Position


class FollowAvatar(_Action, frozen=True, kw_only=True, tag="follow_avatar"):
    """Walk after an avatar, keeping a distance, until told to stop; confirmed when first caught up."""

    spec: ClassVar = _body(Capability.MOVE, EvidenceKind.POSITION, deadline_s=60.0)
    avatar_id: AvatarId
    distance_m: Metres = 3.0


class StopMoving(_Action, frozen=True, kw_only=True, tag="stop_moving"):
    """Stop walking or following."""

    spec: ClassVar = _body(Capability.MOVE, EvidenceKind.POSITION, effect=EffectClass.REPEATABLE, preempts=True)


class SitOn(_Action, frozen=True, kw_only=True, tag="sit_on"):
    """Sit on an object."""

    spec: ClassVar = _body(Capability.INTERACT, EvidenceKind.POSTURE)
    object_id: ObjectId


class SitOnGround(_Action, frozen=True, kw_only=True, tag="sit_on_ground"):
    """Sit down where the avatar stands."""

    spec: ClassVar = _body(Capability.INTERACT, EvidenceKind.POSTURE)


class StandUp(_Action, frozen=True, kw_only=True, tag="stand_up"):
    """Stand up."""

    spec: ClassVar = _body(Capability.INTERACT, EvidenceKind.POSTURE, effect=EffectClass.REPEATABLE, preempts=True)


class Touch(_Action, frozen=True, kw_only=True, tag="touch"):
    """Touch an object; its script may answer with a dialog."""

    spec: ClassVar = ActionSpec(
        capability=Capability.INTERACT, effect=EffectClass.EPHEMERAL, evidence=EvidenceKind.DELIVERED
    )
    object_id: ObjectId


class TeleportTo(_Action, frozen=True, kw_only=True, tag="teleport_to"):
    """Teleport to a point of a region named as the map names it."""

    spec: ClassVar = _body(Capability.TELEPORT, EvidenceKind.ARRIVED, deadline_s=60.0)
    region: Annotated[Name, Meta(min_length=1)]
    position: Position


class TeleportHome(_Action, frozen=True, kw_only=True, tag="teleport_home"):
    """Teleport to the avatar's home."""

    spec: ClassVar = _body(Capability.TELEPORT, EvidenceKind.ARRIVED, deadline_s=60.0)


class OfferTeleport(_Action, frozen=True, kw_only=True, tag="offer_teleport"):
    """Invite an avatar to come here."""

    spec: ClassVar = _speech(Capability.SOCIAL, EvidenceKind.DELIVERED)
    to: AvatarId
    message: ShortText = ""


class RequestTeleport(_Action, frozen=True, kw_only=True, tag="request_teleport"):
    """Ask an avatar for an invitation."""

    spec: ClassVar = _speech(Capability.SOCIAL, EvidenceKind.DELIVERED)
    to: AvatarId
    message: ShortText = ""


class AnswerTeleportOffer(_Action, frozen=True, kw_only=True, tag="answer_teleport_offer"):
    """Accept (and go) or decline an invitation."""

    spec: ClassVar = _body(Capability.TELEPORT, EvidenceKind.OFFER_CLOSED, deadline_s=60.0)
    offer_id: OfferId
    accept: bool


class PlayAnimation(_Action, frozen=True, kw_only=True, tag="play_animation"):
    """Start an animation from the inventory or the built-in set."""

    spec: ClassVar = ActionSpec(
        capability=Capability.ANIMATE, effect=EffectClass.EPHEMERAL, evidence=EvidenceKind.ANIMATION
    )
    animation_id: ItemId


class StopAnimation(_Action, frozen=True, kw_only=True, tag="stop_animation"):
    """Stop an animation."""

    spec: ClassVar = ActionSpec(
        capability=Capability.ANIMATE, effect=EffectClass.REPEATABLE, evidence=EvidenceKind.ANIMATION
    )
    animation_id: ItemId


# --- objects that ask -------------------------------------------------------------------------


class AnswerDialog(_Action, frozen=True, kw_only=True, tag="answer_dialog"):
    """Press one button of an open script dialog."""

    spec: ClassVar = _once(Capability.INTERACT, EvidenceKind.OFFER_CLOSED)
    offer_id: OfferId
    button: Label


class AnswerPermission(_Action, frozen=True, kw_only=True, tag="answer_permission"):
    """Grant some, or none, of the permissions a script asked for."""

    spec: ClassVar = _once(Capability.INTERACT, EvidenceKind.OFFER_CLOSED)
    offer_id: OfferId
    grant: Annotated[tuple[Label, ...], Meta(max_length=16)] = ()


# --- people -----------------------------------------------------------------------------------


class OfferFriendship(_Action, frozen=True, kw_only=True, tag="offer_friendship"):
    """Ask an avatar to be a friend."""

    spec: ClassVar = _speech(Capability.SOCIAL, EvidenceKind.DELIVERED)
    to: AvatarId
    message: ShortText = ""


class AnswerFriendship(_Action, frozen=True, kw_only=True, tag="answer_friendship"):
    """Accept or decline a friendship offer."""

    spec: ClassVar = _once(Capability.SOCIAL, EvidenceKind.OFFER_CLOSED)
    offer_id: OfferId
    accept: bool


class EndFriendship(_Action, frozen=True, kw_only=True, tag="end_friendship"):
    """Take an avatar off the friends list."""

    spec: ClassVar = _once(Capability.SOCIAL, EvidenceKind.FRIENDSHIP)
    avatar_id: AvatarId


# --- inventory and money ----------------------------------------------------------------------


class GiveItem(_Action, frozen=True, kw_only=True, tag="give_item"):
    """Give an inventory item to an avatar."""

    spec: ClassVar = _once(Capability.INVENTORY, EvidenceKind.GIFT_ANSWERED, deadline_s=120.0)
    item_id: ItemId
    to: AvatarId


class AnswerInventoryOffer(_Action, frozen=True, kw_only=True, tag="answer_inventory_offer"):
    """Accept or decline an offered item."""

    spec: ClassVar = _once(Capability.INVENTORY, EvidenceKind.OFFER_CLOSED)
    offer_id: OfferId
    accept: bool


class CreateNotecard(_Action, frozen=True, kw_only=True, tag="create_notecard"):
    """Write a notecard into the inventory."""

    spec: ClassVar = _once(Capability.INVENTORY, EvidenceKind.INVENTORY)
    name: Annotated[Name, Meta(min_length=1)]
    text: LongText


class CreateLandmark(_Action, frozen=True, kw_only=True, tag="create_landmark"):
    """Remember this place as a landmark in the inventory."""

    spec: ClassVar = _once(Capability.INVENTORY, EvidenceKind.INVENTORY)
    name: Annotated[Name, Meta(min_length=1)]


class PayAvatar(_Action, frozen=True, kw_only=True, tag="pay_avatar"):
    """Pay L$ to an avatar."""

    spec: ClassVar = _once(Capability.MONEY, EvidenceKind.BALANCE, resource=Resource.PAYMENT)
    to: AvatarId
    amount: Linden
    description: ShortText = ""


class PayObject(_Action, frozen=True, kw_only=True, tag="pay_object"):
    """Pay L$ to an object's owner through the object (a vendor, a tip jar)."""

    spec: ClassVar = _once(Capability.MONEY, EvidenceKind.BALANCE, resource=Resource.PAYMENT)
    object_id: ObjectId
    amount: Linden


class UploadAsset(_Action, frozen=True, kw_only=True, tag="upload_asset"):
    """Upload a file prepared by the operator, named by the SHA-256 of its content."""

    spec: ClassVar = _once(Capability.UPLOAD, EvidenceKind.INVENTORY, deadline_s=120.0)
    name: Annotated[Name, Meta(min_length=1)]
    kind: Label
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$", max_length=64)]
    price: Annotated[int, Meta(ge=0, le=LINDEN_PER_PAYMENT_MAX)] = 0


# --- building and land ------------------------------------------------------------------------


class RezObject(_Action, frozen=True, kw_only=True, tag="rez_object"):
    """Put a new box, or an inventory object, into the region."""

    spec: ClassVar = _once(Capability.BUILD, EvidenceKind.OBJECT)
    position: Position
    item_id: ItemId | None = None
    name: Name = "Object"


class EditObject(_Action, frozen=True, kw_only=True, tag="edit_object"):
    """Rename, describe or move an object of one's own."""

    spec: ClassVar = _once(Capability.BUILD, EvidenceKind.OBJECT)
    object_id: ObjectId
    name: Name | None = None
    description: ShortText | None = None
    position: Position | None = None


class DeleteObject(_Action, frozen=True, kw_only=True, tag="delete_object"):
    """Delete an object of one's own."""

    spec: ClassVar = _once(Capability.BUILD, EvidenceKind.OBJECT_GONE)
    object_id: ObjectId


class ReturnObject(_Action, frozen=True, kw_only=True, tag="return_object"):
    """Return somebody's object from land one may manage."""

    spec: ClassVar = _once(Capability.LAND, EvidenceKind.OBJECT_GONE)
    object_id: ObjectId


class EjectAvatar(_Action, frozen=True, kw_only=True, tag="eject_avatar"):
    """Send an avatar off land one may manage."""

    spec: ClassVar = _once(Capability.LAND, EvidenceKind.AVATAR_GONE)
    avatar_id: AvatarId


Action: TypeAlias = (
    Say
    | Emote
    | SetTyping
    | SendIm
    | TurnTo
    | WalkTo
    | FollowAvatar
    | StopMoving
    | SitOn
    | SitOnGround
    | StandUp
    | Touch
    | TeleportTo
    | TeleportHome
    | OfferTeleport
    | RequestTeleport
    | AnswerTeleportOffer
    | PlayAnimation
    | StopAnimation
    | AnswerDialog
    | AnswerPermission
    | OfferFriendship
    | AnswerFriendship
    | EndFriendship
    | GiveItem
    | AnswerInventoryOffer
    | CreateNotecard
    | CreateLandmark
    | PayAvatar
    | PayObject
    | UploadAsset
    | RezObject
    | EditObject
    | DeleteObject
    | ReturnObject
    | EjectAvatar
)
"""Any action; decode outside input with ``msgspec.json.decode(raw, type=Action)``."""

ACTIONS: Final[tuple[type[Action], ...]] = Action.__args__
"""Every action class, in the order of the catalogue."""


def action_name(action: Action) -> str:
    """Return the stable tag of an action, as it stands in policy, audit and tools."""
    tag = type(action).__struct_config__.tag
    assert isinstance(tag, str)  # noqa: S101 - every class above declares a text tag
    return tag


# --- outcomes ---------------------------------------------------------------------------------


class Confirmed(Bounded, frozen=True, kw_only=True, tag_field="outcome", tag="confirmed"):
    """It happened, and this is the proof."""

    evidence: EvidenceKind
    detail: ShortText = ""


class Refused(Bounded, frozen=True, kw_only=True, tag_field="outcome", tag="refused"):
    """It did not happen; ``reason`` is a stable code of ours or of the grid."""

    reason: Label


class InDoubt(Bounded, frozen=True, kw_only=True, tag_field="outcome", tag="in_doubt"):
    """It may have happened: sent, and no evidence either way in time."""

    reason: Label


Outcome: TypeAlias = Confirmed | Refused | InDoubt
"""How an action ended: exactly one of the three (Spec: EFX-1)."""


class SettledBy(StrEnum):
    """Who ended an effect that was in doubt (Spec: EFX-2)."""

    RECONCILIATION = "reconciliation"
    """Evidence that came late, or that was looked up in the grid."""
    OPERATOR = "operator"
    """A person, by hand."""
