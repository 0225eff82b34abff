"""What messages about money and inventory do to our world.

Owns the reducers of the family (Spec: LIV-6, LIV-8).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from live_grid.event_queue.fields import Fields, block_of, number_of, uuid_of
from live_grid.llsd import LlsdValue
from live_grid.messages import NIL
from live_grid.messages.holdings import (
    BulkUpdateInventory,
    InventoryDescendents,
    MoneyBalanceReply,
    PayPriceReply,
    UpdateCreateInventoryItem,
)
from live_grid.world.bounds import LONG_MAX_CHARACTERS
from live_grid.world.events import BalanceKnown, ItemMade, ItemsMade, PayPriceShown, WorldEvent
from live_grid.world.state import Region, World
from live_grid.world.text import clean, clean_name, clean_text, clean_words

__all__ = (
    "reduce_balance",
    "reduce_bulk_update",
    "reduce_descendents",
    "reduce_items",
    "reduce_pay_price",
    "reduce_queued_items",
)

_BUTTONS_MAX: Final = 4
QUEUED_ITEMS_MAX: Final = 256
"""Of one event; more come with the folder's contents."""


def reduce_balance(world: World, region: Region, message: MoneyBalanceReply) -> tuple[WorldEvent, ...]:
    """Learn our balance, and what changed it; somebody else's is not for us."""
    del region
    data, info = message.money_data, message.transaction_info
    if data.agent_id != world.agent_id:
        return ()
    world.balance = data.money_balance
    description = clean_text(data.description, LONG_MAX_CHARACTERS)
    said = clean_text(info.item_description, LONG_MAX_CHARACTERS)
    return (
        BalanceKnown(
            data.money_balance,
            data.transaction_success,
            data.transaction_id,
            said or description,
            info.amount,
            info.source_id,
            info.dest_id,
        ),
    )


def reduce_items(world: World, region: Region, message: UpdateCreateInventoryItem) -> tuple[WorldEvent, ...]:
    """Learn of items that came into being or changed."""
    del region
    return _made(world, message.agent_data.agent_id, map(_item, message.inventory_data))


def reduce_bulk_update(world: World, region: Region, message: BulkUpdateInventory) -> tuple[WorldEvent, ...]:
    """Learn of items that somebody put into our inventory."""
    del region
    return _made(world, message.agent_data.agent_id, map(_item, message.item_data))


def reduce_queued_items(world: World, region: Region, body: Fields) -> tuple[WorldEvent, ...]:
    """Learn of items that somebody put into our inventory, as the event queue writes it.

    Raises:
        RemoteProtocolError: it does not say whose, or what.
    """
    del region
    rows = body.get("ItemData")
    found = map(_queued, rows[:QUEUED_ITEMS_MAX]) if isinstance(rows, list) else ()
    return _made(world, uuid_of(block_of(body, "AgentData"), "AgentID"), found)


def _made(world: World, agent_id: bytes, found: Iterable[ItemMade]) -> tuple[WorldEvent, ...]:
    """Keep and tell items, if they are ours; a row without an id says that there are none."""
    if agent_id != world.agent_id:
        return ()
    items = tuple(item for item in found if item.item_id != NIL)
    world.inventory.learn(items)
    return (ItemsMade(items),) if items else ()


def _item(block: UpdateCreateInventoryItem.InventoryData | BulkUpdateInventory.ItemData) -> ItemMade:
    return ItemMade(
        block.item_id,
        block.folder_id,
        block.asset_id,
        block.type,
        clean_name(block.name),
        clean_text(block.description, LONG_MAX_CHARACTERS),
        block.callback_id,
        block.next_owner_mask,
        block.owner_mask,
    )


def _queued(row: LlsdValue) -> ItemMade:
    block = block_of({"ItemData": [row]}, "ItemData")
    name, said = block.get("Name"), block.get("Description")
    return ItemMade(
        uuid_of(block, "ItemID"),
        uuid_of(block, "FolderID"),
        uuid_of(block, "AssetID"),
        number_of(block, "Type"),
        clean_words(name) if isinstance(name, str) else "",
        clean(said, LONG_MAX_CHARACTERS) if isinstance(said, str) else "",
        number_of(block, "CallbackID", 0),
        number_of(block, "NextOwnerMask", 0),
        number_of(block, "OwnerMask", 0),
    )


def reduce_descendents(world: World, region: Region, message: InventoryDescendents) -> tuple[WorldEvent, ...]:
    """Learn what a folder holds; that is no news to tell."""
    del region
    if message.agent_data.agent_id == world.agent_id:
        world.inventory.learn(
            ItemMade(
                block.item_id,
                block.folder_id,
                block.asset_id,
                block.type,
                clean_name(block.name),
                clean_text(block.description, LONG_MAX_CHARACTERS),
                0,
                block.next_owner_mask,
                block.owner_mask,
            )
            for block in message.item_data
            if block.item_id != NIL
        )
    return ()


def reduce_pay_price(world: World, region: Region, message: PayPriceReply) -> tuple[WorldEvent, ...]:
    """Learn what an object wants to be paid."""
    del world, region
    block = message.object_data
    prices = (block.default_pay_price, *(button.pay_button for button in message.button_data[:_BUTTONS_MAX]))
    return (PayPriceShown(block.object_id, tuple(price for price in prices if price > 0)),)
