"""What we send to be let into a region, to be told of it, and to leave the grid.

Owns the requests of a circuit's beginning and end. The three that open it are reliable, and nothing is taken for
done before its answer has come (Spec: LIV-1, LIV-7).
"""

from __future__ import annotations

import struct
from typing import Final

from live_grid.messages.avatars import AgentDataUpdateRequest
from live_grid.messages.circuits import AgentThrottle, CompleteAgentMovement, LogoutRequest, UseCircuitCode
from live_grid.messages.parcels import ParcelPropertiesRequest
from live_grid.messages.regions import RegionHandshakeReply, RequestRegionInfo
from live_grid.requests.request import Confirmation, Identity, Request

__all__ = (
    "ask_own_name",
    "ask_parcel",
    "ask_region_info",
    "complete_movement",
    "log_out",
    "open_circuit",
    "reply_to_handshake",
    "set_throttle",
)

_EVERYTHING: Final = 0x7
"""Send all objects; our cache is empty; we need no help with our looks."""
_SHARES: Final = (50_000.0, 10_000.0, 1_000.0, 1_000.0, 400_000.0, 10_000.0, 20_000.0)
"""Bits a second of resent, land, wind, cloud, task, texture and asset: a bot reads objects and looks at nothing."""


def open_circuit(me: Identity) -> Request:
    """Open a circuit, or show again that we have the code to it."""
    code = UseCircuitCode.CircuitCode(me.circuit_code, me.session_id, me.agent_id)
    return Request((UseCircuitCode(circuit_code=code),), Confirmation.DELIVERED)


def complete_movement(me: Identity) -> Request:
    """Ask to be present."""
    data = CompleteAgentMovement.AgentData(me.agent_id, me.session_id, me.circuit_code)
    return Request((CompleteAgentMovement(agent_data=data),), Confirmation.MOVEMENT_COMPLETE)


def reply_to_handshake(me: Identity) -> Request:
    """Answer a region's handshake; without an answer it shows us nothing."""
    info = RegionHandshakeReply.RegionInfo(_EVERYTHING)
    return Request((RegionHandshakeReply(agent_data=me.session, region_info=info),), Confirmation.DELIVERED)


def set_throttle(me: Identity, generation: int) -> Request:
    """Tell what we can take.

    Args:
        me: who asks.
        generation: grows from one to the next.
    """
    data = AgentThrottle.AgentData(me.agent_id, me.session_id, me.circuit_code)
    throttle = AgentThrottle.Throttle(generation, struct.pack("<7f", *_SHARES))
    return Request((AgentThrottle(agent_data=data, throttle=throttle),), Confirmation.DELIVERED)


def ask_own_name(me: Identity) -> Request:
    """Ask for our own name."""
    return Request((AgentDataUpdateRequest(agent_data=me.session),), Confirmation.NAMES)


def ask_region_info(me: Identity) -> Request:
    """Ask what the region is, where no handshake says so."""
    return Request((RequestRegionInfo(agent_data=me.session),), Confirmation.REGION)


def ask_parcel(me: Identity, x: float, y: float, sequence: int = 0) -> Request:
    """Ask for the parcel at a point.

    Args:
        me: who asks.
        x: metres in the region.
        y: metres in the region.
        sequence: comes back with the answer; negative numbers belong to the grid's own notices.
    """
    west, south = 4.0 * (x // 4.0), 4.0 * (y // 4.0)
    data = ParcelPropertiesRequest.ParcelData(sequence, west, south, west + 4.0, south + 4.0, False)
    return Request((ParcelPropertiesRequest(agent_data=me.session, parcel_data=data),), Confirmation.PARCEL)


def log_out(me: Identity) -> Request:
    """Leave the grid."""
    return Request((LogoutRequest(agent_data=me.session),), Confirmation.LOGOUT_REPLY)
