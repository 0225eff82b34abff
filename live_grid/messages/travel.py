"""Messages about going elsewhere: teleports, lures and crossings."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    U8,
    U32,
    U64,
    V1,
    V2,
    AgentSession,
    Block,
    IPAddress,
    Message,
    Port,
    Uuid,
    Vector3,
)

__all__ = (
    "CrossedRegion",
    "StartLure",
    "TeleportCancel",
    "TeleportFailed",
    "TeleportFinish",
    "TeleportLandmarkRequest",
    "TeleportLocal",
    "TeleportLocationRequest",
    "TeleportLureRequest",
    "TeleportProgress",
    "TeleportRequest",
    "TeleportStart",
)


class TeleportLocationRequest(Message, frozen=True):
    """Teleport to a place in a region, by handle."""

    class Info(Block, frozen=True):
        region_handle: U64
        position: Vector3
        look_at: Vector3

    agent_data: AgentSession
    info: Info


class TeleportRequest(Message, frozen=True):
    """Teleport to a place in a region, by id."""

    class Info(Block, frozen=True):
        region_id: Uuid
        position: Vector3
        look_at: Vector3

    agent_data: AgentSession
    info: Info


class TeleportLandmarkRequest(Message, frozen=True):
    """Teleport to a landmark; the nil one is home."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        landmark_id: Uuid

    info: Info


class TeleportLureRequest(Message, frozen=True):
    """Take up an offered teleport."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        lure_id: Uuid
        teleport_flags: U32

    info: Info


class StartLure(Message, frozen=True):
    """Offer a teleport to us."""

    class Info(Block, frozen=True):
        lure_type: U8
        message: V1

    class TargetData(Block, frozen=True):
        target_id: Uuid

    agent_data: AgentSession
    info: Info
    target_data: tuple[TargetData, ...] = ()


class TeleportStart(Message, frozen=True):
    """A teleport has begun."""

    class Info(Block, frozen=True):
        teleport_flags: U32

    info: Info


class TeleportProgress(Message, frozen=True):
    """A teleport goes on, in words."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid

    class Info(Block, frozen=True):
        teleport_flags: U32
        message: V1

    agent_data: AgentData
    info: Info


class TeleportLocal(Message, frozen=True):
    """A teleport inside the region is done."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        location_id: U32
        position: Vector3
        look_at: Vector3
        teleport_flags: U32

    info: Info


class TeleportFinish(Message, frozen=True):
    """Where to go on: address and seed of the new region (event queue only)."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        location_id: U32
        sim_ip: IPAddress
        sim_port: Port
        region_handle: U64
        seed_capability: V2
        sim_access: U8
        teleport_flags: U32

    info: Info


class TeleportFailed(Message, frozen=True):
    """A teleport failed, and we stay."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        reason: V1

    class AlertInfo(Block, frozen=True):
        message: V1
        extra_params: V1

    info: Info
    alert_info: tuple[AlertInfo, ...] = ()


class TeleportCancel(Message, frozen=True):
    """Give a teleport up."""

    class Info(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid

    info: Info


class CrossedRegion(Message, frozen=True):
    """We walked over a border: address and seed of the new region (event queue only)."""

    class RegionData(Block, frozen=True):
        sim_ip: IPAddress
        sim_port: Port
        region_handle: U64
        seed_capability: V2

    class Info(Block, frozen=True):
        position: Vector3
        look_at: Vector3

    agent_data: AgentSession
    region_data: RegionData
    info: Info
