"""Messages that make and change: new inventory items, an object's description; and who is sent off our land."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    S8,
    U8,
    U32,
    V1,
    AgentSession,
    Block,
    Message,
    Uuid,
)

__all__ = (
    "CreateInventoryItem",
    "EjectUser",
    "ObjectDescription",
)


class CreateInventoryItem(Message, frozen=True):
    """Make an inventory item; the answer carries the callback number."""

    class InventoryBlock(Block, frozen=True):
        callback_id: U32
        folder_id: Uuid
        transaction_id: Uuid
        next_owner_mask: U32
        type: S8
        inv_type: S8
        wearable_type: U8
        name: V1
        description: V1

    agent_data: AgentSession
    inventory_block: InventoryBlock


class ObjectDescription(Message, frozen=True):
    """Describe objects."""

    class ObjectData(Block, frozen=True):
        local_id: U32
        description: V1

    agent_data: AgentSession
    object_data: tuple[ObjectData, ...] = ()


class EjectUser(Message, frozen=True):
    """Send an avatar off land we may manage."""

    class Data(Block, frozen=True):
        target_id: Uuid
        flags: U32

    agent_data: AgentSession
    data: Data
