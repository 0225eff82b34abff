"""What a scripted character of the simulated grid sees, is told and may ask for.

Owns the words between the world and its characters, for inhabitants (avatars) and for objects that
talk; performs nothing. A character is plain synchronous code: the world calls it with what happened and
a `Scene`, and it returns what it wants done and when to be woken. It never sees the world itself, reads
no clock and draws only from the scene's own random stream, so that one seed gives one story
(Spec: SIM-1, SIM-2). Called by `gridagent.grid.simulated.hosting`; written in
``gridagent/grid/simulated/inhabitants/``.

Invariant: at most `PENDING_MAX` acts and wakes of one character wait at once; more are dropped and
counted. An avatar may ask for any `Action`; an object only for an `ObjectAction`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated, Final, Protocol, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Action, Position, Volume
from gridagent.events import AvatarView, GridEvent, ObjectView
from gridagent.ids import AvatarId, ObjectId, OfferId
from gridagent.limits import Bounded, ChatText, Label, Name, ShortText

__all__ = (
    "PENDING_MAX",
    "Act",
    "AskPermission",
    "Character",
    "DialogAnswered",
    "ObjectAction",
    "ObjectEvent",
    "ObjectIm",
    "ObjectPaid",
    "ObjectSay",
    "ObjectTouched",
    "OfferAnswered",
    "OfferItem",
    "OpenDialog",
    "PermissionAnswered",
    "Request",
    "Scene",
    "ShowUrl",
    "Wake",
)

PENDING_MAX: Final = 64
"""Acts and wakes of one character that may wait at once."""

Seconds: TypeAlias = Annotated[float, Meta(ge=0.0, le=86_400.0)]


# --- what an object's script may ask for --------------------------------------------------------


class _ObjectAction(Bounded, frozen=True, kw_only=True, tag_field="object_action"):
    """Base of the union."""


class ObjectSay(_ObjectAction, frozen=True, kw_only=True, tag="object_say"):
    """Speak in public as the object."""

    text: Annotated[ChatText, Meta(min_length=1)]
    volume: Volume = Volume.SAY
    chat_channel: int = 0


class ObjectIm(_ObjectAction, frozen=True, kw_only=True, tag="object_im"):
    """Send an instant message to one avatar, as the object."""

    to: AvatarId
    text: Annotated[ChatText, Meta(min_length=1)]


class OpenDialog(_ObjectAction, frozen=True, kw_only=True, tag="open_dialog"):
    """Show an avatar a text with buttons; the answer comes back as `DialogAnswered`."""

    to: AvatarId
    text: Annotated[str, Meta(min_length=1, max_length=1024)]
    buttons: Annotated[tuple[Label, ...], Meta(min_length=1, max_length=12)] = ("OK",)


class AskPermission(_ObjectAction, frozen=True, kw_only=True, tag="ask_permission"):
    """Ask an avatar for script permissions (``debit``, ``animate``, ``attach``, ``control`` …)."""

    to: AvatarId
    permissions: Annotated[tuple[Label, ...], Meta(min_length=1, max_length=16)]


class OfferItem(_ObjectAction, frozen=True, kw_only=True, tag="offer_item"):
    """Offer an avatar an item; a copy comes into their inventory when they accept."""

    to: AvatarId
    name: Annotated[Name, Meta(min_length=1)]
    kind: Label = "object"


class ShowUrl(_ObjectAction, frozen=True, kw_only=True, tag="show_url"):
    """Offer an avatar a web page."""

    to: AvatarId
    url: ShortText


ObjectAction: TypeAlias = ObjectSay | ObjectIm | OpenDialog | AskPermission | OfferItem | ShowUrl
"""Everything an object's script may ask for."""


# --- what only an object's script is told -------------------------------------------------------


class _ObjectEvent(Bounded, frozen=True, kw_only=True, tag_field="object_event"):
    """Base of the union; ``avatar_id`` did it."""

    avatar_id: AvatarId
    name: Name


class ObjectTouched(_ObjectEvent, frozen=True, kw_only=True, tag="object_touched"):
    """An avatar touched the object."""


class ObjectPaid(_ObjectEvent, frozen=True, kw_only=True, tag="object_paid"):
    """An avatar paid the object's owner through the object."""

    amount: int


class DialogAnswered(_ObjectEvent, frozen=True, kw_only=True, tag="dialog_answered"):
    """An avatar pressed a button of a dialog of this object."""

    offer_id: OfferId
    button: Label


class PermissionAnswered(_ObjectEvent, frozen=True, kw_only=True, tag="permission_answered"):
    """An avatar granted some permissions, or none."""

    offer_id: OfferId
    granted: Annotated[tuple[Label, ...], Meta(max_length=16)]


class OfferAnswered(_ObjectEvent, frozen=True, kw_only=True, tag="offer_answered"):
    """An avatar took or left an offered item."""

    offer_id: OfferId
    accepted: bool


ObjectEvent: TypeAlias = ObjectTouched | ObjectPaid | DialogAnswered | PermissionAnswered | OfferAnswered
"""What an object's script is told beside the `ChatHeard` events in its range."""


# --- the contract --------------------------------------------------------------------------------


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Do this for me, after a delay in seconds."""

    action: Action | ObjectAction
    after_s: Seconds = 0.0


class Wake(msgspec.Struct, frozen=True, kw_only=True):
    """Call ``on_wake(name)`` after a delay in seconds."""

    name: Label
    after_s: Seconds


Request: TypeAlias = Act | Wake
"""What a character returns; acts and wakes due at one moment keep the order in which they were asked for."""


class Scene(Protocol):
    """What one character can see at the moment it is called; reading it causes nothing."""

    @property
    def now(self) -> float:
        """Seconds on the world's monotonic clock."""
        ...

    @property
    def me(self) -> AvatarId | ObjectId:
        """The character's own id."""
        ...

    @property
    def name(self) -> str:
        """The character's own name."""
        ...

    @property
    def region(self) -> str:
        """Name of the region the character is in."""
        ...

    @property
    def region_size_m(self) -> int:
        """Side of that region in metres; positions run from 0 to this."""
        ...

    @property
    def position(self) -> Position:
        """Where the character is now, in the region frame."""
        ...

    @property
    def balance(self) -> int:
        """The character's own L$; 0 for an object."""
        ...

    @property
    def rng(self) -> random.Random:
        """The character's own random stream; nobody else draws from it."""
        ...

    def avatars(self) -> Sequence[AvatarView]:
        """Return the other avatars of the region, nearest first; at most 256."""
        ...

    def objects(self) -> Sequence[ObjectView]:
        """Return the other objects of the region, nearest first; at most 256."""
        ...


class Character(Protocol):
    """A scripted mind. An exception out of it is a bug and is not caught."""

    def start(self, scene: Scene) -> Sequence[Request]:
        """Begin: the avatar has just logged in (again, after a kick or restart), or the object was placed.

        Comes before the first event of that login, so it is the place to forget an earlier one.
        """
        ...

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Take one event. Inhabitants get `GridEvent`, objects `ChatHeard` in range and `ObjectEvent`."""
        ...

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Take one wake asked for earlier. What waited when the avatar logged out is dropped."""
        ...
