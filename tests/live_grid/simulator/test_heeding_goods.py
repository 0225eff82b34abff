"""What a client asks of money and inventory over UDP."""

from __future__ import annotations

import random

import msgspec
import pytest

from gridagent.events import BalanceChanged, GridProfile
from gridagent.grid.simulated import Account, World, WorldSettings
from gridagent.grid.simulated.witness import Witness
from gridagent.runtime.deterministic import simulated_ports
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.holdings import (
    FetchInventoryDescendents,
    InventoryDescendents,
    MoneyBalanceReply,
    MoneyBalanceRequest,
    MoneyTransferRequest,
    PayPriceReply,
    RequestPayPrice,
    UpdateCreateInventoryItem,
)
from live_grid.messages.making import CreateInventoryItem
from live_grid.simulator.holdings import folders_of
from live_grid.simulator.ids import wire_id
from live_grid.simulator.profiles import OPENSIM
from live_grid.simulator.puppet import Puppet, Table

JAR, BOOK = "00000000-0000-4000-8000-0000000000b2", "00000000-0000-4000-8000-0000000000b3"


def ask_balance(puppet: Puppet) -> None:
    """Ask for the balance."""
    puppet.say(MoneyBalanceRequest(agent_data=puppet.session, money_data=MoneyBalanceRequest.MoneyData(b"t" * 16)))


def pay(puppet: Puppet, to: str, amount: int, text: str = "for you", *, source: bytes | None = None) -> None:
    """Pay somebody."""
    data = MoneyTransferRequest.MoneyData(
        puppet.agent_id if source is None else source, wire_id(to), 0, amount, 0, 0, 5001, wire_text(text)
    )
    puppet.say(MoneyTransferRequest(agent_data=puppet.session, money_data=data))


def test_a_balance_is_told_under_the_clients_transaction(ada: Puppet) -> None:
    """And with no transfer in it. Spec: LIV-6, LIV-15."""
    ask_balance(ada)
    (reply,) = ada.saw(MoneyBalanceReply)
    data = reply.money_data
    assert (data.money_balance, data.transaction_id, data.transaction_success) == (100, b"t" * 16, True)
    assert (reply.transaction_info.amount, text_of(data.description)) == (0, "")


def test_a_payment_moves_money_and_both_are_told(world: World, ada: Puppet, ben: Witness) -> None:
    """The reply names amount, both sides and the description. Spec: LIV-6, EFX-1, LIV-15."""
    pay(ada, ben.avatar_id, 30, "rent n0nce")
    (reply,) = ada.saw(MoneyBalanceReply)
    info = reply.transaction_info
    assert (reply.money_data.money_balance, info.amount, text_of(info.item_description)) == (70, 30, "rent n0nce")
    assert (info.source_id, info.dest_id, info.transaction_type) == (ada.agent_id, wire_id(ben.avatar_id), 5001)
    assert text_of(reply.money_data.description) == "You paid Ben Bystander L$30."
    assert ben.saw(BalanceChanged)[-1].change == 30
    assert world.balance(ben.avatar_id) == 130


def test_money_that_comes_is_told_too(world: World, table: Table, ada: Puppet, enter) -> None:
    """From the payer, to us. Spec: LIV-6."""
    ben = enter(table, "Ben Bystander")
    pay(ben, world.avatars()[0], 5)
    (reply,) = ada.saw(MoneyBalanceReply)
    assert (reply.transaction_info.source_id, reply.transaction_info.dest_id) == (ben.agent_id, ada.agent_id)
    assert text_of(reply.money_data.description) == "Ben Bystander paid you L$5."


def test_objects_take_money_and_sell(world: World, ada: Puppet) -> None:
    """A tip jar takes any amount, a book its price and gives a copy. Spec: LIV-6, LIV-15."""
    pay(ada, JAR, 7)
    pay(ada, BOOK, 10)
    told = ada.saw(MoneyBalanceReply)
    assert [(one.transaction_info.transaction_type, one.transaction_info.amount) for one in told] == [
        (5008, 7),
        (5008, 10),
    ]
    assert text_of(told[0].money_data.description) == "You paid Jar L$7."
    (given,) = ada.told("BulkUpdateInventory")
    assert [row["Name"] for row in given["ItemData"]] == ["Book"]
    assert world.balance(world.avatars()[0]) == 83


