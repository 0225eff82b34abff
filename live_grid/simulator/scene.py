"""Avatars and objects as the wire shows them: full, compressed, by checksum, terse, and gone.

Owns the byte layouts of the four forms of update and the bits and codes in them; knows no circuit. What is shown is
what the world's records say at the moment of asking. The encoders are the counterpart of the readers that a client
needs, and are tested against recorded updates (Spec: LIV-5, LIV-15).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Final, TypeAlias

from gridagent.actions import Position
from gridagent.events import Posture
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.region import GROUND_M
from gridagent.ids import AvatarId
from live_grid.messages import NIL
from live_grid.messages.objects import (
    ImprovedTerseObjectUpdate,
    KillObject,
    ObjectPropertiesFamily,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
)
from live_grid.simulator.ids import wire_id
from live_grid.simulator.wording import short_text

__all__ = (
    "ALL_PERMISSIONS",
    "CREATE_SELECTED",
    "Rotation",
    "Shown",
    "avatar_block",
    "cached_block",
    "checksum",
    "compressed_block",
    "full",
    "heading_of",
    "kill",
    "object_block",
    "properties",
    "terse",
    "terse_block",
    "update_cached",
    "update_compressed",
)

Rotation: TypeAlias = tuple[float, float, float, float]
Shown: TypeAlias = ObjectUpdate.ObjectData

ALL_PERMISSIONS: Final = 0x7FFF_FFFF
CREATE_SELECTED: Final = 1 << 1
_MODIFY, _COPY, _ANY_OWNER, _YOU_OWNER = 1 << 2, 1 << 3, 1 << 4, 1 << 5
_SCRIPTED, _TOUCH, _MOVE, _MONEY = 1 << 6, 1 << 7, 1 << 8, 1 << 9
_TRANSFER: Final = 1 << 17
_CLICK_SIT, _CLICK_BUY, _CLICK_PAY = 1, 2, 3
_PRIM, _AVATAR = 9, 47
_WOOD, _FLESH = 3, 4
_DILATION: Final = 0xFFFF
_SCALE: Final = (0.5, 0.5, 0.5)
_AVATAR_SCALE: Final = (0.45, 0.6, 1.9)
_STANDING_M: Final = 0.95
"""The wire gives an avatar's middle; the world gives its feet."""
_MOTION: Final = struct.Struct("<15f")
_AVATAR_MOTION: Final = struct.Struct("<19f")
_GROUND_PLANE: Final = (0.0, 0.0, 1.0, GROUND_M)
_COMPRESSED: Final = struct.Struct("<16sI2BI2B9fI16s")
_SHAPE: Final = struct.Struct("<BHHBBBBbbbbbBbBHHH")
_TERSE: Final = struct.Struct("<IBB")
_POSITION: Final = struct.Struct("<3f")
_QUANTA: Final = struct.Struct("<3H3H4H3H")
_WOODEN: Final = wire_id("89556747-24cb-43ed-920b-47caed15465f") + struct.pack("<6xfxfx32x", 1.0, 1.0)
"""Plywood all over: a texture, no colour, each face covered once."""
_FAR_M_S, _SPIN = 128.0, 64.0
_COPY_OF_ORIGINAL: Final = 2
_NOT_FOR_SALE: Final = 0


def rotation_of(heading_deg: float) -> Rotation:
    """Write a heading as a unit quaternion whose w is not negative."""
    half = math.radians(heading_deg) / 2
    z, w = math.sin(half), math.cos(half)
    return (0.0, 0.0, z, w) if w >= 0 else (0.0, 0.0, -z, -w)


def heading_of(x: float, y: float, z: float) -> float | None:
    """Read a heading in degrees from the three numbers of a quaternion; None if they are none of one."""
    rest = 1.0 - x * x - y * y - z * z
    if not math.isfinite(rest) or rest < -0.01:  # noqa: PLR2004 - what rounding to 32 bits explains
        return None
    w = math.sqrt(max(0.0, rest))
    heading = math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) % 360.0
    return heading if heading < 360.0 else 0.0  # noqa: PLR2004 - a tiny negative angle rounds up to it


def _middle(body: Body, here: Position) -> tuple[float, float, float]:
    return here.x, here.y, here.z if body.posture is Posture.SITTING else here.z + _STANDING_M


def _velocity(body: Body, now: float) -> tuple[float, float, float]:
    walk = body.walk
    if walk is None or now >= walk.ends_at:
        return 0.0, 0.0, 0.0
    lasts = walk.ends_at - walk.started_at
    return (
        (walk.target.x - walk.start.x) / lasts,
        (walk.target.y - walk.start.y) / lasts,
        (walk.target.z - walk.start.z) / lasts,
    )


# --- full updates --------------------------------------------------------------------------------


