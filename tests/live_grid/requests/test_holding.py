"""What we do with what we hold."""

from __future__ import annotations

import pytest

from live_grid.errors import LocalProtocolError
from live_grid.requests import Confirmation, Identity, holding

BEN = bytes(15) + b"\x02"
ITEM = bytes(15) + b"\x1e"
NUMBER = bytes(15) + b"\x99"


@pytest.mark.parametrize(("pay", "kind"), [(holding.pay_avatar, 5001), (holding.pay_object, 5008)])
def test_a_payment_carries_our_words(me: Identity, travel, pay, kind: int) -> None:
    """Amount, both ends and the reference; a balance confirms it, never an ack. Spec: LIV-6, EFX-1, EFX-5."""
    request = pay(me, BEN, 10, "rose #1")
    data = travel(request)[0].money_data
    assert (data.source_id, data.dest_id, data.amount, data.transaction_type) == (me.agent_id, BEN, 10, kind)
    assert data.description == b"rose #1\0"
    assert request.confirmed_by is Confirmation.BALANCE


@pytest.mark.parametrize("amount", [0, -1, 2**31])
def test_an_amount_that_is_none_is_refused(me: Identity, amount: int) -> None:
    """Nothing, less than nothing, and what does not fit are not sent. Fault: 24."""
    with pytest.raises(LocalProtocolError, match="positive"):
        holding.pay_avatar(me, BEN, amount, "")


def test_questions_about_money(me: Identity, travel) -> None:
    """Our balance, and an object's price."""
    assert travel(holding.ask_balance(me))[0].agent_data == me.session
    assert travel(holding.ask_price(BEN))[0].object_data.object_id == BEN


def test_a_gift_names_item_and_kind(me: Identity, travel) -> None:
    """The bucket holds both; the receiver's answer confirms it. Spec: LIV-8."""
    request = holding.give_item(me, BEN, item_id=ITEM, asset_type=-1, name="A rose", number=NUMBER)
    block = travel(request)[0].message_block
    assert (block.dialog, block.id, block.message, block.binary_bucket) == (4, NUMBER, b"A rose\0", b"\xff" + ITEM)
    assert request.confirmed_by is Confirmation.GIFT_ANSWERED


def test_folders_and_new_items(me: Identity, travel) -> None:
    """A folder's contents, and an empty notecard under our own number. Spec: LIV-8."""
    data = travel(holding.ask_folder(me, ITEM))[0].inventory_data
    assert (data.folder_id, data.fetch_folders, data.fetch_items) == (ITEM, True, True)
    request = holding.create_item(me, ITEM, kind=holding.NOTECARD, name="Note", description="", callback=7)
    block = travel(request)[0].inventory_block
    assert (block.callback_id, block.folder_id, block.type, block.inv_type, block.name) == (7, ITEM, 7, 7, b"Note\0")
