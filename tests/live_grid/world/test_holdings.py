"""Messages about money and inventory."""

from __future__ import annotations

from uuid import UUID

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import QueueEvent
from live_grid.llsd import LlsdValue
from live_grid.messages import NIL
from live_grid.messages.holdings import (
    BulkUpdateInventory,
    InventoryDescendents,
    MoneyBalanceReply,
    PayPriceReply,
    UpdateCreateInventoryItem,
)
from live_grid.world import Region, World, reduce_message, reduce_queue_event
from live_grid.world.events import BalanceKnown, ItemMade, ItemsMade, PayPriceShown

BEN = bytes(15) + b"\x02"
PAID = bytes(15) + b"\x77"


def balance(who: bytes, said: bytes) -> MoneyBalanceReply:
    """A balance after a payment to Ben."""
    return MoneyBalanceReply(
        money_data=MoneyBalanceReply.MoneyData(who, PAID, True, 90, 0, 0, b"You paid Ben L$10\0"),
        transaction_info=MoneyBalanceReply.TransactionInfo(5001, who, False, BEN, False, 10, said),
    )


def test_our_balance_comes_with_what_changed_it(world: World, here: Region) -> None:
    """Amount, both ends and the words that went with the payment are kept; another's balance is not ours."""
    assert reduce_message(world, here, balance(BEN, b"")) == ()
    assert world.balance is None
    assert reduce_message(world, here, balance(world.agent_id, b"nonce 1\0")) == (
        BalanceKnown(90, True, PAID, "nonce 1", 10, world.agent_id, BEN),
    )
    assert world.balance == 90
    (event,) = reduce_message(world, here, balance(world.agent_id, b""))
    assert isinstance(event, BalanceKnown)
    assert event.description == "You paid Ben L$10"


def test_items_that_came_into_being_are_told(world: World, here: Region) -> None:
    """Ours only, and only if there are any. Spec: LIV-8."""
    fields = dict.fromkeys(UpdateCreateInventoryItem.InventoryData.__struct_fields__, 0)
    fields |= {"item_id": PAID, "folder_id": NIL, "asset_id": BEN, "type": 7, "callback_id": 3, "name": b"A note\0"}
    fields |= {"description": b"on \x07paper\0", "owner_mask": 5, "next_owner_mask": 4}
    block = UpdateCreateInventoryItem.InventoryData(**fields)  # type: ignore[arg-type]

    def made(who: bytes, *blocks: UpdateCreateInventoryItem.InventoryData) -> UpdateCreateInventoryItem:
        data = UpdateCreateInventoryItem.AgentData(who, True, PAID)
        return UpdateCreateInventoryItem(agent_data=data, inventory_data=blocks)

    assert reduce_message(world, here, made(BEN, block)) == ()
    assert reduce_message(world, here, made(world.agent_id)) == ()
    item = ItemMade(PAID, NIL, BEN, 7, "A note", "on paper", 3, 4, 5)
    assert reduce_message(world, here, made(world.agent_id, block)) == (ItemsMade((item,)),)
    assert world.inventory.items == {PAID: item}


def test_what_somebody_put_into_our_inventory_is_told(world: World, here: Region) -> None:
    """Over UDP: ours only; a row of nothing is left out. Spec: LIV-8."""
    fields = dict.fromkeys(BulkUpdateInventory.ItemData.__struct_fields__, 0)
    fields |= {"item_id": PAID, "folder_id": NIL, "asset_id": BEN, "type": 7, "name": b"A note\0"}
    fields |= {"description": b"on paper\0", "owner_mask": 5, "next_owner_mask": 4}
    block = BulkUpdateInventory.ItemData(**fields)  # type: ignore[arg-type]
    nothing = BulkUpdateInventory.ItemData(**(fields | {"item_id": NIL}))  # type: ignore[arg-type]

    def given(who: bytes, *blocks: BulkUpdateInventory.ItemData) -> BulkUpdateInventory:
        return BulkUpdateInventory(agent_data=BulkUpdateInventory.AgentData(who, PAID), item_data=blocks)

    assert reduce_message(world, here, given(BEN, block)) == ()
    assert reduce_message(world, here, given(world.agent_id, nothing)) == ()
    item = ItemMade(PAID, NIL, BEN, 7, "A note", "on paper", 0, 4, 5)
    assert reduce_message(world, here, given(world.agent_id, nothing, block)) == (ItemsMade((item,)),)
    assert world.inventory.items == {PAID: item}


