"""L$: balances, payments and refusals.

Owns every change of a balance, including what is paid to the grid itself. Invariant: the sum of all
balances and the treasury never changes, and no balance is ever negative.
"""

from __future__ import annotations

from gridagent.actions import PayAvatar, PayObject
from gridagent.events import BalanceChanged
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.belongings import has_room, put_item
from gridagent.grid.simulated.book import Movement
from gridagent.grid.simulated.characters import ObjectPaid
from gridagent.grid.simulated.items import OBJECT_KIND
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.scripts import tell_script
from gridagent.grid.simulated.state import State
from gridagent.ids import NIL_UUID
from gridagent.limits import Label

__all__ = ("charge", "pay_avatar", "pay_object")


def pay_avatar(state: State, avatar: Avatar, body: Body, action: PayAvatar, reference: Label) -> None:
    """Pay somebody, who may be away."""
    del body
    payee = state.avatars.get(action.to)
    if payee is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_AVATAR)
    elif payee is avatar:
        state.refuse(avatar, reference, Refusal.NOT_YOURSELF)
    elif avatar.balance < action.amount:
        state.refuse(avatar, reference, Refusal.INSUFFICIENT_FUNDS)
    else:
        _move(state, avatar, payee, action.amount, payee.avatar_id, action.description, reference)


def pay_object(state: State, avatar: Avatar, body: Body, action: PayObject, reference: Label) -> None:
    """Pay an object's owner through the object; a thing for sale gives a copy of itself for its price."""
    thing = state.object_here(body, action.object_id)
    reason = Refusal.UNKNOWN_OBJECT if thing is None else _unpayable(avatar, thing, action.amount)
    if reason is not None or thing is None:
        state.refuse(avatar, reference, reason or Refusal.UNKNOWN_OBJECT)
        return
    owner = state.avatars[thing.owner_id]
    _move(state, avatar, owner, action.amount, thing.object_id, thing.thing.name, reference)
    if thing.thing.for_sale is not None:
        put_item(state, avatar, name=thing.thing.name, kind=OBJECT_KIND)
    paid = ObjectPaid(avatar_id=avatar.avatar_id, name=avatar.name, amount=action.amount)
    tell_script(state, thing.object_id, paid)


def _unpayable(avatar: Avatar, thing: GridObject, amount: int) -> Refusal | None:
    price = thing.thing.for_sale
    if thing.owner_id == avatar.avatar_id:
        return Refusal.NOT_YOURSELF
    if price is None and not thing.thing.payable:
        return Refusal.NOT_PAYABLE
    if price is not None and price != amount:
        return Refusal.WRONG_PRICE
    if avatar.balance < amount:
        return Refusal.INSUFFICIENT_FUNDS
    if price is not None and not has_room(avatar):
        return Refusal.INVENTORY_FULL
    return None


def charge(state: State, avatar: Avatar, amount: int, description: str, reference: Label) -> bool:
    """Pay the grid itself; tell whether the balance was enough."""
    if avatar.balance < amount:
        return False
    if amount > 0:
        avatar.balance -= amount
        state.treasury += amount
        paid = Movement(
            payer=avatar.avatar_id,
            counterpart=NIL_UUID,
            amount=amount,
            description=description,
            reference=reference,
        )
        state.book.enter(paid)
        _tell(state, avatar, -amount, NIL_UUID, description, reference)
    return True


def _move(
    state: State, payer: Avatar, payee: Avatar, amount: int, counterpart_id: str, description: str, reference: Label
) -> None:
    payer.balance -= amount
    payee.balance += amount
    paid = Movement(
        payer=payer.avatar_id,
        payee=payee.avatar_id,
        counterpart=counterpart_id,
        amount=amount,
        description=description,
        reference=reference,
    )
    state.book.enter(paid)
    _tell(state, payer, -amount, counterpart_id, description, reference)
    _tell(state, payee, amount, payer.avatar_id, description, "")


def _tell(state: State, avatar: Avatar, change: int, counterpart_id: str, description: str, reference: Label) -> None:
    state.tell(
        avatar,
        BalanceChanged(
            balance=avatar.balance,
            change=change,
            counterpart_id=counterpart_id,
            description=description,
            reference=state.carried(reference),
        ),
    )
