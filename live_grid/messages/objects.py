"""Messages about objects: the four forms of update, touching, selecting, building and taking."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    F32,
    S8,
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
    Fixed4,
    Message,
    Quaternion,
    Uuid,
    Vector3,
)

__all__ = (
    "DeRezObject",
    "ImprovedTerseObjectUpdate",
    "KillObject",
    "MultipleObjectUpdate",
    "ObjectAdd",
    "ObjectDeGrab",
    "ObjectDeselect",
    "ObjectGrab",
    "ObjectName",
    "ObjectPropertiesFamily",
    "ObjectSelect",
    "ObjectUpdate",
    "ObjectUpdateCached",
    "ObjectUpdateCompressed",
    "RequestMultipleObjects",
    "RequestObjectPropertiesFamily",
    "RezObject",
)


class ObjectUpdate(Message, frozen=True):
    """Objects in full."""

    class RegionData(Block, frozen=True):
        region_handle: U64
        time_dilation: U16

    class ObjectData(Block, frozen=True):
        id: U32
        state: U8
        full_id: Uuid
        crc: U32
        pcode: U8
        material: U8
        click_action: U8
        scale: Vector3
        object_data: V1
        parent_id: U32
        update_flags: U32
        path_curve: U8
        profile_curve: U8
        path_begin: U16
        path_end: U16
        path_scale_x: U8
        path_scale_y: U8
        path_shear_x: U8
        path_shear_y: U8
        path_twist: S8
        path_twist_begin: S8
        path_radius_offset: S8
        path_taper_x: S8
        path_taper_y: S8
        path_revolutions: U8
        path_skew: S8
        profile_begin: U16
        profile_end: U16
        profile_hollow: U16
        texture_entry: V2
        texture_anim: V1
        name_value: V2
        data: V2
        text: V1
        text_color: Fixed4
        media_url: V1
        ps_block: V1
        extra_params: V1
        sound: Uuid
        owner_id: Uuid
        gain: F32
        flags: U8
        radius: F32
        joint_type: U8
        joint_pivot: Vector3
        joint_axis_or_anchor: Vector3

    region_data: RegionData
    object_data: tuple[ObjectData, ...] = ()


class ObjectUpdateCompressed(Message, frozen=True):
    """Objects in full, in a packed form of its own."""

    class RegionData(Block, frozen=True):
        region_handle: U64
        time_dilation: U16

    class ObjectData(Block, frozen=True):
        update_flags: U32
        data: V2

    region_data: RegionData
    object_data: tuple[ObjectData, ...] = ()


class ObjectUpdateCached(Message, frozen=True):
    """Objects that a viewer may have cached; ask for those wanted."""

    class RegionData(Block, frozen=True):
        region_handle: U64
        time_dilation: U16

    class ObjectData(Block, frozen=True):
        id: U32
        crc: U32
        update_flags: U32

    region_data: RegionData
    object_data: tuple[ObjectData, ...] = ()


class ImprovedTerseObjectUpdate(Message, frozen=True):
    """Movement of objects, in a packed form of its own."""

    class RegionData(Block, frozen=True):
        region_handle: U64
        time_dilation: U16

    class ObjectData(Block, frozen=True):
        data: V1
        texture_entry: V2

    region_data: RegionData
    object_data: tuple[ObjectData, ...] = ()


class KillObject(Message, frozen=True):
    """Objects that are gone."""

    class ObjectData(Block, frozen=True):
        id: U32

    object_data: tuple[ObjectData, ...] = ()


class RequestMultipleObjects(Message, frozen=True):
    """Ask for objects in full."""

    class ObjectData(Block, frozen=True):
        cache_miss_type: U8
        id: U32

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class ObjectGrab(Message, frozen=True):
    """Touch an object, finger down."""

    class ObjectData(Block, frozen=True):
        local_id: U32
        grab_offset: Vector3

    class SurfaceInfo(Block, frozen=True):
        uv_coord: Vector3
        st_coord: Vector3
        face_index: S32
        position: Vector3
        normal: Vector3
        binormal: Vector3

    agent_data: AgentSession
    object_data: ObjectData
    surface_info: tuple[SurfaceInfo, ...] = ()


class ObjectDeGrab(Message, frozen=True):
    """Touch an object, finger up."""

    class ObjectData(Block, frozen=True):
        local_id: U32

    class SurfaceInfo(Block, frozen=True):
        uv_coord: Vector3
        st_coord: Vector3
        face_index: S32
        position: Vector3
        normal: Vector3
        binormal: Vector3

    agent_data: AgentSession
    object_data: ObjectData
    surface_info: tuple[SurfaceInfo, ...] = ()


class ObjectSelect(Message, frozen=True):
    """Select objects, which makes their properties come."""

    class ObjectData(Block, frozen=True):
        object_local_id: U32

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class ObjectDeselect(Message, frozen=True):
    """Deselect objects."""

    class ObjectData(Block, frozen=True):
        object_local_id: U32

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class ObjectPropertiesFamily(Message, frozen=True):
    """An object's name, owner, permissions and price."""

    class ObjectData(Block, frozen=True):
        request_flags: U32
        object_id: Uuid
        owner_id: Uuid
        group_id: Uuid
        base_mask: U32
        owner_mask: U32
        group_mask: U32
        everyone_mask: U32
        next_owner_mask: U32
        ownership_cost: S32
        sale_type: U8
        sale_price: S32
        category: U32
        last_owner_id: Uuid
        name: V1
        description: V1

    object_data: ObjectData


