"""What messages about money and inventory do to our world.

Owns the reducers of the family (Spec: LIV-6, LIV-8).
"""

from __future__ import annotations

from typing import Final

from live_grid.messages import NIL
from live_grid.messages.holdings import (
    InventoryDescendents,
    MoneyBalanceReply,
    PayPriceReply,
    UpdateCreateInventoryItem,
)
from live_grid.world.bounds import LONG_MAX_CHARACTERS
from live_grid.world.events import BalanceKnown, ItemMade, ItemsMade, PayPriceShown, WorldEvent
from live_grid.world.state import Region, World
from live_grid.world.text import clean_name, clean_text

__all__ = ("reduce_balance", "reduce_descendents", "reduce_items", "reduce_pay_price")

_BUTTONS_MAX: Final = 4


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
    data = message.agent_data
    if data.agent_id != world.agent_id or not message.inventory_data:
        return ()
    items = tuple(
        ItemMade(
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
        for block in message.inventory_data
    )
    world.inventory.learn(items)
    return (ItemsMade(items),)


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