def test_a_payment_that_fails_says_so(world: World, ada: Puppet, ben: Witness) -> None:
    """By a balance reply without success, which names what was not paid, and why. Spec: EFX-1, EFX-5, LIV-15."""
    pay(ada, ben.avatar_id, 1_000, "rent n0nce")
    (reply,) = ada.saw(MoneyBalanceReply)
    assert not reply.money_data.transaction_success
    info = reply.transaction_info
    assert (reply.money_data.money_balance, info.amount, info.dest_id) == (100, 1_000, wire_id(ben.avatar_id))
    assert text_of(info.item_description) == "rent n0nce"
    assert text_of(reply.money_data.description) == "You do not have enough L$."
    assert [world.balance(each) for each in world.avatars()[:2]] == [100, 100]


@pytest.mark.parametrize("amount", [0, -5, 2_000_000])
def test_an_amount_that_is_none_pays_nothing(amount: int, world: World, ada: Puppet, ben: Witness) -> None:
    """Nor does a payment out of somebody else's pocket. Spec: LIV-3; Fault: 24."""
    pay(ada, ben.avatar_id, amount)
    pay(ada, ben.avatar_id, 5, source=wire_id(ben.avatar_id))
    assert ada.saw(MoneyBalanceReply) == []
    assert world.balance(ben.avatar_id) == 100


def test_a_grid_without_money_ignores_payments() -> None:
    """As OpenSimulator without a module: nothing on the account, nothing happens. Spec: LIV-11, LIV-15."""
    settings = WorldSettings(profile=GridProfile(grid="Poor", has_money=False))
    world = World(random.Random(1), simulated_ports(1).ids.uuid, settings=settings)
    world.add_region("Plaza", x_m=0, y_m=0)
    one, other = (world.add_avatar(Account(name=f"{name} Poor", balance=9)) for name in ("One", "Other"))
    table = Table(world)
    puppet = table.puppet("One Poor")
    puppet.enter()
    pay(puppet, other, 3)
    ask_balance(puppet)
    assert [reply.money_data.money_balance for reply in puppet.saw(MoneyBalanceReply)] == [0]
    assert world.balance(one) == 9


def test_a_server_without_any_module_answers_no_balance() -> None:
    """Not even with nothing: this is how a client knows. Spec: LIV-11, LIV-15."""
    world = World(random.Random(1), simulated_ports(1).ids.uuid)
    world.add_region("Plaza", x_m=0, y_m=0)
    world.add_avatar(Account(name="One Poor", balance=9))
    puppet = Table(world, profile=msgspec.structs.replace(OPENSIM, answers_balance=False)).puppet("One Poor")
    puppet.enter()
    ask_balance(puppet)
    assert puppet.saw(MoneyBalanceReply) == []


def test_an_object_says_what_it_wants(ada: Puppet) -> None:
    """Its price, or a few buttons; what is not there says nothing. Spec: LIV-6."""
    for wanted in (JAR, BOOK, "00000000-0000-4000-8000-00000000dead"):
        ada.say(RequestPayPrice(object_data=RequestPayPrice.ObjectData(wire_id(wanted))))
    jar, book = ada.saw(PayPriceReply)
    assert (jar.object_data.default_pay_price, len(jar.button_data)) == (-2, 4)
    assert (book.object_data.default_pay_price, [one.pay_button for one in book.button_data]) == (10, [10])


def test_a_folder_is_told_over_udp(world: World, ada: Puppet) -> None:
    """For clients without the capability. Spec: LIV-8, LIV-15."""
    notes = next(one for one in folders_of(world.avatars()[0]) if one.name == "Notecards")
    block = FetchInventoryDescendents.InventoryData(notes.folder_id, ada.agent_id, 0, True, True)
    ada.say(FetchInventoryDescendents(agent_data=ada.session, inventory_data=block))
    (reply,) = ada.saw(InventoryDescendents)
    assert [text_of(row.name) for row in reply.item_data] == ["Note"]
    assert msgspec.structs.asdict(reply.agent_data)["descendents"] == 1
    assert NIL not in {row.asset_id for row in reply.item_data}


def make(puppet: Puppet, kind: int, name: str) -> None:
    """Ask for a new item under the number 7."""
    block = CreateInventoryItem.InventoryBlock(7, NIL, NIL, 0, kind, kind, 255, wire_text(name), wire_text(""))
    puppet.say(CreateInventoryItem(agent_data=puppet.session, inventory_block=block))


def test_a_landmark_is_made_under_the_number_it_was_asked_for_with(ada: Puppet) -> None:
    """Nothing but it and notecards can be made so, and nothing without a name. Spec: LIV-8, LIV-15."""
    make(ada, 10, "A script")
    make(ada, 3, " ")
    make(ada, 3, "Home")
    (made,) = ada.saw(UpdateCreateInventoryItem)
    (row,) = made.inventory_data
    assert (row.callback_id, row.type, text_of(row.name)) == (7, 3, "Home")
