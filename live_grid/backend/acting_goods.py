"""Actions with what we hold: gifts, new items, money.

Owns one function for each; see `live_grid.backend.acting`. A payment carries the first characters of its effect key in
its description, so that the balance that proves it can be told from every other one (Spec: EFX-5).
"""

from __future__ import annotations

from typing import Final

from gridagent import actions as asked
from gridagent.events import OfferClosed
from gridagent.limits import Label, clip_bytes
from live_grid.backend.acting_people import find_offer
from live_grid.backend.pending import Making, Payment
from live_grid.backend.stage import Stage
from live_grid.backend.views import raw
from live_grid.errors import LimitReached, LocalProtocolError
from live_grid.messages import NIL
from live_grid.requests import Request, answering, holding
from live_grid.requests.holding import LANDMARK, NOTECARD
from live_grid.requests.request import NAME_MAX_BYTES
from live_grid.world.offers import Gift

__all__ = (
    "answer_inventory_offer",
    "create_landmark",
    "create_notecard",
    "give",
    "pay_avatar",
    "pay_object",
    "upload",
)

_MAY_TRANSFER: Final = 0x2000


def give(stage: Stage, action: asked.GiveItem, reference: Label) -> Label | None:
    """Give an item to somebody."""
    item = stage.world.inventory.items.get(raw(action.item_id))
    if item is None:
        return "unknown_item"
    if item.owner_mask and not item.owner_mask & _MAY_TRANSFER:
        return "no_transfer"
    number = stage.new_id()
    stage.send(
        holding.give_item(
            stage.me,
            raw(action.to),
            item_id=item.item_id,
            asset_type=item.kind,
            name=clip_bytes(item.name, NAME_MAX_BYTES),
            number=number,
        )
    )
    stage.pending.give(number, action.item_id, action.to, reference)
    return None


def answer_inventory_offer(stage: Stage, action: asked.AnswerInventoryOffer, _: Label) -> Label | None:
    """Take or decline a gift."""
    offer = find_offer(stage, action.offer_id, Gift)
    if isinstance(offer, str):
        return offer
    folder = stage.world.inventory.folder_for(offer.asset_type)
    token = stage.send(
        answering.answer_gift(
            stage.me,
            offer.source_id,
            offer.transaction_id,
            folder,
            accept=action.accept,
            from_object=offer.from_object,
        )
    )
    answer = "accepted" if action.accept else "declined"
    closed = OfferClosed(offer_id=action.offer_id, accepted=action.accept, answer=answer)
    stage.pending.deliver(token, closed)
    stage.world.offers.take(action.offer_id)
    return None


def _create(stage: Stage, kind: int, name: str, reference: Label, text: str | None) -> Label | None:
    folder = stage.world.inventory.folder_for(kind)
    if folder == NIL:
        return "no_inventory"
    callback = stage.pending.make(Making(reference=reference, text=text))
    try:
        stage.send(holding.create_item(stage.me, folder, kind=kind, name=name, description="", callback=callback))
    except (LimitReached, LocalProtocolError):
        del stage.pending.making[callback]
        raise
    return None


def create_notecard(stage: Stage, action: asked.CreateNotecard, reference: Label) -> Label | None:
    """Make an empty notecard; it is written when it is there."""
    if stage.session.capability("UpdateNotecardAgentInventory") is None:
        return "not_offered"
    return _create(stage, NOTECARD, action.name, reference, action.text)


def create_landmark(stage: Stage, action: asked.CreateLandmark, reference: Label) -> Label | None:
    """Remember this place."""
    return _create(stage, LANDMARK, action.name, reference, None)


def _pay(stage: Stage, request: Request, to: str, amount: int, reference: Label) -> Label | None:
    if stage.pending.payment is not None:
        return "payment_in_flight"
    balance = stage.world.balance
    if balance is not None and balance < amount:
        return "insufficient_funds"
    stage.send(request)
    stage.pending.payment = Payment(reference=reference, counterpart_id=raw(to), amount=amount, balance=balance)
    return None


def _described(description: str, reference: Label) -> str:
    mark = f" #{reference}"
    return (clip_bytes(description, NAME_MAX_BYTES - len(mark)) + mark).strip()


def pay_avatar(stage: Stage, action: asked.PayAvatar, reference: Label) -> Label | None:
    """Pay somebody."""
    described = _described(action.description, reference)
    request = holding.pay_avatar(stage.me, raw(action.to), action.amount, described)
    return _pay(stage, request, action.to, action.amount, reference)


def pay_object(stage: Stage, action: asked.PayObject, reference: Label) -> Label | None:
    """Pay an object."""
    request = holding.pay_object(stage.me, raw(action.object_id), action.amount, _described("", reference))
    return _pay(stage, request, action.object_id, action.amount, reference)


def upload(_: Stage, __: asked.UploadAsset, ___: Label) -> Label | None:
    """Refuse: nothing is uploaded over this connection."""
    return "no_upload"
