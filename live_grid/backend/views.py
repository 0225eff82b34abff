"""From the world's records to the session's views: ids as text, positions within bounds, kinds in words.

Owns the translation of single values and records, in both directions; keeps no state. What a struct of the session
bounds is cut here, so that every view can be constructed (Spec: SUP-12).
"""

from __future__ import annotations

from math import dist
from typing import Final
from uuid import UUID

from gridagent.actions import Position
from gridagent.events import AvatarView, ItemView, ObjectView, ParcelView, Speaker, SpeakerKind
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId, ParcelId
from gridagent.limits import Label, clip
from live_grid.messages import NIL
from live_grid.world import Avatar, Region, SourceKind, Thing, Vector, World
from live_grid.world.events import ItemMade
from live_grid.world.state import Parcel

__all__ = (
    "CREATED",
    "OURS",
    "avatar_view",
    "bots_allowed",
    "item_view",
    "kind_word",
    "label",
    "name_of",
    "object_view",
    "parcel_view",
    "position_of",
    "raw",
    "short",
    "speaker",
    "text_id",
)

LABEL_MAX: Final = 64
NAME_MAX: Final = 128
SHORT_MAX: Final = 256
_LOWEST, _HIGHEST = -8_192.0, 16_384.0
_KINDS: Final = {
    0: "texture",
    1: "sound",
    2: "calling_card",
    3: "landmark",
    5: "clothing",
    6: "object",
    7: "notecard",
    8: "folder",
    10: "script",
    13: "body_part",
    20: "animation",
    21: "gesture",
    24: "link",
    56: "settings",
    57: "material",
}
_MAY_COPY, _MAY_TRANSFER = 0x8000, 0x2000
CREATED: Final = 0x2
"""Flag of an object: its maker has it selected still."""
OURS: Final = 0x20
"""Flag of an object: we own it."""
_TOUCH: Final = 0x80
_MAY_BUILD, _MAY_SCRIPT = 0x40, 0x200_0000
_DENY_BOTS: Final = 0x8000_0000
_SOURCES: Final = {
    SourceKind.SELF: SpeakerKind.SELF,
    SourceKind.AVATAR: SpeakerKind.AVATAR,
    SourceKind.OBJECT: SpeakerKind.OBJECT,
    SourceKind.SYSTEM: SpeakerKind.SYSTEM,
}


def text_id(uuid: bytes) -> str:
    """Write an id in its canonical form."""
    return str(UUID(bytes=uuid))


def raw(text: str) -> bytes:
    """Read a canonical id."""
    return UUID(text).bytes


def label(text: str) -> Label:
    """Cut a text to a label's length."""
    return clip(text, LABEL_MAX)


def short(text: str) -> str:
    """Cut a text to a short text's length."""
    return clip(text, SHORT_MAX)


def name_of(text: str) -> str:
    """Cut a text to a name's length."""
    return clip(text, NAME_MAX)


def position_of(vector: Vector) -> Position:
    """Make a position; what lies outside every region is put on its edge."""
    x, y, z = (min(max(value, _LOWEST), _HIGHEST) for value in vector)
    return Position(x=x, y=y, z=z)


def kind_word(asset_type: int) -> str:
    """Name an asset type."""
    return _KINDS.get(asset_type, "other")


def bots_allowed(region: Region) -> bool:
    """Tell whether a region lets scripted agents in; one on its access list is let in all the same."""
    return not region.flags & _DENY_BOTS


def speaker(kind: SourceKind, source_id: bytes, owner_id: bytes, name: str) -> Speaker:
    """Make the source of words; an object's owner is named beside it and never stands for it."""
    return Speaker(
        kind=_SOURCES[kind],
        id=NIL_UUID if kind is SourceKind.SYSTEM else text_id(source_id),
        name=name_of(name),
        owner_id=AvatarId(text_id(owner_id)) if kind is SourceKind.OBJECT and owner_id != NIL else None,
    )


def avatar_view(world: World, avatar: Avatar) -> AvatarView:
    """Show an avatar of the region we are in."""
    here = world.here.position_of(avatar)
    return AvatarView(
        avatar_id=AvatarId(text_id(avatar.avatar_id)),
        name=name_of(avatar.name or world.names.get(avatar.avatar_id, "")),
        position=position_of(here),
        distance_m=round(dist(here, world.position), 2),
    )


def object_view(world: World, thing: Thing, reference: Label = "") -> ObjectView | None:
    """Show an object of the region we are in, once it has said what it is."""
    details = thing.details
    if details is None:
        return None
    return ObjectView(
        object_id=ObjectId(text_id(thing.object_id)),
        name=name_of(details.name),
        owner_id=AvatarId(text_id(details.owner_id)),
        position=position_of(world.here.position_of(thing)),
        description=short(details.description),
        for_sale=max(0, details.sale_price) if details.sale_type else None,
        touchable=bool(thing.flags & _TOUCH),
        sittable=not thing.state,
        reference=reference,
    )


def parcel_view(world: World, parcel: Parcel) -> ParcelView:
    """Show the parcel under us. Grids do not tell its id: its region and number stand in."""
    number = (parcel.local_id & 0xFFFF_FFFF).to_bytes(4, "big")
    ours = parcel.owner_id == world.agent_id
    return ParcelView(
        parcel_id=ParcelId(text_id(world.here.handle.to_bytes(8, "big") + number + b"land")),
        name=name_of(parcel.name),
        owner_id=AvatarId(text_id(parcel.owner_id)),
        may_build=ours or bool(parcel.flags & _MAY_BUILD),
        may_run_scripts=ours or bool(parcel.flags & _MAY_SCRIPT),
        bots_allowed=bots_allowed(world.here),
        description=short(parcel.description),
    )


def item_view(item: ItemMade) -> ItemView:
    """Show an inventory item."""
    return ItemView(
        item_id=ItemId(text_id(item.item_id)),
        name=name_of(item.name),
        kind=kind_word(item.kind),
        may_copy=bool(item.owner_mask & _MAY_COPY),
        may_transfer=bool(item.owner_mask & _MAY_TRANSFER),
    )
