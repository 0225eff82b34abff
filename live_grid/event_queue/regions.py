"""The four events that say where a region is: neighbours announced, a teleport done, a border crossed.

Owns their reading into typed structs. What they hold is where a session goes next, so it is read here, strictly and
once, for the handover. Seeds are secrets and not vetted yet (Spec: LIV-7).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.event_queue.answer import QueueEvent
from live_grid.event_queue.fields import Fields, address_of, block_of, number_of, text_of_field, uuid_of, vector_of

__all__ = (
    "NeighbourFound",
    "NeighbourReady",
    "RegionCrossed",
    "RegionEvent",
    "TeleportFinished",
    "read_region_event_untrusted",
)

_REGION_SIZE: Final = 256
_REGION_SIZE_MAX: Final = 65_536
_ADDRESS: Final = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5})", re.ASCII)
_OCTET_MAX: Final = 0xFF
_PORT_MAX: Final = 0xFFFF


class NeighbourFound(msgspec.Struct, frozen=True, kw_only=True):
    """A neighbour exists (EnableSimulator)."""

    address: tuple[str, int]
    region_handle: int
    size_x: int = _REGION_SIZE
    """Metres."""
    size_y: int = _REGION_SIZE


class NeighbourReady(msgspec.Struct, frozen=True, kw_only=True):
    """A neighbour can be talked to (EstablishAgentCommunication)."""

    agent_id: bytes
    address: tuple[str, int]
    seed: str

    def __repr__(self) -> str:
        return f"NeighbourReady(address={self.address!r}, …)"


class TeleportFinished(msgspec.Struct, frozen=True, kw_only=True):
    """A teleport goes on in another region (TeleportFinish)."""

    agent_id: bytes
    address: tuple[str, int]
    region_handle: int
    seed: str
    sim_access: int
    teleport_flags: int
    size_x: int = _REGION_SIZE
    """Metres."""
    size_y: int = _REGION_SIZE

    def __repr__(self) -> str:
        return f"TeleportFinished(address={self.address!r}, region_handle={self.region_handle}, …)"


class RegionCrossed(msgspec.Struct, frozen=True, kw_only=True):
    """We went over a border (CrossedRegion)."""

    agent_id: bytes
    session_id: bytes
    address: tuple[str, int]
    region_handle: int
    seed: str
    position: tuple[float, float, float]
    """Metres, in the new region."""
    look_at: tuple[float, float, float]
    size_x: int = _REGION_SIZE
    """Metres."""
    size_y: int = _REGION_SIZE

    def __repr__(self) -> str:
        return f"RegionCrossed(address={self.address!r}, region_handle={self.region_handle}, …)"


RegionEvent: TypeAlias = NeighbourFound | NeighbourReady | TeleportFinished | RegionCrossed


def _size(block: Fields, name: str) -> int:
    """Take a region's size; Second Life leaves it out, and an impossible one is no size."""
    size = number_of(block, name, _REGION_SIZE)
    return size if 0 < size <= _REGION_SIZE_MAX else _REGION_SIZE


def _enable_simulator(body: Fields) -> RegionEvent:
    block = block_of(body, "SimulatorInfo")
    return NeighbourFound(
        address=address_of(block, "IP", "Port"),
        region_handle=number_of(block, "Handle"),
        size_x=_size(block, "RegionSizeX"),
        size_y=_size(block, "RegionSizeY"),
    )


def _establish(body: Fields) -> RegionEvent:
    found = _ADDRESS.fullmatch(text_of_field(body, "sim-ip-and-port"))
    if found is None or max(map(int, found[1].split("."))) > _OCTET_MAX or not 0 < int(found[2]) <= _PORT_MAX:
        raise RemoteProtocolError("event without an address sim-ip-and-port")
    return NeighbourReady(
        agent_id=uuid_of(body, "agent-id"),
        address=(found[1], int(found[2])),
        seed=text_of_field(body, "seed-capability"),
    )


def _teleport_finish(body: Fields) -> RegionEvent:
    block = block_of(body, "Info")
    return TeleportFinished(
        agent_id=uuid_of(block, "AgentID"),
        address=address_of(block, "SimIP", "SimPort"),
        region_handle=number_of(block, "RegionHandle"),
        seed=text_of_field(block, "SeedCapability"),
        sim_access=number_of(block, "SimAccess", 0),
        teleport_flags=number_of(block, "TeleportFlags", 0),
        size_x=_size(block, "RegionSizeX"),
        size_y=_size(block, "RegionSizeY"),
    )


def _crossed_region(body: Fields) -> RegionEvent:
    agent, info, region = (block_of(body, name) for name in ("AgentData", "Info", "RegionData"))
    return RegionCrossed(
        agent_id=uuid_of(agent, "AgentID"),
        session_id=uuid_of(agent, "SessionID"),
        address=address_of(region, "SimIP", "SimPort"),
        region_handle=number_of(region, "RegionHandle"),
        seed=text_of_field(region, "SeedCapability"),
        position=vector_of(info, "Position"),
        look_at=vector_of(info, "LookAt"),
        size_x=_size(region, "RegionSizeX"),
        size_y=_size(region, "RegionSizeY"),
    )


_READERS: Final[Mapping[str, Callable[[Fields], RegionEvent]]] = MappingProxyType(
    {
        "EnableSimulator": _enable_simulator,
        "EstablishAgentCommunication": _establish,
        "TeleportFinish": _teleport_finish,
        "CrossedRegion": _crossed_region,
    }
)


def read_region_event_untrusted(event: QueueEvent) -> RegionEvent | None:
    """Read an event that says where a region is; None for every other event.

    Raises:
        RemoteProtocolError: it is one of them and does not say where.
    """
    read = _READERS.get(event.name)
    return None if read is None else read(event.body)
