"""What messages about regions do to our world: what they are, where we are in them, and the map.

Owns the reducers of the family; see `live_grid.world.reduce` for the table (Spec: LIV-5).
"""

from __future__ import annotations

from live_grid.messages.circuits import AgentMovementComplete
from live_grid.messages.regions import MapBlockReply, RegionHandshake, RegionInfo
from live_grid.world.events import MovementCompleted, RegionDescribed, RegionFound, RegionsFound, WorldEvent
from live_grid.world.state import Region, World
from live_grid.world.text import clean_name

__all__ = ("reduce_handshake", "reduce_map_block", "reduce_movement_complete", "reduce_region_info")

_END_MARK = 255
"""Access of a row that is no region."""
_HANDLE_SHIFT = 8
"""The map counts in units of 256 metres."""


def reduce_handshake(world: World, region: Region, message: RegionHandshake) -> tuple[WorldEvent, ...]:
    """Learn what a region is."""
    info = message.region_info
    region.described = True
    region.name = clean_name(info.sim_name)
    region.owner_id = info.sim_owner
    region.flags = info.region_flags
    region.access = info.sim_access
    region.we_manage = info.is_estate_manager
    region.region_id = message.region_info2.region_id
    region.product = clean_name(message.region_info3.product_name)
    return (RegionDescribed(region is world.here),)


def reduce_region_info(world: World, region: Region, message: RegionInfo) -> tuple[WorldEvent, ...]:
    """Learn the name of a region whose handshake did not come, or came before."""
    info = message.region_info
    name = clean_name(info.sim_name)
    if region.described and region.name == name and region.flags == info.region_flags:
        return ()
    region.described = True
    region.name = name
    region.flags = info.region_flags
    region.access = info.sim_access
    return (RegionDescribed(region is world.here),)


def reduce_movement_complete(world: World, region: Region, message: AgentMovementComplete) -> tuple[WorldEvent, ...]:
    """Learn that we are present, and where exactly."""
    del world
    data = message.data
    if data.region_handle:
        region.handle = data.region_handle
    return (MovementCompleted(data.position, data.look_at, data.region_handle),)


def reduce_map_block(world: World, region: Region, message: MapBlockReply) -> tuple[WorldEvent, ...]:
    """Take the map's answer; its end mark repeats the name that was asked for."""
    del world, region
    found = []
    asked = ""
    for row in message.data:
        if row.access == _END_MARK:
            asked = clean_name(row.name)
            continue
        handle = (row.x << _HANDLE_SHIFT) << 32 | row.y << _HANDLE_SHIFT
        found.append(RegionFound(clean_name(row.name), handle, row.access, row.agents))
    return (RegionsFound(tuple(found), asked),)
