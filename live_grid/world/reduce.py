"""What every message does to our world: one table, message class → reducer, and one for the event queue.

Owns the tables and the two functions that walk them; the reducers stand in the families beside it. A reducer takes the
world, the region whose circuit the message came by, and the message; it changes records and returns what happened. It
waits for nothing, asks nobody, reads no clock. A message without a row is not even read: the circuit is told to want
`WANTED` only.

Invariant: no message makes a reducer raise anything but `RemoteProtocolError`, which is counted by the caller
(Spec: LIV-3, LIV-5, LIV-6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from live_grid.event_queue import QueueEvent
from live_grid.messages import Message
from live_grid.messages.avatars import AgentDataUpdate, AvatarAnimation, AvatarSitResponse
from live_grid.messages.circuits import AgentMovementComplete, DisableSimulator, KickUser, LogoutReply
from live_grid.messages.holdings import (
    BulkUpdateInventory,
    InventoryDescendents,
    MoneyBalanceReply,
    PayPriceReply,
    UpdateCreateInventoryItem,
)
from live_grid.messages.objects import (
    ImprovedTerseObjectUpdate,
    KillObject,
    ObjectPropertiesFamily,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
)
from live_grid.messages.people import OfflineNotification, OnlineNotification, TerminateFriendship, UUIDNameReply
from live_grid.messages.regions import CoarseLocationUpdate, MapBlockReply, RegionHandshake, RegionInfo
from live_grid.messages.speech import (
    AgentAlertMessage,
    AlertMessage,
    ChatFromSimulator,
    ImprovedInstantMessage,
    LoadURL,
    ScriptDialog,
    ScriptQuestion,
)
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportProgress, TeleportStart
from live_grid.world import holdings, instant, parcels, people, regions, sightings, speech, travel
from live_grid.world.events import AvatarChanged, AvatarLeft, ObjectChanged, ObjectGone, WorldEvent
from live_grid.world.state import Region, World

__all__ = ("QUEUE_REDUCERS", "REDUCERS", "WANTED", "reduce_message", "reduce_queue_event")

Events = tuple[WorldEvent, ...]

REDUCERS: Final[Mapping[type[Message], Callable[..., Events]]] = MappingProxyType(
    {
        # regions
        RegionHandshake: regions.reduce_handshake,
        RegionInfo: regions.reduce_region_info,
        AgentMovementComplete: regions.reduce_movement_complete,
        MapBlockReply: regions.reduce_map_block,
        # things and people in sight
        ObjectUpdate: sightings.reduce_full,
        ObjectUpdateCompressed: sightings.reduce_compressed,
        ObjectUpdateCached: sightings.reduce_cached,
        ImprovedTerseObjectUpdate: sightings.reduce_terse,
        KillObject: sightings.reduce_kill,
        ObjectPropertiesFamily: sightings.reduce_properties_family,
        # people
        CoarseLocationUpdate: people.reduce_coarse,
        UUIDNameReply: people.reduce_names,
        AgentDataUpdate: people.reduce_agent_data,
        AvatarAnimation: people.reduce_animation,
        AvatarSitResponse: people.reduce_sit_response,
        OnlineNotification: people.reduce_online,
        OfflineNotification: people.reduce_offline,
        TerminateFriendship: people.reduce_unfriended,
        # words
        ChatFromSimulator: speech.reduce_chat,
        ImprovedInstantMessage: instant.reduce_instant_message,
        AlertMessage: speech.reduce_alert,
        AgentAlertMessage: speech.reduce_agent_alert,
        LoadURL: speech.reduce_url,
        ScriptDialog: speech.reduce_script_dialog,
        ScriptQuestion: speech.reduce_script_question,
        KickUser: speech.reduce_kick,
        LogoutReply: speech.reduce_logout_reply,
        # money and inventory
        MoneyBalanceReply: holdings.reduce_balance,
        PayPriceReply: holdings.reduce_pay_price,
        UpdateCreateInventoryItem: holdings.reduce_items,
        BulkUpdateInventory: holdings.reduce_bulk_update,
        InventoryDescendents: holdings.reduce_descendents,
        # going elsewhere
        TeleportStart: travel.reduce_start,
        TeleportProgress: travel.reduce_progress,
        TeleportLocal: travel.reduce_local,
        TeleportFailed: travel.reduce_failed,
    }
)
"""What each message does."""

QUEUE_REDUCERS: Final[Mapping[str, Callable[..., Events]]] = MappingProxyType(
    {
        "BulkUpdateInventory": holdings.reduce_queued_items,
        "ParcelProperties": parcels.reduce_parcel,
        "TeleportFailed": travel.reduce_queued_failure,
    }
)
"""What each event of the queue does; those that say where a region is are the handover's."""

WANTED: Final[tuple[type[Message], ...]] = (*REDUCERS, DisableSimulator)
"""What a circuit is to read; all else is acknowledged and skipped. `DisableSimulator` is for the handover alone."""


_OF_HERE: Final = (AvatarChanged, AvatarLeft, ObjectChanged, ObjectGone)
"""Told of the region we are in only; a neighbour's are known and kept to ourselves."""


def reduce_message(world: World, region: Region, message: Message) -> Events:
    """Let a message change the world; one without a row changes nothing.

    Args:
        world: what we know.
        region: the one whose circuit it came by.
        message: what came.
    """
    reducer = REDUCERS.get(type(message))
    if reducer is None:
        return ()
    events = reducer(world, region, message)
    if events and region is not world.here:
        return tuple(event for event in events if not isinstance(event, _OF_HERE))
    return events


def reduce_queue_event(world: World, region: Region, event: QueueEvent) -> Events:
    """Let an event of a region's queue change the world; one without a row changes nothing.

    Raises:
        RemoteProtocolError: it does not say what it is about.
    """
    reducer = QUEUE_REDUCERS.get(event.name)
    return () if reducer is None else reducer(world, region, event.body)
