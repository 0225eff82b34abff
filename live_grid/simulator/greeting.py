"""What a region says about itself: handshake, presence, estate facts, map, overlay, who is where on the coarse raster.

Owns the layout of each message; decides nothing and knows no circuit. Values nobody uses are those that a recorded
OpenSimulator sent (Spec: LIV-5, LIV-15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gridagent.actions import Position
from gridagent.events import Posture
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.region import Region
from gridagent.ids import AvatarId
from live_grid.messages import NIL
from live_grid.messages.avatars import AvatarAnimation
from live_grid.messages.circuits import AgentMovementComplete
from live_grid.messages.notation import AgentSession
from live_grid.messages.parcels import ParcelOverlay
from live_grid.messages.regions import (
    CoarseLocationUpdate,
    MapBlockReply,
    RegionHandshake,
    RegionInfo,
)
from live_grid.simulator.ids import derived_id, wire_id
from live_grid.simulator.places import MAP_UNIT_M, Place
from live_grid.simulator.queue_events import SIM_ACCESS
from live_grid.simulator.wording import short_text

__all__ = ("coarse_locations", "handshake", "map_reply", "movement_complete", "overlays", "region_info", "standing")

_FLAGS: Final = 0x1410_8026
_PROTOCOLS: Final = 1 << 63
_WATER_M: Final = 20.0
_NOT_ON_MAP: Final = 255
_STANDARD_M: Final = 256
_COARSE_MAX: Final = 255
_COARSE_Z_M: Final = 4
_COARSE_MOST: Final = 200
_OVERLAY_SIZE_MAX_M: Final = 1_024
_OVERLAY_CHUNK: Final = 1_024
_SQUARE_M: Final = 4
_OWNED_BY_OTHER, _OWNED_BY_YOU, _WEST_LINE, _SOUTH_LINE = 1, 3, 0x40, 0x80
_BLOCKS_PER_REPLY: Final = 3
"""Names of 250 bytes fit, with the end mark."""
STAND: Final = wire_id("2408fe9e-df1d-1d7d-f4ff-1384fa7b350f")
SIT_ON_GROUND: Final = wire_id("1a2bd58e-87ff-0df8-0b4c-53e047b0bb6e")
"""The only sign of it on the wire."""


def handshake(place: Place, viewer: AvatarId) -> RegionHandshake:
    """Say what a region is."""
    region = place.region
    details = [derived_id("terrain", str(number)) for number in range(4)]
    return RegionHandshake(
        region_info=RegionHandshake.RegionInfo(
            region_flags=_FLAGS,
            sim_access=SIM_ACCESS,
            sim_name=short_text(region.name),
            sim_owner=wire_id(region.owner_id),
            is_estate_manager=region.owner_id == viewer,
            water_height=_WATER_M,
            billable_factor=0.0,
            cache_id=derived_id("cache", region.name),
            terrain_base0=NIL,
            terrain_base1=NIL,
            terrain_base2=NIL,
            terrain_base3=NIL,
            terrain_detail0=details[0],
            terrain_detail1=details[1],
            terrain_detail2=details[2],
            terrain_detail3=details[3],
            terrain_start_height00=10.0,
            terrain_start_height01=10.0,
            terrain_start_height10=10.0,
            terrain_start_height11=10.0,
            terrain_height_range00=60.0,
            terrain_height_range01=60.0,
            terrain_height_range10=60.0,
            terrain_height_range11=60.0,
        ),
        region_info2=RegionHandshake.RegionInfo2(place.region_id),
        region_info3=RegionHandshake.RegionInfo3(
            cpu_class_id=9, cpu_ratio=1, colo_name=b"", product_sku=b"", product_name=b""
        ),
        region_info4=(RegionHandshake.RegionInfo4(_FLAGS, _PROTOCOLS),),
    )


def movement_complete(
    session: AgentSession, place: Place, position: Position, *, timestamp: int, version: str
) -> AgentMovementComplete:
    """Say that an avatar is present, and where."""
    return AgentMovementComplete(
        agent_data=session,
        data=AgentMovementComplete.Data(
            position=(position.x, position.y, position.z),
            look_at=(1.0, 0.0, 0.0),
            region_handle=place.handle,
            timestamp=timestamp,
        ),
        sim_data=AgentMovementComplete.SimData(channel_version=short_text(version)),
    )


def region_info(session: AgentSession, place: Place) -> RegionInfo:
    """Tell a region's estate facts."""
    region = place.region
    return RegionInfo(
        agent_data=session,
        region_info=RegionInfo.RegionInfo(
            sim_name=short_text(region.name),
            estate_id=101,
            parent_estate_id=1,
            region_flags=_FLAGS,
            sim_access=SIM_ACCESS,
            max_agents=min(region.capacity, _COARSE_MAX),
            billable_factor=0.0,
            object_bonus_factor=1.0,
            water_height=_WATER_M,
            terrain_raise_limit=100.0,
            terrain_lower_limit=-100.0,
            price_per_meter=1,
            redirect_grid_x=0,
            redirect_grid_y=0,
            use_estate_sun=False,
            sun_hour=0.0,
        ),
        region_info2=RegionInfo.RegionInfo2(
            product_sku=b"",
            product_name=b"",
            max_agents32=region.capacity,
            hard_max_agents=region.capacity,
            hard_max_objects=region.prim_limit,
        ),
    )