def _name_values(name: str) -> bytes:
    first, _, last = name.partition(" ")
    return short_text(
        f"FirstName STRING RW SV {first}\nLastName STRING RW SV {last}\nTitle STRING RW SV ".replace("\0", "")
    )


def avatar_block(avatar: Avatar, body: Body, now: float, *, local_id: int, seat: int = 0) -> Shown:
    """Show an avatar in full.

    Args:
        avatar: whose name is shown.
        body: where it is.
        now: seconds.
        local_id: its number in the region.
        seat: the number of the object it sits on; its position is then relative to that, which is nothing.
    """
    middle = (0.0, 0.0, 0.0) if seat else _middle(body, body.position_at(now))
    still = (0.0, 0.0, 0.0)
    motion = _AVATAR_MOTION.pack(
        *_GROUND_PLANE, *middle, *_velocity(body, now), *still, *rotation_of(body.heading_deg)[:3], *still
    )
    return _block(
        local_id=local_id,
        full_id=wire_id(avatar.avatar_id),
        pcode=_AVATAR,
        material=_FLESH,
        scale=_AVATAR_SCALE,
        motion=motion,
        parent_id=seat,
        name_value=_name_values(avatar.name),
    )


def object_block(thing: GridObject, viewer: AvatarId, *, local_id: int, selected: bool = False) -> Shown:
    """Show an object in full.

    Args:
        thing: which.
        viewer: who looks: what they may do is in the flags.
        local_id: its number in the region.
        selected: the viewer has just built it.
    """
    here, still = thing.position, (0.0, 0.0, 0.0)
    return _block(
        local_id=local_id,
        full_id=wire_id(thing.object_id),
        pcode=_PRIM,
        material=_WOOD,
        scale=_SCALE,
        motion=_MOTION.pack(here.x, here.y, here.z, *still * 4),
        crc=checksum(thing),
        click_action=_click(thing),
        flags=_flags(thing, viewer) | (CREATE_SELECTED if selected else 0),
        owner_id=wire_id(thing.owner_id),
        texture_entry=_WOODEN,
        shaped=True,
    )


def _block(
    *,
    local_id: int,
    full_id: bytes,
    pcode: int,
    material: int,
    scale: tuple[float, float, float],
    motion: bytes,
    parent_id: int = 0,
    name_value: bytes = b"",
    crc: int = 0,
    click_action: int = 0,
    flags: int = 0,
    owner_id: bytes = NIL,
    texture_entry: bytes = b"",
    shaped: bool = False,
) -> Shown:
    box = {"path_curve": 16, "profile_curve": 1, "path_scale_x": 100, "path_scale_y": 100} if shaped else {}
    shape = dict.fromkeys(("path_curve", "profile_curve", "path_scale_x", "path_scale_y"), 0) | box
    return ObjectUpdate.ObjectData(
        id=local_id,
        state=0,
        full_id=full_id,
        crc=crc,
        pcode=pcode,
        material=material,
        click_action=click_action,
        scale=scale,
        object_data=motion,
        parent_id=parent_id,
        update_flags=flags,
        **shape,
        path_begin=0,
        path_end=0,
        path_shear_x=0,
        path_shear_y=0,
        path_twist=0,
        path_twist_begin=0,
        path_radius_offset=0,
        path_taper_x=0,
        path_taper_y=0,
        path_revolutions=0,
        path_skew=0,
        profile_begin=0,
        profile_end=0,
        profile_hollow=0,
        texture_entry=texture_entry,
        texture_anim=b"",
        name_value=name_value,
        data=b"",
        text=b"",
        text_color=bytes(4),
        media_url=b"",
        ps_block=b"",
        extra_params=b"\0" if shaped else b"",
        sound=NIL,
        owner_id=owner_id,
        gain=0.0,
        flags=0,
        radius=0.0,
        joint_type=0,
        joint_pivot=(0.0, 0.0, 0.0),
        joint_axis_or_anchor=(0.0, 0.0, 0.0),
    )


def _click(thing: GridObject) -> int:
    look = thing.thing
    if look.for_sale is not None:
        return _CLICK_BUY
    if look.payable:
        return _CLICK_PAY
    return _CLICK_SIT if look.sittable else 0


def _flags(thing: GridObject, viewer: AvatarId) -> int:
    look = thing.thing
    flags = _ANY_OWNER
    if thing.owner_id == viewer:
        flags |= (
            _YOU_OWNER | _MODIFY | _MOVE | (_COPY if look.may_copy else 0) | (_TRANSFER if look.may_transfer else 0)
        )
    if thing.script is not None:
        flags |= _SCRIPTED
    if look.touchable:
        flags |= _TOUCH
    if look.payable or look.for_sale is not None:
        flags |= _MONEY
    return flags


def full(handle: int, blocks: Sequence[Shown]) -> ObjectUpdate:
    """Make a full update."""
    return ObjectUpdate(region_data=ObjectUpdate.RegionData(handle, _DILATION), object_data=tuple(blocks))


