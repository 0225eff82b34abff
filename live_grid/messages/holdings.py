"""Messages about what an avatar holds: money, inventory, and the transfer of assets and files."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    F32,
    S8,
    S16,
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
    Uuid,
)

__all__ = (
    "BulkUpdateInventory",
    "ConfirmXferPacket",
    "FetchInventoryDescendents",
    "InventoryDescendents",
    "MoneyBalanceReply",
    "MoneyBalanceRequest",
    "MoneyTransferRequest",
    "PayPriceReply",
    "RequestPayPrice",
    "RequestXfer",
    "SendXferPacket",
    "TransferRequest",
    "UpdateCreateInventoryItem",
)


class MoneyBalanceRequest(Message, frozen=True):
    """Ask for our balance."""

    class MoneyData(Block, frozen=True):
        transaction_id: Uuid

    agent_data: AgentSession
    money_data: MoneyData


class MoneyBalanceReply(Message, frozen=True):
    """Our balance, and the transaction that changed it."""

    class MoneyData(Block, frozen=True):
        agent_id: Uuid
        transaction_id: Uuid
        transaction_success: Bool
        money_balance: S32
        square_meters_credit: S32
        square_meters_committed: S32
        description: V1

    class TransactionInfo(Block, frozen=True):
        transaction_type: S32
        source_id: Uuid
        is_source_group: Bool
        dest_id: Uuid
        is_dest_group: Bool
        amount: S32
        item_description: V1

    money_data: MoneyData
    transaction_info: TransactionInfo


class MoneyTransferRequest(Message, frozen=True):
    """Pay somebody; an ack says received, not done."""

    class MoneyData(Block, frozen=True):
        source_id: Uuid
        dest_id: Uuid
        flags: U8
        amount: S32
        aggregate_perm_next_owner: U8
        aggregate_perm_inventory: U8
        transaction_type: S32
        description: V1

    agent_data: AgentSession
    money_data: MoneyData


class RequestPayPrice(Message, frozen=True):
    """Ask what an object suggests to be paid."""

    class ObjectData(Block, frozen=True):
        object_id: Uuid

    object_data: ObjectData


class PayPriceReply(Message, frozen=True):
    """What an object suggests to be paid."""

    class ObjectData(Block, frozen=True):
        object_id: Uuid
        default_pay_price: S32

    class ButtonData(Block, frozen=True):
        pay_button: S32

    object_data: ObjectData
    button_data: tuple[ButtonData, ...] = ()


class FetchInventoryDescendents(Message, frozen=True):
    """Ask for the contents of a folder."""

    class InventoryData(Block, frozen=True):
        folder_id: Uuid
        owner_id: Uuid
        sort_order: S32
        fetch_folders: Bool
        fetch_items: Bool

    agent_data: AgentSession
    inventory_data: InventoryData


class InventoryDescendents(Message, frozen=True):
    """Contents of a folder, in as many packets as it takes."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        folder_id: Uuid
        owner_id: Uuid
        version: S32
        descendents: S32

    class FolderData(Block, frozen=True):
        folder_id: Uuid
        parent_id: Uuid
        type: S8
        name: V1

    class ItemData(Block, frozen=True):
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
        asset_id: Uuid
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
    folder_data: tuple[FolderData, ...] = ()
    item_data: tuple[ItemData, ...] = ()


class UpdateCreateInventoryItem(Message, frozen=True):
    """Inventory items made or changed."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        sim_approved: Bool
        transaction_id: Uuid

    class InventoryData(Block, frozen=True):
        item_id: Uuid
        folder_id: Uuid
        callback_id: U32
        creator_id: Uuid
        owner_id: Uuid
        group_id: Uuid
        base_mask: U32
        owner_mask: U32
        group_mask: U32
        everyone_mask: U32
        next_owner_mask: U32
        group_owned: Bool
        asset_id: Uuid
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
    inventory_data: tuple[InventoryData, ...] = ()


class BulkUpdateInventory(Message, frozen=True):
    """Folders and items that came into our inventory, as gifts do; some grids say it over the event queue."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        transaction_id: Uuid

    class FolderData(Block, frozen=True):
        folder_id: Uuid
        parent_id: Uuid
        type: S8
        name: V1

    class ItemData(Block, frozen=True):
        item_id: Uuid
        callback_id: U32
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
        asset_id: Uuid
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
    folder_data: tuple[FolderData, ...] = ()
    item_data: tuple[ItemData, ...] = ()


class TransferRequest(Message, frozen=True):
    """Ask for an asset."""

    class TransferInfo(Block, frozen=True):
        transfer_id: Uuid
        channel_type: S32
        source_type: S32
        priority: F32
        params: V2

    transfer_info: TransferInfo


class RequestXfer(Message, frozen=True):
    """Ask for a file."""

    class XferID(Block, frozen=True):
        id: U64
        filename: V1
        file_path: U8
        delete_on_completion: Bool
        use_big_packets: Bool
        vfile_id: Uuid
        vfile_type: S16

    xfer_id: XferID


class SendXferPacket(Message, frozen=True):
    """A piece of a file."""

    class XferID(Block, frozen=True):
        id: U64
        packet: U32

    class DataPacket(Block, frozen=True):
        data: V2

    xfer_id: XferID
    data_packet: DataPacket


class ConfirmXferPacket(Message, frozen=True):
    """A piece of a file has arrived."""

    class XferID(Block, frozen=True):
        id: U64
        packet: U32

    xfer_id: XferID
