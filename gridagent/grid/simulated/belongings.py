"""Putting items into inventories and taking them out.

Owns the only two changes an inventory knows, each with its event. Used by the verbs that give, make, buy,
rez and return. Invariant: an item is in exactly one inventory, and no inventory holds more than
`INVENTORY_MAX` items: whoever calls `put_item` has asked `has_room` first.
"""

from __future__ import annotations

from gridagent.events import InventoryChanged, InventoryRemoved
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.items import INVENTORY_MAX, Item
from gridagent.grid.simulated.state import State
from gridagent.ids import ItemId
from gridagent.limits import Label

__all__ = ("drop_item", "has_room", "put_item")


def has_room(avatar: Avatar) -> bool:
    """Tell whether one more item fits."""
    return len(avatar.inventory) < INVENTORY_MAX


def put_item(
    state: State,
    avatar: Avatar,
    *,
    name: str,
    kind: str,
    text: str = "",
    may_copy: bool = True,
    may_transfer: bool = True,
    item_id: ItemId | None = None,
    reference: Label = "",
) -> Item:
    """Put an item into an inventory that has room."""
    item = Item(
        item_id=item_id or ItemId(state.ids()),
        name=name,
        kind=kind,
        text=text,
        may_copy=may_copy,
        may_transfer=may_transfer,
        made_by=reference,
    )
    avatar.inventory[item.item_id] = item
    state.tell(avatar, InventoryChanged(item=item.view(), reference=state.carried(reference)))
    return item


def drop_item(state: State, avatar: Avatar, item: Item) -> None:
    """Take an item out of an inventory."""
    del avatar.inventory[item.item_id]
    state.tell(avatar, InventoryRemoved(item_id=item.item_id))
