"""Messages about people: presence, friends, names, profiles, groups and mutes."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    U32,
    V1,
    V2,
    AgentSession,
    Block,
    Message,
    Uuid,
)

__all__ = (
    "AcceptFriendship",
    "ActivateGroup",
    "AvatarPickerReply",
    "AvatarPickerRequest",
    "AvatarPropertiesReply",
    "AvatarPropertiesRequest",
    "DeclineFriendship",
    "GroupProfileRequest",
    "InviteGroupRequest",
    "JoinGroupRequest",
    "LeaveGroupRequest",
    "MuteListRequest",
    "OfflineNotification",
    "OnlineNotification",
    "TerminateFriendship",
    "UUIDNameReply",
    "UUIDNameRequest",
)


class OnlineNotification(Message, frozen=True):
    """Friends came online."""

    class AgentBlock(Block, frozen=True):
        agent_id: Uuid

    agent_block: tuple[AgentBlock, ...] = ()


class OfflineNotification(Message, frozen=True):
    """Friends went offline."""

    class AgentBlock(Block, frozen=True):
        agent_id: Uuid

    agent_block: tuple[AgentBlock, ...] = ()


class AcceptFriendship(Message, frozen=True):
    """Accept an offered friendship."""

    class TransactionBlock(Block, frozen=True):
        transaction_id: Uuid

    class FolderData(Block, frozen=True):
        folder_id: Uuid

    agent_data: AgentSession
    transaction_block: TransactionBlock
    folder_data: tuple[FolderData, ...] = ()


class DeclineFriendship(Message, frozen=True):
    """Decline an offered friendship."""

    class TransactionBlock(Block, frozen=True):
        transaction_id: Uuid

    agent_data: AgentSession
    transaction_block: TransactionBlock


class TerminateFriendship(Message, frozen=True):
    """End a friendship."""

    class ExBlock(Block, frozen=True):
        other_id: Uuid

    agent_data: AgentSession
    ex_block: ExBlock


class UUIDNameRequest(Message, frozen=True):
    """Ask for the names of avatars."""

    class UUIDNameBlock(Block, frozen=True):
        id: Uuid

    uuid_name_block: tuple[UUIDNameBlock, ...] = ()


class UUIDNameReply(Message, frozen=True):
    """Names of avatars."""

    class UUIDNameBlock(Block, frozen=True):
        id: Uuid
        first_name: V1
        last_name: V1

    uuid_name_block: tuple[UUIDNameBlock, ...] = ()


class AvatarPropertiesRequest(Message, frozen=True):
    """Ask for a profile."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        avatar_id: Uuid

    agent_data: AgentData


class AvatarPropertiesReply(Message, frozen=True):
    """A profile."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        avatar_id: Uuid

    class PropertiesData(Block, frozen=True):
        image_id: Uuid
        fl_image_id: Uuid
        partner_id: Uuid
        about_text: V2
        fl_about_text: V1
        born_on: V1
        profile_url: V1
        charter_member: V1
        flags: U32

    agent_data: AgentData
    properties_data: PropertiesData


class AvatarPickerRequest(Message, frozen=True):
    """Find avatars by name."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        query_id: Uuid

    class Data(Block, frozen=True):
        name: V1

    agent_data: AgentData
    data: Data


class AvatarPickerReply(Message, frozen=True):
    """Avatars found by name."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        query_id: Uuid

    class Data(Block, frozen=True):
        avatar_id: Uuid
        first_name: V1
        last_name: V1

    agent_data: AgentData
    data: tuple[Data, ...] = ()


class InviteGroupRequest(Message, frozen=True):
    """Invite people to a group."""

    class GroupData(Block, frozen=True):
        group_id: Uuid

    class InviteData(Block, frozen=True):
        invitee_id: Uuid
        role_id: Uuid

    agent_data: AgentSession
    group_data: GroupData
    invite_data: tuple[InviteData, ...] = ()


class JoinGroupRequest(Message, frozen=True):
    """Join a group."""

    class GroupData(Block, frozen=True):
        group_id: Uuid

    agent_data: AgentSession
    group_data: GroupData


class LeaveGroupRequest(Message, frozen=True):
    """Leave a group."""

    class GroupData(Block, frozen=True):
        group_id: Uuid

    agent_data: AgentSession
    group_data: GroupData


class ActivateGroup(Message, frozen=True):
    """Wear a group's title; the nil group is none."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        group_id: Uuid

    agent_data: AgentData


class GroupProfileRequest(Message, frozen=True):
    """Ask for a group's profile."""

    class GroupData(Block, frozen=True):
        group_id: Uuid

    agent_data: AgentSession
    group_data: GroupData


class MuteListRequest(Message, frozen=True):
    """Ask for our mute list."""

    class MuteData(Block, frozen=True):
        mute_crc: U32

    agent_data: AgentSession
    mute_data: MuteData
