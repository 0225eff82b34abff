"""What a client asks of regions: the handshake's answer, presence, parcels, the map, and to be elsewhere.

Owns the handlers of the family (Spec: LIV-5, LIV-7, LIV-15).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from gridagent.actions import Position, TeleportHome
from gridagent.events import DisconnectCause
from live_grid.messages import NIL
from live_grid.messages.circuits import CompleteAgentMovement
from live_grid.messages.parcels import (
    ParcelAccessListReply,
    ParcelAccessListRequest,
    ParcelDwellReply,
    ParcelDwellRequest,
    ParcelPropertiesRequest,
)
from live_grid.messages.regions import (
    MapBlockRequest,
    MapNameRequest,
    RegionHandleRequest,
    RegionHandshakeReply,
    RegionIDAndHandleReply,
    RequestRegionInfo,
)
from live_grid.messages.travel import TeleportLandmarkRequest, TeleportLocationRequest, TeleportRequest
from live_grid.simulator import greeting, movement, queue_events, travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.hearing import hear
from live_grid.simulator.ids import derived_id, wire_id
from live_grid.simulator.places import Place
from live_grid.simulator.visit import Visit
from live_grid.simulator.wording import name_from_wire, short_text

__all__ = (
    "complete_agent_movement",
    "handshake_reply",
    "map_block",
    "map_name",
    "parcel_access",
    "parcel_dwell",
    "parcel_properties",
    "region_handle",
    "region_info",
    "teleport_landmark",
    "teleport_location",
    "teleport_region",
)

_CACHE_EMPTY: Final = 1 << 1
_FOUND_MAX: Final = 100
_ACCESS_BANNED: Final = 2
_LISTED_MAX: Final = 48
_LANDMARK_WORDS: Final = 4


def handshake_reply(agent: Agent, visit: Visit, message: RegionHandshakeReply, now: float) -> None:
    """Take notice that a client knows the region; the scene may follow."""
    del now
    visit.handshake_answered = True
    visit.cache_is_empty = bool(message.region_info.flags & _CACHE_EMPTY)
    travel.show_scene(agent, visit)


def complete_agent_movement(agent: Agent, visit: Visit, message: CompleteAgentMovement, now: float) -> None:
    """Make the region the root, if the avatar is there."""
    if message.agent_data.circuit_code != agent.circuit_code:
        return
    if travel.complete_movement(agent, visit, now) and not agent.attached:
        agent.attached = True
        agent.stage.world.attach(agent.avatar_id, partial(hear, agent), partial(_ended, agent), now=now)


def _ended(agent: Agent, cause: DisconnectCause) -> None:
    """Take notice that the grid has ended the login; the core lets the circuits go."""
    agent.ended = cause
    agent.stage.wake()


def region_info(agent: Agent, visit: Visit, message: RequestRegionInfo, now: float) -> None:
    """Tell a region's estate facts."""
    del message, now
    visit.say(greeting.region_info(agent.identity, visit.place))


# --- parcels -------------------------------------------------------------------------------------


def parcel_properties(agent: Agent, visit: Visit, message: ParcelPropertiesRequest, now: float) -> None:
    """Describe the parcel under a rectangle's corner, on the event queue."""
    del now
    data, region = message.parcel_data, visit.place.region
    if not (math.isfinite(data.west) and math.isfinite(data.south)):
        return
    here = Position(x=data.west, y=data.south)
    body = queue_events.parcel_properties(
        region,
        region.parcel_at(here),
        sequence_id=data.sequence_id,
        profile=agent.stage.profile,
        snap=data.snap_selection,
    )
    visit.mailbox.put("ParcelProperties", body)


def parcel_access(agent: Agent, visit: Visit, message: ParcelAccessListRequest, now: float) -> None:
    """Tell who is banned from a parcel; nobody's list of who may enter is kept here."""
    del now
    data, parcels = message.data, visit.place.region.parcels
    if not 0 < data.local_id <= len(parcels):
        return
    banned = parcels[data.local_id - 1].land.banned if data.flags & _ACCESS_BANNED else ()
    rows = [ParcelAccessListReply.List(wire_id(one), 0, _ACCESS_BANNED) for one in banned[:_LISTED_MAX]]
    visit.say(
        ParcelAccessListReply(
            data=ParcelAccessListReply.Data(agent.agent_id, data.sequence_id, data.flags, data.local_id),
            list=tuple(rows or [ParcelAccessListReply.List(NIL, 0, 0)]),
        )
    )


