"""What messages about people do to our world: who is in the region, their names, our friends, what we play.

Owns the reducers of the family. The coarse list is the whole truth about who is there and a poor one about where: it
never moves an avatar that is in sight, and one in sight that it leaves out twice has left (Spec: LIV-5, LIV-6).
"""

from __future__ import annotations

from typing import Final

from live_grid.messages.avatars import AgentDataUpdate, AvatarAnimation, AvatarSitResponse
from live_grid.messages.people import OfflineNotification, OnlineNotification, TerminateFriendship, UUIDNameReply
from live_grid.messages.regions import CoarseLocationUpdate
from live_grid.world.bounds import ANIMATIONS_MAX, FRIENDS_MAX
from live_grid.world.events import (
    AnimationsPlayed,
    AvatarChanged,
    AvatarLeft,
    FriendChanged,
    NameLearnt,
    OwnMotion,
    SeatGiven,
    WorldEvent,
)
from live_grid.world.packed import Motion
from live_grid.world.state import REGION_SIZE, Region, World
from live_grid.world.text import clean_name

__all__ = (
    "SIT_ON_GROUND",
    "change_friend",
    "reduce_agent_data",
    "reduce_animation",
    "reduce_coarse",
    "reduce_names",
    "reduce_offline",
    "reduce_online",
    "reduce_sit_response",
    "reduce_unfriended",
)

SIT_ON_GROUND: Final = frozenset(
    {
        bytes.fromhex("1a2bd58e87ff0df80b4c53e047b0bb6e"),
        bytes.fromhex("1c7600d6661fb87befe2d7421eb93c86"),
    }
)
"""The two animations of sitting on the ground: the only sign of it on the wire."""
_MISSED_MAX: Final = 2
_STEP_Z: Final = 4.0
_TOO_HIGH: Final = 255


def _place(world: World, region: Region, avatar_id: bytes, at: CoarseLocationUpdate.Location) -> WorldEvent | None:
    """Take one row of the list in; tell of it if somebody moved who is known from the list only."""
    avatar = region.avatars.get(avatar_id)
    if avatar is None:
        avatar = region.add_avatar(avatar_id)
        if avatar is None:
            return None
        avatar.name = world.names.get(avatar_id, "")
        if not avatar.name:
            world.want_name(avatar_id)
    avatar.missed = 0
    if not avatar.coarse:
        return None
    z = at.z * _STEP_Z if 0 < at.z < _TOO_HIGH else avatar.motion.position[2]
    position = (at.x * region.size_x / REGION_SIZE, at.y * region.size_y / REGION_SIZE, z)
    if position == avatar.motion.position:
        return None
    avatar.motion = Motion(position)
    return AvatarChanged(avatar_id)


def reduce_coarse(world: World, region: Region, message: CoarseLocationUpdate) -> tuple[WorldEvent, ...]:
    """Learn who is in the region, and roughly where."""
    events: list[WorldEvent] = []
    avatars = region.avatars
    me = world.agent_id
    listed = {me}
    for place, entry in zip(message.location, message.agent_data, strict=False):
        if entry.agent_id not in listed:
            listed.add(entry.agent_id)
            event = _place(world, region, entry.agent_id, place)
            if event is not None:
                events.append(event)
    for avatar in [one for avatar_id, one in avatars.items() if avatar_id not in listed]:
        avatar.missed += 1
        if avatar.coarse or avatar.missed >= _MISSED_MAX:
            region.drop_avatar(avatar)
            events.append(AvatarLeft(avatar.avatar_id))
    return tuple(events)


def _name(world: World, avatar_id: bytes, name: str) -> tuple[WorldEvent, ...]:
    if not world.learn_name(avatar_id, name):
        return ()
    for region in world.regions:
        avatar = region.avatars.get(avatar_id)
        if avatar is not None:
            avatar.name = name
    return (NameLearnt(avatar_id, name),)


def reduce_names(world: World, region: Region, message: UUIDNameReply) -> tuple[WorldEvent, ...]:
    """Learn names that were asked for."""
    del region
    events: list[WorldEvent] = []
    for block in message.uuid_name_block:
        events += _name(world, block.id, clean_name(block.first_name + b" " + block.last_name))
    return tuple(events)


def reduce_agent_data(world: World, region: Region, message: AgentDataUpdate) -> tuple[WorldEvent, ...]:
    """Learn our own name."""
    del region
    data = message.agent_data
    if data.agent_id != world.agent_id:
        return ()
    name = clean_name(data.first_name.rstrip(b"\0") + b" " + data.last_name)
    world.name = name or world.name
    return _name(world, world.agent_id, name)


def reduce_animation(world: World, region: Region, message: AvatarAnimation) -> tuple[WorldEvent, ...]:
    """Learn which animations we play; sitting on the ground and rising from it show in them only."""
    if message.sender.id != world.agent_id or region is not world.here:
        return ()
    before = world.animations
    now = frozenset(entry.anim_id for entry in message.animation_list[:ANIMATIONS_MAX])
    if now == before:
        return ()
    world.animations = now
    changed = AnimationsPlayed(tuple(sorted(now - before)), tuple(sorted(before - now)))
    if (now ^ before) & SIT_ON_GROUND:
        return changed, OwnMotion()
    return (changed,)


def reduce_sit_response(world: World, region: Region, message: AvatarSitResponse) -> tuple[WorldEvent, ...]:
    """Take notice of a seat we may take now."""
    if region is not world.here:
        return ()
    return (SeatGiven(message.sit_object.id, message.sit_transform.auto_pilot),)


def change_friend(world: World, avatar_id: bytes, *, friend: bool, online: bool) -> tuple[WorldEvent, ...]:
    """Keep a change of the friends list; nothing if it is none."""
    if not friend:
        return (FriendChanged(avatar_id, False, False),) if world.friends.pop(avatar_id, None) is not None else ()
    known = world.friends.get(avatar_id)
    if known is online or (known is None and len(world.friends) >= FRIENDS_MAX):
        return ()
    world.friends[avatar_id] = online
    return (FriendChanged(avatar_id, True, online),)


def reduce_online(world: World, region: Region, message: OnlineNotification) -> tuple[WorldEvent, ...]:
    """Learn of friends who came."""
    del region
    return tuple(
        event
        for block in message.agent_block
        for event in change_friend(world, block.agent_id, friend=True, online=True)
    )


def reduce_offline(world: World, region: Region, message: OfflineNotification) -> tuple[WorldEvent, ...]:
    """Learn of friends who went; whoever is no friend stays none."""
    del region
    return tuple(
        event
        for block in message.agent_block
        if block.agent_id in world.friends
        for event in change_friend(world, block.agent_id, friend=True, online=False)
    )


def reduce_unfriended(world: World, region: Region, message: TerminateFriendship) -> tuple[WorldEvent, ...]:
    """Learn that a friendship has ended."""
    del region
    return change_friend(world, message.ex_block.other_id, friend=False, online=False)
