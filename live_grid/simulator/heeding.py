"""What a client says, done: one table, message → handler.

Owns the dispatch and which circuits a message may come on: what acts must come on the root circuit while the avatar
is in its region, questions may come on any. A message without a row is acknowledged by the circuit and does nothing
(Spec: LIV-15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from live_grid.messages import Message
from live_grid.messages import avatars as m_avatars
from live_grid.messages import circuits as m_circuits
from live_grid.messages import holdings as m_holdings
from live_grid.messages import making as m_making
from live_grid.messages import objects as m_objects
from live_grid.messages import parcels as m_parcels
from live_grid.messages import people as m_people
from live_grid.messages import regions as m_regions
from live_grid.messages import speech as m_speech
from live_grid.messages import travel as m_travel
from live_grid.simulator import (
    heeding_body,
    heeding_goods,
    heeding_people,
    heeding_region,
    heeding_things,
    heeding_words,
    travel,
)
from live_grid.simulator.agent import Agent
from live_grid.simulator.visit import Visit

__all__ = ("HEEDED", "heed")

_ANYWHERE: Final[Mapping[type[Message], Callable[..., None]]] = MappingProxyType(
    {
        m_avatars.AgentDataUpdateRequest: heeding_people.agent_data,
        m_avatars.AgentWearablesRequest: heeding_people.agent_wearables,
        m_circuits.CompleteAgentMovement: heeding_region.complete_agent_movement,
        m_making.CreateInventoryItem: heeding_goods.create_item,
        m_holdings.FetchInventoryDescendents: heeding_goods.fetch_descendents,
        m_holdings.MoneyBalanceRequest: heeding_goods.balance,
        m_holdings.RequestPayPrice: heeding_goods.pay_price,
        m_objects.RequestMultipleObjects: heeding_things.request_objects,
        m_objects.RequestObjectPropertiesFamily: heeding_things.object_properties,
        m_parcels.ParcelAccessListRequest: heeding_region.parcel_access,
        m_parcels.ParcelDwellRequest: heeding_region.parcel_dwell,
        m_parcels.ParcelPropertiesRequest: heeding_region.parcel_properties,
        m_people.AvatarPickerRequest: heeding_people.picker,
        m_people.AvatarPropertiesRequest: heeding_people.properties,
        m_people.UUIDNameRequest: heeding_people.names,
        m_regions.MapBlockRequest: heeding_region.map_block,
        m_regions.MapNameRequest: heeding_region.map_name,
        m_regions.RegionHandleRequest: heeding_region.region_handle,
        m_regions.RegionHandshakeReply: heeding_region.handshake_reply,
        m_regions.RequestRegionInfo: heeding_region.region_info,
        m_speech.RetrieveInstantMessages: heeding_words.retrieve_instant_messages,
    }
)
"""Questions, and what concerns the circuit itself."""
_AT_HOME: Final[Mapping[type[Message], Callable[..., None]]] = MappingProxyType(
    {
        m_avatars.AgentAnimation: heeding_body.agent_animation,
        m_avatars.AgentRequestSit: heeding_body.agent_request_sit,
        m_avatars.AgentSit: heeding_body.agent_sit,
        m_avatars.AgentUpdate: heeding_body.agent_update,
        m_holdings.MoneyTransferRequest: heeding_goods.pay,
        m_objects.DeRezObject: heeding_things.take_away,
        m_objects.MultipleObjectUpdate: heeding_things.change_objects,
        m_objects.ObjectAdd: heeding_things.add_object,
        m_objects.ObjectGrab: heeding_things.grab,
        m_making.ObjectDescription: heeding_things.describe_objects,
        m_objects.ObjectName: heeding_things.name_objects,
        m_objects.RezObject: heeding_things.rez_item,
        m_people.AcceptFriendship: heeding_people.accept_friendship,
        m_people.DeclineFriendship: heeding_people.decline_friendship,
        m_people.TerminateFriendship: heeding_people.terminate_friendship,
        m_speech.ChatFromViewer: heeding_words.chat_from_viewer,
        m_speech.GenericMessage: heeding_body.generic_message,
        m_speech.ImprovedInstantMessage: heeding_words.instant_message,
        m_speech.ScriptAnswerYes: heeding_words.script_answer,
        m_speech.ScriptDialogReply: heeding_words.script_dialog_reply,
        m_travel.StartLure: heeding_people.start_lure,
        m_travel.TeleportLandmarkRequest: heeding_region.teleport_landmark,
        m_travel.TeleportLocationRequest: heeding_region.teleport_location,
        m_travel.TeleportLureRequest: heeding_people.teleport_lure,
        m_travel.TeleportRequest: heeding_region.teleport_region,
    }
)
"""What an avatar does where it is."""

_TELEPORTS: Final = (
    m_travel.TeleportLandmarkRequest,
    m_travel.TeleportLocationRequest,
    m_travel.TeleportLureRequest,
    m_travel.TeleportRequest,
)
"""What is answered with a failure while the avatar is on its way already."""

HEEDED: Final[tuple[type[Message], ...]] = (
    *_ANYWHERE,
    *_AT_HOME,
    m_circuits.LogoutRequest,
    m_circuits.UseCircuitCode,
)
"""Every message that somebody here wants; the last two are the core's own."""


def heed(agent: Agent, visit: Visit, message: Message, now: float) -> None:
    """Do what a client says."""
    handle = _ANYWHERE.get(type(message))
    if handle is None and visit is agent.root:
        if agent.here is visit.place:
            handle = _AT_HOME.get(type(message))
        elif isinstance(message, _TELEPORTS):
            travel.teleport_failed(agent, travel.BUSY)
    if handle is not None:
        handle(agent, visit, message, now)