def test_what_the_event_queue_says_of_our_inventory_is_told(world: World, here: Region) -> None:
    """As a running OpenSimulator writes it, with masks as integers; what is no row is refused. Spec: LIV-8."""
    agent: LlsdValue = [{"AgentID": UUID(bytes=world.agent_id), "TransactionID": UUID(int=1)}]
    row: dict[str, LlsdValue] = {
        "ItemID": UUID(bytes=PAID),
        "FolderID": UUID(int=0),
        "AssetID": UUID(bytes=BEN),
        "Type": 3,
        "Name": "A \x07place",
        "Description": "nice",
        "CallbackID": 0,
        "NextOwnerMask": 4,
        "OwnerMask": b"\0\0\0\5",
    }

    def told(**body: LlsdValue) -> tuple[object, ...]:
        return reduce_queue_event(world, here, QueueEvent(name="BulkUpdateInventory", body=body))

    item = ItemMade(PAID, NIL, BEN, 3, "A place", "nice", 0, 4, 5)
    assert told(AgentData=agent, ItemData=[row]) == (ItemsMade((item,)),)
    assert world.inventory.items == {PAID: item}
    nameless = {key: value for key, value in row.items() if key not in {"Name", "Description"}}
    assert told(AgentData=agent, ItemData=[nameless]) == (ItemsMade((ItemMade(PAID, NIL, BEN, 3, "", "", 0, 4, 5),)),)
    assert told(AgentData=agent) == ()
    assert told(AgentData=[{"AgentID": UUID(bytes=BEN)}], ItemData=[row]) == ()
    for broken in ({"AgentData": agent, "ItemData": [7]}, {"ItemData": [row]}, {"AgentData": agent, "ItemData": [{}]}):
        with pytest.raises(RemoteProtocolError):
            told(**broken)


def test_a_folder_is_learnt_and_not_told(world: World, here: Region) -> None:
    """Ours only; an empty folder's row of nothing is left out. Spec: LIV-8."""
    fields = dict.fromkeys(InventoryDescendents.ItemData.__struct_fields__, 0)
    fields |= {"item_id": PAID, "folder_id": BEN, "asset_id": BEN, "type": 20, "name": b"Dance\0", "description": b"\0"}
    item = InventoryDescendents.ItemData(**fields)  # type: ignore[arg-type]
    nothing = InventoryDescendents.ItemData(**(fields | {"item_id": NIL}))  # type: ignore[arg-type]

    def listed(who: bytes) -> InventoryDescendents:
        data = InventoryDescendents.AgentData(who, BEN, who, 1, 1)
        return InventoryDescendents(agent_data=data, item_data=(item, nothing))

    assert reduce_message(world, here, listed(BEN)) == ()
    assert not world.inventory.items
    assert reduce_message(world, here, listed(world.agent_id)) == ()
    assert [one.name for one in world.inventory.items.values()] == ["Dance"]


def test_an_object_names_its_prices(world: World, here: Region) -> None:
    """Buttons without a price are none."""
    reply = PayPriceReply(
        object_data=PayPriceReply.ObjectData(BEN, -2), button_data=tuple(map(PayPriceReply.ButtonData, (10, -1, 50)))
    )
    assert reduce_message(world, here, reply) == (PayPriceShown(BEN, (10, 50)),)
