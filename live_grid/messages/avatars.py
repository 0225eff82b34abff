"""Messages about our own avatar and those around it: movement, sitting, animation, looks."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    F32,
    S32,
    U8,
    U32,
    U64,
    V1,
    V2,
    AgentSession,
    Block,
    Bool,
    Message,
    Quaternion,
    Uuid,
    Vector3,
)

__all__ = (
    "AgentAnimation",
    "AgentDataUpdate",
    "AgentDataUpdateRequest",
    "AgentIsNowWearing",
    "AgentRequestSit",
    "AgentSetAppearance",
    "AgentSit",
    "AgentUpdate",
    "AgentWearablesRequest",
    "AgentWearablesUpdate",
    "AvatarAnimation",
    "AvatarAppearance",
    "AvatarSitResponse",
    "SetStartLocationRequest",
)


class AgentUpdate(Message, frozen=True):
    """Where we look, how far, and which movement keys are down."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        body_rotation: Quaternion
        head_rotation: Quaternion
        state: U8
        camera_center: Vector3
        camera_at_axis: Vector3
        camera_left_axis: Vector3
        camera_up_axis: Vector3
        far: F32
        control_flags: U32
        flags: U8

    agent_data: AgentData


class AgentDataUpdateRequest(Message, frozen=True):
    """Ask for our own names and active group."""

    agent_data: AgentSession


class AgentDataUpdate(Message, frozen=True):
    """Our own names and active group."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        first_name: V1
        last_name: V1
        group_title: V1
        active_group_id: Uuid
        group_powers: U64
        group_name: V1

    agent_data: AgentData


class AgentRequestSit(Message, frozen=True):
    """Ask to sit on an object."""

    class TargetObject(Block, frozen=True):
        target_id: Uuid
        offset: Vector3

    agent_data: AgentSession
    target_object: TargetObject


class AvatarSitResponse(Message, frozen=True):
    """Where the seat is; to be followed by `AgentSit`."""

    class SitObject(Block, frozen=True):
        id: Uuid

    class SitTransform(Block, frozen=True):
        auto_pilot: Bool
        sit_position: Vector3
        sit_rotation: Quaternion
        camera_eye_offset: Vector3
        camera_at_offset: Vector3
        force_mouselook: Bool

    sit_object: SitObject
    sit_transform: SitTransform


class AgentSit(Message, frozen=True):
    """Take the seat that was offered."""

    agent_data: AgentSession


class AgentAnimation(Message, frozen=True):
    """Start and stop animations of our avatar."""

    class AnimationList(Block, frozen=True):
        anim_id: Uuid
        start_anim: Bool

    class PhysicalAvatarEventList(Block, frozen=True):
        type_data: V1

    agent_data: AgentSession
    animation_list: tuple[AnimationList, ...] = ()
    physical_avatar_event_list: tuple[PhysicalAvatarEventList, ...] = ()


class AvatarAnimation(Message, frozen=True):
    """The animations an avatar plays now."""

    class Sender(Block, frozen=True):
        id: Uuid

    class AnimationList(Block, frozen=True):
        anim_id: Uuid
        anim_sequence_id: S32

    class AnimationSourceList(Block, frozen=True):
        object_id: Uuid

    class PhysicalAvatarEventList(Block, frozen=True):
        type_data: V1

    sender: Sender
    animation_list: tuple[AnimationList, ...] = ()
    animation_source_list: tuple[AnimationSourceList, ...] = ()
    physical_avatar_event_list: tuple[PhysicalAvatarEventList, ...] = ()


class AvatarAppearance(Message, frozen=True):
    """How an avatar looks."""

    class Sender(Block, frozen=True):
        id: Uuid
        is_trial: Bool

    class ObjectData(Block, frozen=True):
        texture_entry: V2

    class VisualParam(Block, frozen=True):
        param_value: U8

    class AppearanceData(Block, frozen=True):
        appearance_version: U8
        cof_version: S32
        flags: U32

    class AppearanceHover(Block, frozen=True):
        hover_height: Vector3

    class AttachmentBlock(Block, frozen=True):
        id: Uuid
        attachment_point: U8

    sender: Sender
    object_data: ObjectData
    visual_param: tuple[VisualParam, ...] = ()
    appearance_data: tuple[AppearanceData, ...] = ()
    appearance_hover: tuple[AppearanceHover, ...] = ()
    attachment_block: tuple[AttachmentBlock, ...] = ()


class AgentWearablesRequest(Message, frozen=True):
    """Ask what we wear."""

    agent_data: AgentSession


class AgentWearablesUpdate(Message, frozen=True):
    """What we wear."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        serial_num: U32

    class WearableData(Block, frozen=True):
        item_id: Uuid
        asset_id: Uuid
        wearable_type: U8

    agent_data: AgentData
    wearable_data: tuple[WearableData, ...] = ()


class AgentIsNowWearing(Message, frozen=True):
    """Tell what we wear."""

    class WearableData(Block, frozen=True):
        item_id: Uuid
        wearable_type: U8

    agent_data: AgentSession
    wearable_data: tuple[WearableData, ...] = ()


class AgentSetAppearance(Message, frozen=True):
    """Tell how we look."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        serial_num: U32
        size: Vector3

    class WearableData(Block, frozen=True):
        cache_id: Uuid
        texture_index: U8

    class ObjectData(Block, frozen=True):
        texture_entry: V2

    class VisualParam(Block, frozen=True):
        param_value: U8

    agent_data: AgentData
    wearable_data: tuple[WearableData, ...]
    object_data: ObjectData
    visual_param: tuple[VisualParam, ...] = ()


class SetStartLocationRequest(Message, frozen=True):
    """Make this place home."""

    class StartLocationData(Block, frozen=True):
        sim_name: V1
        location_id: U32
        location_pos: Vector3
        location_look_at: Vector3

    agent_data: AgentSession
    start_location_data: StartLocationData
