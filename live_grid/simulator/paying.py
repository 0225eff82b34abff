"""Balances and payments, told.

Owns the one message that answers everything about money: what a payment did, what a payer and a payee have now, and
that a payment failed (Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from typing import Final

from gridagent.events import BalanceChanged
from gridagent.ids import AvatarId, ObjectId
from live_grid.messages import NIL
from live_grid.messages.holdings import MoneyBalanceReply
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import wire_id
from live_grid.simulator.wording import short_text

__all__ = ("GIFT_TYPE", "PAY_OBJECT_TYPE", "balance_reply")

GIFT_TYPE: Final = 5001
PAY_OBJECT_TYPE: Final = 5008
_S32_MAX: Final = 0x7FFF_FFFF
_NOT_ENOUGH: Final = "You do not have enough L$."


def balance_reply(
    agent: Agent, event: BalanceChanged, *, transaction: bytes = NIL, success: bool = True
) -> MoneyBalanceReply:
    """Tell a balance and what changed it."""
    world = agent.stage.world
    other = wire_id(event.counterpart_id)
    paid = event.change < 0
    name = _name_of(agent, event.counterpart_id)
    amount = abs(event.change)
    words = _NOT_ENOUGH if not success else f"You paid {name} L${amount}." if paid else f"{name} paid you L${amount}."
    is_avatar = other == NIL or event.counterpart_id in world.avatars()
    return MoneyBalanceReply(
        money_data=MoneyBalanceReply.MoneyData(
            agent_id=agent.agent_id,
            transaction_id=transaction,
            transaction_success=success,
            money_balance=min(event.balance, _S32_MAX),
            square_meters_credit=0,
            square_meters_committed=0,
            description=short_text(words if amount or not success else ""),
        ),
        transaction_info=MoneyBalanceReply.TransactionInfo(
            transaction_type=0 if not amount else GIFT_TYPE if is_avatar else PAY_OBJECT_TYPE,
            source_id=agent.agent_id if paid else other,
            is_source_group=False,
            dest_id=other if paid else agent.agent_id,
            is_dest_group=False,
            amount=amount,
            item_description=short_text(event.description),
        ),
    )


def _name_of(agent: Agent, counterpart_id: str) -> str:
    world = agent.stage.world
    if counterpart_id in world.avatars():
        return world.avatar(AvatarId(counterpart_id)).name
    thing = agent.avatar.body.region.objects.get(ObjectId(counterpart_id)) if agent.avatar.body else None
    return "the grid" if thing is None else thing.thing.name
