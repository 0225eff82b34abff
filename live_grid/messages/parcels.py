"""Messages about parcels of land: properties, overlay, traffic and access lists."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    F32,
    S32,
    U32,
    V2,
    AgentSession,
    Block,
    Bool,
    Message,
    Uuid,
)

__all__ = (
    "ParcelAccessListReply",
    "ParcelAccessListRequest",
    "ParcelDwellReply",
    "ParcelDwellRequest",
    "ParcelOverlay",
    "ParcelPropertiesRequest",
)


class ParcelPropertiesRequest(Message, frozen=True):
    """Ask for the parcel under a rectangle; the answer comes by the event queue."""

    class ParcelData(Block, frozen=True):
        sequence_id: S32
        west: F32
        south: F32
        east: F32
        north: F32
        snap_selection: Bool

    agent_data: AgentSession
    parcel_data: ParcelData


class ParcelOverlay(Message, frozen=True):
    """A quarter of the ownership raster."""

    class ParcelData(Block, frozen=True):
        sequence_id: S32
        data: V2

    parcel_data: ParcelData


class ParcelDwellRequest(Message, frozen=True):
    """Ask for a parcel's traffic."""

    class Data(Block, frozen=True):
        local_id: S32
        parcel_id: Uuid

    agent_data: AgentSession
    data: Data


class ParcelDwellReply(Message, frozen=True):
    """A parcel's traffic."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid

    class Data(Block, frozen=True):
        local_id: S32
        parcel_id: Uuid
        dwell: F32

    agent_data: AgentData
    data: Data


class ParcelAccessListRequest(Message, frozen=True):
    """Ask who may, or may not, enter a parcel."""

    class Data(Block, frozen=True):
        sequence_id: S32
        flags: U32
        local_id: S32

    agent_data: AgentSession
    data: Data


class ParcelAccessListReply(Message, frozen=True):
    """Who may, or may not, enter a parcel."""

    class Data(Block, frozen=True):
        agent_id: Uuid
        sequence_id: S32
        flags: U32
        local_id: S32

    class List(Block, frozen=True):
        id: Uuid
        time: S32
        flags: U32

    data: Data
    list: tuple[List, ...] = ()