class RequestObjectPropertiesFamily(Message, frozen=True):
    """Ask for an object's name, owner, permissions and price."""

    class ObjectData(Block, frozen=True):
        request_flags: U32
        object_id: Uuid

    agent_data: AgentSession
    object_data: ObjectData


class ObjectAdd(Message, frozen=True):
    """Build a primitive."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        group_id: Uuid

    class ObjectData(Block, frozen=True):
        pcode: U8
        material: U8
        add_flags: U32
        path_curve: U8
        profile_curve: U8
        path_begin: U16
        path_end: U16
        path_scale_x: U8
        path_scale_y: U8
        path_shear_x: U8
        path_shear_y: U8
        path_twist: S8
        path_twist_begin: S8
        path_radius_offset: S8
        path_taper_x: S8
        path_taper_y: S8
        path_revolutions: U8
        path_skew: S8
        profile_begin: U16
        profile_end: U16
        profile_hollow: U16
        bypass_raycast: U8
        ray_start: Vector3
        ray_end: Vector3
        ray_target_id: Uuid
        ray_end_is_intersection: U8
        scale: Vector3
        rotation: Quaternion
        state: U8

    agent_data: AgentData
    object_data: ObjectData


class ObjectName(Message, frozen=True):
    """Rename objects."""

    class ObjectData(Block, frozen=True):
        local_id: U32
        name: V1

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class MultipleObjectUpdate(Message, frozen=True):
    """Move, turn or scale objects."""

    class ObjectData(Block, frozen=True):
        object_local_id: U32
        type: U8
        data: V1

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class RezObject(Message, frozen=True):
    """Put an inventory item into the world."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        group_id: Uuid

    class RezData(Block, frozen=True):
        from_task_id: Uuid
        bypass_raycast: U8
        ray_start: Vector3
        ray_end: Vector3
        ray_target_id: Uuid
        ray_end_is_intersection: Bool
        rez_selected: Bool
        remove_item: Bool
        item_flags: U32
        group_mask: U32
        everyone_mask: U32
        next_owner_mask: U32

    class InventoryData(Block, frozen=True):
        item_id: Uuid
        folder_id: Uuid
        creator_id: Uuid
        owner_id: Uuid
        group_id: Uuid
        base_mask: U32
        owner_mask: U32
        group_mask: U32
        everyone_mask: U32
        next_owner_mask: U32
        group_owned: Bool
        transaction_id: Uuid
        type: S8
        inv_type: S8
        flags: U32
        sale_type: U8
        sale_price: S32
        name: V1
        description: V1
        creation_date: S32
        crc: U32

    agent_data: AgentData
    rez_data: RezData
    inventory_data: InventoryData


class DeRezObject(Message, frozen=True):
    """Take, copy, return or delete objects."""

    class AgentBlock(Block, frozen=True):
        group_id: Uuid
        destination: U8
        destination_id: Uuid
        transaction_id: Uuid
        packet_count: U8
        packet_number: U8

    class ObjectData(Block, frozen=True):
        object_local_id: U32

    agent_data: AgentSession
    agent_block: AgentBlock
    object_data: tuple[ObjectData, ...] = ()
