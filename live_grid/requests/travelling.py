"""What we send to go elsewhere, to bring others here, and to look a region up on the map.

Owns the requests of the family. A teleport is over only when the grid says so; see `live_grid.handover` (Spec: LIV-7).
"""

from __future__ import annotations

from typing import Final

from live_grid.messages import NIL
from live_grid.messages.regions import MapBlockRequest, MapNameRequest
from live_grid.messages.travel import (
    StartLure,
    TeleportCancel,
    TeleportLandmarkRequest,
    TeleportLocationRequest,
    TeleportLureRequest,
)
from live_grid.requests.request import Confirmation, Identity, Request, text_field
from live_grid.requests.speaking import instant_message, session_with

__all__ = (
    "accept_lure",
    "ask_to_come",
    "cancel_teleport",
    "decline_lure",
    "find_region",
    "find_region_at",
    "invite",
    "teleport",
    "teleport_home",
)

_EAST: Final = (1.0, 0.0, 0.0)
_VIA_LURE: Final = 0x4
_LURE_DECLINED: Final = 24
_ASKS_TO_COME: Final = 26
_BY_NAME: Final = 2
_HANDLE_SHIFT: Final = 8


def teleport(
    me: Identity,
    handle: int,
    position: tuple[float, float, float],
    look_at: tuple[float, float, float] = _EAST,
) -> Request:
    """Go to a point of a region, by its handle."""
    info = TeleportLocationRequest.Info(handle, position, look_at)
    return Request((TeleportLocationRequest(agent_data=me.session, info=info),), Confirmation.TELEPORT)


def teleport_home(me: Identity) -> Request:
    """Go home: the landmark of nothing."""
    info = TeleportLandmarkRequest.Info(me.agent_id, me.session_id, NIL)
    return Request((TeleportLandmarkRequest(info=info),), Confirmation.TELEPORT)


def accept_lure(me: Identity, lure_id: bytes) -> Request:
    """Go where somebody invited us."""
    info = TeleportLureRequest.Info(me.agent_id, me.session_id, lure_id, _VIA_LURE)
    return Request((TeleportLureRequest(info=info),), Confirmation.TELEPORT)


def decline_lure(me: Identity, to: bytes, lure_id: bytes) -> Request:
    """Stay where we are."""
    return Request((instant_message(me, to, _LURE_DECLINED, number=lure_id),), Confirmation.DELIVERED)


def cancel_teleport(me: Identity) -> Request:
    """Give a teleport up."""
    return Request((TeleportCancel(info=TeleportCancel.Info(me.agent_id, me.session_id)),), Confirmation.TELEPORT)


def invite(me: Identity, to: bytes, text: str) -> Request:
    """Invite somebody here.

    Raises:
        LocalProtocolError: the text is too long.
    """
    info = StartLure.Info(0, text_field(text))
    lure = StartLure(agent_data=me.session, info=info, target_data=(StartLure.TargetData(to),))
    return Request((lure,), Confirmation.DELIVERED)


def ask_to_come(me: Identity, to: bytes, text: str) -> Request:
    """Ask somebody for an invitation.

    Raises:
        LocalProtocolError: the text is too long.
    """
    return Request(
        (instant_message(me, to, _ASKS_TO_COME, number=session_with(me, to), text=text),), Confirmation.DELIVERED
    )


def find_region(me: Identity, name: str) -> Request:
    """Look regions up whose name begins so.

    Raises:
        LocalProtocolError: the name is too long.
    """
    agent = MapNameRequest.AgentData(me.agent_id, me.session_id, _BY_NAME, 0, False)
    named = MapNameRequest.NameData(text_field(name))
    return Request((MapNameRequest(agent_data=agent, name_data=named),), Confirmation.MAP)


def find_region_at(me: Identity, handle: int) -> Request:
    """Look up which region lies at a place of the grid."""
    agent = MapBlockRequest.AgentData(me.agent_id, me.session_id, 0, 0, False)
    x, y = handle >> 32 >> _HANDLE_SHIFT, (handle & 0xFFFF_FFFF) >> _HANDLE_SHIFT
    place = MapBlockRequest.PositionData(x, x, y, y)
    return Request((MapBlockRequest(agent_data=agent, position_data=place),), Confirmation.MAP)