def parcel_dwell(agent: Agent, visit: Visit, message: ParcelDwellRequest, now: float) -> None:
    """Tell a parcel's traffic, which nobody counts here."""
    del now
    parcels, asked = visit.place.region.parcels, message.data
    if 0 < asked.local_id <= len(parcels):
        parcel_id = wire_id(parcels[asked.local_id - 1].parcel_id)
        visit.say(
            ParcelDwellReply(
                agent_data=ParcelDwellReply.AgentData(agent.agent_id),
                data=ParcelDwellReply.Data(asked.local_id, parcel_id, 0.0),
            )
        )


# --- the map -------------------------------------------------------------------------------------


def map_name(agent: Agent, visit: Visit, message: MapNameRequest, now: float) -> None:
    """Find regions whose name begins so."""
    del now
    wanted = name_from_wire(message.name_data.name)
    found = [
        place for place in agent.stage.places if wanted and place.region.name.casefold().startswith(wanted.casefold())
    ]
    asked = short_text(wanted)
    _show_map(agent, visit, message.agent_data.flags, found, asked)


def map_block(agent: Agent, visit: Visit, message: MapBlockRequest, now: float) -> None:
    """Show the regions in a rectangle of the map."""
    del now
    data = message.position_data
    found = agent.stage.places.on_map(data.min_x, data.max_x, data.min_y, data.max_y)
    _show_map(agent, visit, message.agent_data.flags, list(found), None)


def _show_map(agent: Agent, visit: Visit, flags: int, found: list[Place], asked: bytes | None) -> None:
    sizes = agent.stage.profile.sizes_named
    for reply in greeting.map_reply(agent.agent_id, flags, found[:_FOUND_MAX], asked=asked, sizes=sizes):
        visit.say(reply)


def region_handle(agent: Agent, visit: Visit, message: RegionHandleRequest, now: float) -> None:
    """Tell where a region id lies."""
    del now
    place = agent.stage.places.with_id(message.request_block.region_id)
    if place is not None:
        reply = RegionIDAndHandleReply.ReplyBlock(place.region_id, place.handle)
        visit.say(RegionIDAndHandleReply(reply_block=reply))


# --- elsewhere -----------------------------------------------------------------------------------


def teleport_location(agent: Agent, visit: Visit, message: TeleportLocationRequest, now: float) -> None:
    """Teleport to a place named by a handle."""
    del visit
    found = agent.stage.places.at_handle(message.info.region_handle)
    position = movement.point_of(*message.info.position)
    if found is None or position is None:
        travel.ask_teleport(agent, None, Position(x=0.0, y=0.0), now)
        return
    place, east, north = found
    # A handle may name any square of a large region; positions count from the region's own corner then.
    spot = Position(x=position.x + east, y=position.y + north, z=position.z)
    travel.ask_teleport(agent, place, spot, now)


def teleport_region(agent: Agent, visit: Visit, message: TeleportRequest, now: float) -> None:
    """Teleport to a place in a region named by its id."""
    del visit
    position = movement.point_of(*message.info.position)
    place = agent.stage.places.with_id(message.info.region_id) if position is not None else None
    travel.ask_teleport(agent, place, position or Position(x=0.0, y=0.0), now)


def teleport_landmark(agent: Agent, visit: Visit, message: TeleportLandmarkRequest, now: float) -> None:
    """Teleport home, or to a landmark of the inventory."""
    del visit
    wanted = message.info.landmark_id
    if wanted == NIL:
        travel.start_teleport(agent, travel.VIA_HOME)
        agent.do("teleport", TeleportHome(), now)
        return
    for item in agent.avatar.inventory.values():
        if item.kind == "landmark" and derived_id("asset", item.item_id) == wanted:
            place, position = _place_of(agent, item.text)
            travel.ask_teleport(agent, place, position, now)
            return
    travel.ask_teleport(agent, None, Position(x=0.0, y=0.0), now)


def _place_of(agent: Agent, text: str) -> tuple[Place | None, Position]:
    """Read what the world writes into a landmark: a region's name and three numbers."""
    words = text.rsplit(" ", _LANDMARK_WORDS - 1)
    try:
        x, y, z = (float(word) for word in words[1:])
    except ValueError:
        return None, Position(x=0.0, y=0.0)
    position = movement.point_of(x, y, z)
    return (None, Position(x=0.0, y=0.0)) if position is None else (agent.stage.places.named(words[0]), position)
