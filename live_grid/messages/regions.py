"""Messages about a region as a whole: handshake, facts, time, terrain, statistics and its place on the map."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    F32,
    S16,
    S32,
    U8,
    U16,
    U32,
    U64,
    V1,
    V2,
    AgentSession,
    Block,
    Bool,
    Message,
    Uuid,
    Vector3,
)

__all__ = (
    "CoarseLocationUpdate",
    "LayerData",
    "MapBlockReply",
    "MapBlockRequest",
    "MapNameRequest",
    "RegionHandleRequest",
    "RegionHandshake",
    "RegionHandshakeReply",
    "RegionIDAndHandleReply",
    "RegionInfo",
    "RequestRegionInfo",
    "SimStats",
    "SimulatorViewerTimeMessage",
)


class RegionHandshake(Message, frozen=True):
    """What the region is; to be answered each time it comes."""

    class RegionInfo(Block, frozen=True):
        region_flags: U32
        sim_access: U8
        sim_name: V1
        sim_owner: Uuid
        is_estate_manager: Bool
        water_height: F32
        billable_factor: F32
        cache_id: Uuid
        terrain_base0: Uuid
        terrain_base1: Uuid
        terrain_base2: Uuid
        terrain_base3: Uuid
        terrain_detail0: Uuid
        terrain_detail1: Uuid
        terrain_detail2: Uuid
        terrain_detail3: Uuid
        terrain_start_height00: F32
        terrain_start_height01: F32
        terrain_start_height10: F32
        terrain_start_height11: F32
        terrain_height_range00: F32
        terrain_height_range01: F32
        terrain_height_range10: F32
        terrain_height_range11: F32

    class RegionInfo2(Block, frozen=True):
        region_id: Uuid

    class RegionInfo3(Block, frozen=True):
        cpu_class_id: S32
        cpu_ratio: S32
        colo_name: V1
        product_sku: V1
        product_name: V1

    class RegionInfo4(Block, frozen=True):
        region_flags_extended: U64
        region_protocols: U64

    region_info: RegionInfo
    region_info2: RegionInfo2
    region_info3: RegionInfo3
    region_info4: tuple[RegionInfo4, ...] = ()


class RegionHandshakeReply(Message, frozen=True):
    """The answer, with what the simulator may leave out."""

    class RegionInfo(Block, frozen=True):
        flags: U32

    agent_data: AgentSession
    region_info: RegionInfo


class RequestRegionInfo(Message, frozen=True):
    """Ask for the region's estate facts."""

    agent_data: AgentSession


class RegionInfo(Message, frozen=True):
    """Estate facts of the region: product, limits, chat ranges, combat."""

    class RegionInfo(Block, frozen=True):
        sim_name: V1
        estate_id: U32
        parent_estate_id: U32
        region_flags: U32
        sim_access: U8
        max_agents: U8
        billable_factor: F32
        object_bonus_factor: F32
        water_height: F32
        terrain_raise_limit: F32
        terrain_lower_limit: F32
        price_per_meter: S32
        redirect_grid_x: S32
        redirect_grid_y: S32
        use_estate_sun: Bool
        sun_hour: F32

    class RegionInfo2(Block, frozen=True):
        product_sku: V1
        product_name: V1
        max_agents32: U32
        hard_max_agents: U32
        hard_max_objects: U32

    class RegionInfo3(Block, frozen=True):
        region_flags_extended: U64

    class RegionInfo5(Block, frozen=True):
        chat_whisper_range: F32
        chat_normal_range: F32
        chat_shout_range: F32
        chat_whisper_offset: F32
        chat_normal_offset: F32
        chat_shout_offset: F32
        chat_flags: U32

    class CombatSettings(Block, frozen=True):
        combat_flags: U32
        on_death: U8
        damage_throttle: F32
        regeneration_rate: F32
        invulnerabily_time: F32
        damage_limit: F32

    agent_data: AgentSession
    region_info: RegionInfo
    region_info2: RegionInfo2
    region_info3: tuple[RegionInfo3, ...] = ()
    region_info5: tuple[RegionInfo5, ...] = ()
    combat_settings: tuple[CombatSettings, ...] = ()


class SimulatorViewerTimeMessage(Message, frozen=True):
    """Time of day and sun."""

    class TimeInfo(Block, frozen=True):
        usec_since_start: U64
        sec_per_day: U32
        sec_per_year: U32
        sun_direction: Vector3
        sun_phase: F32
        sun_ang_velocity: Vector3

    time_info: TimeInfo


class LayerData(Message, frozen=True):
    """Patches of terrain, wind or clouds in their own bit coding."""

    class LayerID(Block, frozen=True):
        type: U8

    class LayerData(Block, frozen=True):
        data: V2

    layer_id: LayerID
    layer_data: LayerData


class SimStats(Message, frozen=True):
    """The simulator's load figures."""

    class Region(Block, frozen=True):
        region_x: U32
        region_y: U32
        region_flags: U32
        object_capacity: U32

    class Stat(Block, frozen=True):
        stat_id: U32
        stat_value: F32

    class PidStat(Block, frozen=True):
        pid: S32

    class RegionInfo(Block, frozen=True):
        region_flags_extended: U64

    region: Region
    stat: tuple[Stat, ...]
    pid_stat: PidStat
    region_info: tuple[RegionInfo, ...] = ()


class CoarseLocationUpdate(Message, frozen=True):
    """Everybody in the region on a coarse raster."""

    class Location(Block, frozen=True):
        x: U8
        y: U8
        z: U8

    class Index(Block, frozen=True):
        you: S16
        prey: S16

    class AgentData(Block, frozen=True):
        agent_id: Uuid

    location: tuple[Location, ...]
    index: Index
    agent_data: tuple[AgentData, ...] = ()


class MapNameRequest(Message, frozen=True):
    """Find regions whose name starts so."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        flags: U32
        estate_id: U32
        godlike: Bool

    class NameData(Block, frozen=True):
        name: V1

    agent_data: AgentData
    name_data: NameData


class MapBlockRequest(Message, frozen=True):
    """Ask for the regions in a rectangle of the map."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        flags: U32
        estate_id: U32
        godlike: Bool

    class PositionData(Block, frozen=True):
        min_x: U16
        max_x: U16
        min_y: U16
        max_y: U16

    agent_data: AgentData
    position_data: PositionData


class MapBlockReply(Message, frozen=True):
    """Regions found on the map; the last block may be an end mark."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        flags: U32

    class Data(Block, frozen=True):
        x: U16
        y: U16
        name: V1
        access: U8
        region_flags: U32
        water_height: U8
        agents: U8
        map_image_id: Uuid

    agent_data: AgentData
    data: tuple[Data, ...] = ()


class RegionHandleRequest(Message, frozen=True):
    """Ask where a region id lies."""

    class RequestBlock(Block, frozen=True):
        region_id: Uuid

    request_block: RequestBlock


class RegionIDAndHandleReply(Message, frozen=True):
    """Where a region id lies."""

    class ReplyBlock(Block, frozen=True):
        region_id: Uuid
        region_handle: U64

    reply_block: ReplyBlock