# --- by checksum, and compressed -----------------------------------------------------------------


def checksum(thing: GridObject) -> int:
    """Return a number that changes with everything that can be seen of an object."""
    here, look = thing.position, thing.thing
    seen = f"{thing.owner_id}|{here.x}|{here.y}|{here.z}|{look.name}|{look.description}|{look.for_sale}"
    return zlib.crc32(seen.encode("utf-8", "replace"))


def cached_block(thing: GridObject, viewer: AvatarId, *, local_id: int) -> ObjectUpdateCached.ObjectData:
    """Name an object by number and checksum."""
    return ObjectUpdateCached.ObjectData(local_id, checksum(thing), _flags(thing, viewer))


def update_cached(handle: int, blocks: Sequence[ObjectUpdateCached.ObjectData]) -> ObjectUpdateCached:
    """Make an update by checksum."""
    return ObjectUpdateCached(region_data=ObjectUpdateCached.RegionData(handle, _DILATION), object_data=tuple(blocks))


def compressed_block(thing: GridObject, viewer: AvatarId, *, local_id: int) -> ObjectUpdateCompressed.ObjectData:
    """Show an object in the packed form: head, extra parameters, shape, textures."""
    here = thing.position
    head = _COMPRESSED.pack(
        wire_id(thing.object_id),
        local_id,
        _PRIM,
        0,
        checksum(thing),
        _WOOD,
        _click(thing),
        *_SCALE,
        here.x,
        here.y,
        here.z,
        0.0,
        0.0,
        0.0,
        0,
        wire_id(thing.owner_id),
    )
    shape = _SHAPE.pack(16, 0, 0, 100, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
    textures = struct.pack("<I", len(_WOODEN)) + _WOODEN
    return ObjectUpdateCompressed.ObjectData(_flags(thing, viewer), head + b"\0" + shape + textures)


def update_compressed(handle: int, blocks: Sequence[ObjectUpdateCompressed.ObjectData]) -> ObjectUpdateCompressed:
    """Make an update in the packed form."""
    return ObjectUpdateCompressed(
        region_data=ObjectUpdateCompressed.RegionData(handle, _DILATION), object_data=tuple(blocks)
    )


# --- movement, and the end -----------------------------------------------------------------------


def _quantum(value: float, reach: float) -> int:
    return round((min(max(value, -reach), reach) + reach) / (2 * reach) * 0xFFFF)


def terse_block(body: Body, now: float, *, local_id: int) -> ImprovedTerseObjectUpdate.ObjectData:
    """Show how an avatar that does not sit on anything moves."""
    turned = rotation_of(body.heading_deg)
    quanta = _QUANTA.pack(
        *(_quantum(part, _FAR_M_S) for part in _velocity(body, now)),
        *(_quantum(0.0, _SPIN),) * 3,
        *(_quantum(part, 1.0) for part in turned),
        *(_quantum(0.0, _SPIN),) * 3,
    )
    data = (
        _TERSE.pack(local_id, 0, 1)
        + struct.pack("<4f", *_GROUND_PLANE)
        + _POSITION.pack(*_middle(body, body.position_at(now)))
        + quanta
    )
    return ImprovedTerseObjectUpdate.ObjectData(data, b"")


def terse(handle: int, blocks: Sequence[ImprovedTerseObjectUpdate.ObjectData]) -> ImprovedTerseObjectUpdate:
    """Make a terse update."""
    return ImprovedTerseObjectUpdate(
        region_data=ImprovedTerseObjectUpdate.RegionData(handle, _DILATION), object_data=tuple(blocks)
    )


def kill(local_ids: Sequence[int]) -> KillObject:
    """Say that something is gone."""
    return KillObject(object_data=tuple(map(KillObject.ObjectData, local_ids)))


def properties(thing: GridObject, request_flags: int) -> ObjectPropertiesFamily:
    """Tell an object's name, owner, rights and price."""
    look = thing.thing
    owner = wire_id(thing.owner_id)
    return ObjectPropertiesFamily(
        object_data=ObjectPropertiesFamily.ObjectData(
            request_flags=request_flags,
            object_id=wire_id(thing.object_id),
            owner_id=owner,
            group_id=NIL,
            base_mask=ALL_PERMISSIONS,
            owner_mask=ALL_PERMISSIONS,
            group_mask=0,
            everyone_mask=0,
            next_owner_mask=ALL_PERMISSIONS,
            ownership_cost=0,
            sale_type=_NOT_FOR_SALE if look.for_sale is None else _COPY_OF_ORIGINAL,
            sale_price=look.for_sale or 0,
            category=0,
            last_owner_id=owner,
            name=short_text(look.name),
            description=short_text(look.description),
        )
    )