def _map_block(place: Place) -> MapBlockReply.Data:
    region = place.region
    return MapBlockReply.Data(
        x=region.x_m // MAP_UNIT_M,
        y=region.y_m // MAP_UNIT_M,
        name=short_text(region.name),
        access=SIM_ACCESS,
        region_flags=0,
        water_height=0,
        agents=min(len(region.avatars), _COARSE_MAX),
        map_image_id=derived_id("map", region.name),
    )


def map_reply(
    agent_id: bytes, flags: int, places: Sequence[Place], *, asked: bytes | None, sizes: bool
) -> Iterator[MapBlockReply]:
    """Show regions on the map.

    Args:
        agent_id: who asked.
        flags: of the request.
        places: what was found.
        asked: the name that was asked for, whose end mark closes the last reply; None for a rectangle.
        sizes: name the sizes of regions that are not 256 metres wide, in bytes after the known layout.
    """
    for first in range(0, max(len(places), 1), _BLOCKS_PER_REPLY):
        found = places[first : first + _BLOCKS_PER_REPLY]
        blocks = [_map_block(place) for place in found]
        if asked is not None and first + _BLOCKS_PER_REPLY >= len(places):
            blocks.append(MapBlockReply.Data(0, 0, asked, _NOT_ON_MAP, 0, 0, 0, NIL))
        yield MapBlockReply(
            agent_data=MapBlockReply.AgentData(agent_id, flags),
            data=tuple(blocks),
            extra=_sizes(found) if sizes else b"",
        )


def _sizes(places: Sequence[Place]) -> bytes:
    if all(place.region.size_m == _STANDARD_M for place in places):
        return b"\0"
    side = (place.region.size_m.to_bytes(2, "little") for place in places)
    return bytes((len(places),)) + b"".join(two + two for two in side)


def overlays(region: Region, viewer: AvatarId) -> Iterator[ParcelOverlay]:
    """Show who owns which squares of four metres, in pieces; too large a region shows nothing."""
    if region.size_m > _OVERLAY_SIZE_MAX_M:
        return
    side = region.size_m // _SQUARE_M
    only = region.parcels[0] if len(region.parcels) == 1 else None
    owners = [
        [
            only or region.parcel_at(Position(x=column * _SQUARE_M + 0.5, y=row * _SQUARE_M + 0.5))
            for column in range(side)
        ]
        for row in range(side)
    ]
    squares = bytearray()
    for row, parcels in enumerate(owners):
        for column, parcel in enumerate(parcels):
            square = _OWNED_BY_YOU if parcel.owner_id == viewer else _OWNED_BY_OTHER
            if column == 0 or parcels[column - 1] is not parcel:
                square |= _WEST_LINE
            if row == 0 or owners[row - 1][column] is not parcel:
                square |= _SOUTH_LINE
            squares.append(square)
    for number, start in enumerate(range(0, len(squares), _OVERLAY_CHUNK)):
        data = ParcelOverlay.ParcelData(number, bytes(squares[start : start + _OVERLAY_CHUNK]))
        yield ParcelOverlay(parcel_data=data)


def _coarse(part: float, size_m: int) -> int:
    """Scale a coordinate so that the whole region fits one byte."""
    return min(int(part * _STANDARD_M / size_m), _COARSE_MAX)


def coarse_locations(region: Region, viewer: AvatarId, now: float) -> CoarseLocationUpdate:
    """Show everybody in a region on the coarse raster; one that is not there sees no "you"."""
    here = [
        (avatar.avatar_id, avatar.body.position_at(now))
        for avatar in tuple(region.avatars.values())[:_COARSE_MOST]
        if avatar.body is not None
    ]
    ids = [avatar_id for avatar_id, _ in here]
    return CoarseLocationUpdate(
        location=tuple(
            CoarseLocationUpdate.Location(
                _coarse(position.x, region.size_m),
                _coarse(position.y, region.size_m),
                min(int(position.z) // _COARSE_Z_M, _COARSE_MAX),
            )
            for _, position in here
        ),
        index=CoarseLocationUpdate.Index(ids.index(viewer) if viewer in ids else -1, -1),
        agent_data=tuple(CoarseLocationUpdate.AgentData(wire_id(avatar_id)) for avatar_id in ids),
    )


def standing(avatar: Avatar) -> AvatarAnimation:
    """Say what an avatar plays: its own animations over the one of standing, or of sitting on the ground."""
    body = avatar.body
    playing = [STAND]
    if body is not None:
        on_ground = body.posture is Posture.SITTING_ON_GROUND
        playing = [SIT_ON_GROUND if on_ground else STAND, *(wire_id(one) for one in body.animations)]
    return AvatarAnimation(
        sender=AvatarAnimation.Sender(wire_id(avatar.avatar_id)),
        animation_list=tuple(
            AvatarAnimation.AnimationList(animation, number) for number, animation in enumerate(playing, 1)
        ),
    )
