"""What we do with what we hold: give, pay, ask for our balance and for a folder, and make new items.

Owns the requests of the family. A payment's description can carry a reference of ours; what confirms it is a balance
that says so, never an ack (Spec: LIV-6, LIV-8, EFX-1).
"""

from __future__ import annotations

from typing import Final

from live_grid.errors import LocalProtocolError
from live_grid.messages import NIL
from live_grid.messages.holdings import (
    FetchInventoryDescendents,
    MoneyBalanceRequest,
    MoneyTransferRequest,
    RequestPayPrice,
)
from live_grid.messages.making import CreateInventoryItem
from live_grid.requests.request import Confirmation, Identity, Request, text_field
from live_grid.requests.speaking import instant_message

__all__ = (
    "LANDMARK",
    "NOTECARD",
    "ask_balance",
    "ask_folder",
    "ask_price",
    "create_item",
    "give_item",
    "pay_avatar",
    "pay_object",
)

NOTECARD: Final = 7
LANDMARK: Final = 3
_GIFT: Final = 4
_TO_AVATAR: Final = 5001
_TO_OBJECT: Final = 5008
_S32_MAX: Final = 2**31 - 1
_ASSET_TYPES: Final = 256
_BY_NAME: Final = 0
_FULL_RIGHTS: Final = 0x7FFF_FFFF
_NO_WEARABLE: Final = 0xFF


def ask_balance(me: Identity) -> Request:
    """Ask for our balance."""
    return Request(
        (MoneyBalanceRequest(agent_data=me.session, money_data=MoneyBalanceRequest.MoneyData(NIL)),),
        Confirmation.BALANCE,
    )


def _pay(me: Identity, to: bytes, amount: int, kind: int, description: str) -> Request:
    if not 0 < amount <= _S32_MAX:
        raise LocalProtocolError("a payment is a positive number of 31 bits")
    data = MoneyTransferRequest.MoneyData(
        source_id=me.agent_id,
        dest_id=to,
        flags=0,
        amount=amount,
        aggregate_perm_next_owner=0,
        aggregate_perm_inventory=0,
        transaction_type=kind,
        description=text_field(description),
    )
    return Request((MoneyTransferRequest(agent_data=me.session, money_data=data),), Confirmation.BALANCE)


def pay_avatar(me: Identity, to: bytes, amount: int, description: str) -> Request:
    """Pay an avatar.

    Raises:
        LocalProtocolError: the amount is none, or the description too long.
    """
    return _pay(me, to, amount, _TO_AVATAR, description)


def pay_object(me: Identity, object_id: bytes, amount: int, description: str) -> Request:
    """Pay an object.

    Raises:
        LocalProtocolError: the amount is none, or the description too long.
    """
    return _pay(me, object_id, amount, _TO_OBJECT, description)


def ask_price(object_id: bytes) -> Request:
    """Ask what an object wants to be paid."""
    return Request((RequestPayPrice(object_data=RequestPayPrice.ObjectData(object_id)),), Confirmation.PRICE)


def give_item(me: Identity, to: bytes, *, item_id: bytes, asset_type: int, name: str, number: bytes) -> Request:
    """Give an item to an avatar.

    Args:
        me: who gives.
        to: an avatar.
        item_id: of our inventory.
        asset_type: of the item.
        name: of the item; shown to the receiver.
        number: a new id, which the answer names.

    Raises:
        LocalProtocolError: the name is too long.
    """
    bucket = bytes((asset_type % _ASSET_TYPES,)) + item_id
    return Request(
        (instant_message(me, to, _GIFT, number=number, text=name, bucket=bucket),), Confirmation.GIFT_ANSWERED
    )


def ask_folder(me: Identity, folder_id: bytes) -> Request:
    """Ask for the contents of a folder over UDP, for grids without a capability for it."""
    data = FetchInventoryDescendents.InventoryData(folder_id, me.agent_id, _BY_NAME, True, True)
    return Request((FetchInventoryDescendents(agent_data=me.session, inventory_data=data),), Confirmation.FOLDER)


def create_item(me: Identity, folder_id: bytes, *, kind: int, name: str, description: str, callback: int) -> Request:
    """Make an empty notecard, or a landmark of where we stand.

    Args:
        me: who asks.
        folder_id: where it goes.
        kind: `NOTECARD` or `LANDMARK`.
        name: of the item.
        description: of the item.
        callback: comes back with the item; not 0.

    Raises:
        LocalProtocolError: a text is too long.
    """
    block = CreateInventoryItem.InventoryBlock(
        callback_id=callback,
        folder_id=folder_id,
        transaction_id=NIL,
        next_owner_mask=_FULL_RIGHTS,
        type=kind,
        inv_type=kind,
        wearable_type=_NO_WEARABLE,
        name=text_field(name),
        description=text_field(description),
    )
    return Request((CreateInventoryItem(agent_data=me.session, inventory_block=block),), Confirmation.ITEM)
