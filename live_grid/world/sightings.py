"""What messages about objects and avatars in sight do to our world: the four forms of update, and the end of each.

Owns who is put where by `ObjectUpdate` and its kin, `KillObject` and the properties of an object. An update of our own
avatar is told as `OwnMotion`. A block that cannot be read is passed over, the rest of its message is not
(Spec: LIV-3, LIV-5; Fault: 5, 6).
"""

from __future__ import annotations

from typing import Final

from live_grid.errors import RemoteProtocolError
from live_grid.messages.objects import (
    ImprovedTerseObjectUpdate,
    KillObject,
    ObjectPropertiesFamily,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
)
from live_grid.world.bounds import LONG_MAX_CHARACTERS
from live_grid.world.events import AvatarChanged, AvatarLeft, Describe, ObjectChanged, ObjectGone, OwnMotion, WorldEvent
from live_grid.world.packed import (
    Motion,
    avatar_name,
    read_compressed_untrusted,
    read_motion_untrusted,
    read_terse_untrusted,
)
from live_grid.world.state import Avatar, Details, Region, Thing, World
from live_grid.world.text import clean_name, clean_text

__all__ = (
    "PCODE_AVATAR",
    "PCODE_PRIM",
    "reduce_cached",
    "reduce_compressed",
    "reduce_full",
    "reduce_kill",
    "reduce_properties_family",
    "reduce_terse",
)

PCODE_PRIM: Final = 9
PCODE_AVATAR: Final = 47


def _see_avatar(
    world: World, region: Region, avatar_id: bytes, local_id: int, motion: Motion, parent: int, name: str
) -> WorldEvent | None:
    avatar = region.avatars.get(avatar_id) or region.add_avatar(avatar_id)
    if avatar is None:
        return None
    region.call(avatar, local_id)
    avatar.motion = motion
    avatar.seat = parent
    avatar.coarse = False
    avatar.missed = 0
    if name:
        avatar.name = name
        world.learn_name(avatar_id, name)
    if avatar_id != world.agent_id:
        return AvatarChanged(avatar_id)
    return OwnMotion() if region is world.here else None


def _see_object(
    region: Region, object_id: bytes, local_id: int, *, pcode: int, state: int, click_action: int, parent: int
) -> Thing:
    thing = region.objects.get(object_id)
    if thing is None:
        thing = region.add_object(object_id, local_id)
    else:
        region.call(thing, local_id)
    thing.pcode = pcode
    thing.state = state
    thing.click_action = click_action
    thing.parent = parent
    if thing.details is None and not parent and pcode == PCODE_PRIM:
        region.want(object_id)
    return thing


def reduce_full(world: World, region: Region, message: ObjectUpdate) -> tuple[WorldEvent, ...]:
    """Take objects and avatars in full."""
    events: list[WorldEvent] = []
    for block in message.object_data:
        try:
            motion = read_motion_untrusted(block.object_data)
        except RemoteProtocolError:
            continue
        if block.pcode == PCODE_AVATAR:
            name = avatar_name(block.name_value)
            event = _see_avatar(world, region, block.full_id, block.id, motion, block.parent_id, name)
            if event is not None:
                events.append(event)
            continue
        thing = _see_object(
            region,
            block.full_id,
            block.id,
            pcode=block.pcode,
            state=block.state,
            click_action=block.click_action,
            parent=block.parent_id,
        )
        thing.motion = motion
        thing.scale = block.scale
        thing.flags = block.update_flags
        thing.hover_text = clean_text(block.text, LONG_MAX_CHARACTERS)
        events.append(ObjectChanged(block.full_id, False))
    return tuple(events)


def reduce_compressed(world: World, region: Region, message: ObjectUpdateCompressed) -> tuple[WorldEvent, ...]:
    """Take objects in the packed form."""
    events: list[WorldEvent] = []
    for block in message.object_data:
        try:
            found = read_compressed_untrusted(block.data)
        except RemoteProtocolError:
            continue
        if found.pcode == PCODE_AVATAR:
            event = _see_avatar(world, region, found.object_id, found.local_id, found.motion, found.parent, "")
            if event is not None:
                events.append(event)
            continue
        thing = _see_object(
            region,
            found.object_id,
            found.local_id,
            pcode=found.pcode,
            state=found.state,
            click_action=found.click_action,
            parent=found.parent,
        )
        thing.motion = found.motion
        thing.scale = found.scale
        thing.flags = block.update_flags
        events.append(ObjectChanged(found.object_id, False))
    return tuple(events)


def reduce_cached(world: World, region: Region, message: ObjectUpdateCached) -> tuple[WorldEvent, ...]:
    """Ask for objects that a viewer might have kept; we keep none from visit to visit."""
    del world
    missing = tuple(block.id for block in message.object_data if region.by_local(block.id) is None)
    return (Describe(missing),) if missing else ()


def reduce_terse(world: World, region: Region, message: ImprovedTerseObjectUpdate) -> tuple[WorldEvent, ...]:
    """Move what is known; what isn't is asked for."""
    events: list[WorldEvent] = []
    unknown: list[int] = []
    for block in message.object_data:
        try:
            local_id, _, motion = read_terse_untrusted(block.data)
        except RemoteProtocolError:
            continue
        found = region.by_local(local_id)
        if found is None:
            unknown.append(local_id)
            continue
        found.motion = motion
        if isinstance(found, Thing):
            events.append(ObjectChanged(found.object_id, False))
            continue
        found.coarse = False
        if found.avatar_id != world.agent_id:
            events.append(AvatarChanged(found.avatar_id))
        elif region is world.here:
            events.append(OwnMotion())
    if unknown:
        events.append(Describe(tuple(unknown)))
    return tuple(events)


def reduce_kill(world: World, region: Region, message: KillObject) -> tuple[WorldEvent, ...]:
    """Forget what is gone, with all that hangs on it; our own avatar is never gone from where we are."""
    events: list[WorldEvent] = []
    gone = set()
    for block in message.object_data:
        found = region.by_local(block.id)
        if isinstance(found, Thing):
            gone.add(block.id)
            region.drop_object(found)
            events.append(ObjectGone(found.object_id))
        elif isinstance(found, Avatar) and not (found.avatar_id == world.agent_id and region is world.here):
            gone.add(block.id)
            region.drop_avatar(found)
            events.append(AvatarLeft(found.avatar_id))
    if gone:
        for thing in [one for one in region.objects.values() if one.parent in gone]:
            region.drop_object(thing)
            events.append(ObjectGone(thing.object_id))
    return tuple(events)


def reduce_properties_family(world: World, region: Region, message: ObjectPropertiesFamily) -> tuple[WorldEvent, ...]:
    """Learn what an object says of itself."""
    del world
    block = message.object_data
    thing = region.objects.get(block.object_id)
    if thing is None:
        return ()
    region.wanted.pop(block.object_id, None)
    details = Details(
        name=clean_name(block.name),
        description=clean_text(block.description, LONG_MAX_CHARACTERS),
        owner_id=block.owner_id,
        group_id=block.group_id,
        owner_mask=block.owner_mask,
        everyone_mask=block.everyone_mask,
        sale_type=block.sale_type,
        sale_price=block.sale_price,
    )
    thing.details = details
    return (ObjectChanged(block.object_id, True),)
