"""What a client asks of money and inventory over UDP.

Owns the handlers of the family. A grid without money answers balances with nothing and ignores payments, as an
OpenSimulator without a money module does (Spec: LIV-8, LIV-15).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import CreateLandmark, CreateNotecard, PayAvatar, PayObject
from gridagent.events import BalanceChanged
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import LINDEN_PER_PAYMENT_MAX, clip
from live_grid.messages import text_of
from live_grid.messages.holdings import (
    FetchInventoryDescendents,
    MoneyBalanceRequest,
    MoneyTransferRequest,
    PayPriceReply,
    RequestPayPrice,
)
from live_grid.messages.making import CreateInventoryItem
from live_grid.simulator import holdings
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import text_id
from live_grid.simulator.paying import balance_reply
from live_grid.simulator.visit import Visit

__all__ = ("balance", "create_item", "fetch_descendents", "pay", "pay_price")

_DESCRIPTION_MAX_CHARACTERS: Final = 256
_NAME_MAX_CHARACTERS: Final = 63
_MADE: Final = {holdings.ASSET_TYPES[kind]: kind for kind in ("landmark", "notecard")}
_ANY_PRICE: Final = -2
_QUICK_PRICES: Final = (1, 5, 10, 20)


def balance(agent: Agent, visit: Visit, message: MoneyBalanceRequest, now: float) -> None:
    """Tell a client its avatar's balance."""
    del now
    if not agent.stage.profile.answers_balance:
        return
    has_money = agent.stage.world.settings.profile.has_money
    told = BalanceChanged(balance=agent.avatar.balance if has_money else 0)
    visit.say(balance_reply(agent, told, transaction=message.money_data.transaction_id))


def pay(agent: Agent, visit: Visit, message: MoneyTransferRequest, now: float) -> None:
    """Pay an avatar, or an object's owner through the object; who has too little is told what was not paid."""
    data, world = message.money_data, agent.stage.world
    payable = 0 < data.amount <= LINDEN_PER_PAYMENT_MAX and data.source_id == agent.agent_id
    if not payable or not world.settings.profile.has_money:
        return
    to = text_id(data.dest_id)
    description = clip(text_of(data.description), _DESCRIPTION_MAX_CHARACTERS)
    if agent.avatar.balance < data.amount:
        refused = BalanceChanged(
            balance=agent.avatar.balance, change=-data.amount, counterpart_id=to, description=description
        )
        visit.say(balance_reply(agent, refused, success=False))
    elif to in world.avatars():
        agent.do("pay", PayAvatar(to=AvatarId(to), amount=data.amount, description=description), now)
    else:
        agent.do("pay", PayObject(object_id=ObjectId(to), amount=data.amount), now)


def pay_price(agent: Agent, visit: Visit, message: RequestPayPrice, now: float) -> None:
    """Tell what an object suggests to be paid."""
    del agent, now
    object_id = message.object_data.object_id
    thing = visit.place.region.objects.get(ObjectId(text_id(object_id)))
    if thing is None:
        return
    price = thing.thing.for_sale
    buttons = _QUICK_PRICES if price is None else (price,)
    visit.say(
        PayPriceReply(
            object_data=PayPriceReply.ObjectData(object_id, _ANY_PRICE if price is None else price),
            button_data=tuple(map(PayPriceReply.ButtonData, buttons)),
        )
    )


def create_item(agent: Agent, visit: Visit, message: CreateInventoryItem, now: float) -> None:
    """Make a landmark of where the avatar is, or an empty notecard, which a capability writes."""
    del visit
    block = message.inventory_block
    name = clip(text_of(block.name), _NAME_MAX_CHARACTERS).strip()
    kind = _MADE.get(block.type)
    if kind is None or not name:
        return
    agent.makings.put((kind, name), block.callback_id)
    agent.do("make", CreateLandmark(name=name) if kind == "landmark" else CreateNotecard(name=name, text=""), now)


def fetch_descendents(agent: Agent, visit: Visit, message: FetchInventoryDescendents, now: float) -> None:
    """Describe what is in a folder, over UDP."""
    del now
    asked = message.inventory_data
    for reply in holdings.descendents_udp(
        agent.stage.world,
        agent.avatar_id,
        asked.folder_id,
        folders=asked.fetch_folders,
        items=asked.fetch_items,
    ):
        visit.say(reply)
