"""Carrying, giving, taking and making inventory items.

Owns the verbs of the inventory. A gift is an offer: it changes nothing until the receiver takes it, then
a copyable item is copied and another one moves. Invariant: what may not be copied is given to one
receiver at most.
"""

from __future__ import annotations

from gridagent.actions import AnswerInventoryOffer, CreateLandmark, CreateNotecard, GiveItem, UploadAsset
from gridagent.events import GiftAnswered, OfferClosed
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.belongings import drop_item, has_room, put_item
from gridagent.grid.simulated.characters import OfferAnswered
from gridagent.grid.simulated.money import charge
from gridagent.grid.simulated.offers import Gift, ObjectGift
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.scripts import tell_script
from gridagent.grid.simulated.state import State
from gridagent.limits import Label

__all__ = (
    "answer_inventory_offer",
    "create_landmark",
    "create_notecard",
    "give_item",
    "upload_asset",
)


def give_item(state: State, avatar: Avatar, body: Body, action: GiveItem, reference: Label) -> None:
    """Offer an item to somebody; the evidence is their answer."""
    del body
    item = avatar.inventory.get(action.item_id)
    receiver = state.avatars.get(action.to)
    if item is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_ITEM)
    elif not item.may_transfer:
        state.refuse(avatar, reference, Refusal.NO_TRANSFER)
    elif receiver is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_AVATAR)
    elif receiver is avatar:
        state.refuse(avatar, reference, Refusal.NOT_YOURSELF)
    elif not state.offers.room_for(receiver.avatar_id):
        state.refuse(avatar, reference, Refusal.OFFERS_FULL)
    else:
        offer = state.offers.gift(
            receiver.avatar_id, avatar.avatar_id, avatar.speaker(), item.item_id, item.name, item.kind, reference
        )
        state.tell(receiver, offer.shown)


def answer_inventory_offer(
    state: State, avatar: Avatar, body: Body, action: AnswerInventoryOffer, reference: Label
) -> None:
    """Take or leave an offered item."""
    del body
    offer = state.offers.find(avatar.avatar_id, action.offer_id)
    if offer is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OFFER)
    elif not isinstance(offer, Gift | ObjectGift):
        state.refuse(avatar, reference, Refusal.WRONG_KIND)
    elif action.accept and not has_room(avatar):
        state.refuse(avatar, reference, Refusal.INVENTORY_FULL)
    elif isinstance(offer, Gift):
        _answer_gift(state, avatar, offer, reference, accept=action.accept)
    else:
        state.offers.close(offer)
        if action.accept:
            put_item(state, avatar, name=offer.name, kind=offer.kind)
        _tell_closed(state, avatar, offer, accept=action.accept)
        answered = OfferAnswered(
            avatar_id=avatar.avatar_id, name=avatar.name, offer_id=offer.offer_id, accepted=action.accept
        )
        tell_script(state, offer.object_id, answered)


def _answer_gift(state: State, avatar: Avatar, offer: Gift, reference: Label, *, accept: bool) -> None:
    giver = state.avatars[offer.sender]
    item = giver.inventory.get(offer.item_id)
    if accept and item is None:
        state.withdraw(offer)
        state.refuse(avatar, reference, Refusal.OFFER_GONE)
        return
    state.offers.close(offer)
    if accept and item is not None:
        moved = None if item.may_copy else item.item_id
        if moved is not None:
            drop_item(state, giver, item)
        put_item(
            state,
            avatar,
            name=item.name,
            kind=item.kind,
            text=item.text,
            may_copy=item.may_copy,
            may_transfer=item.may_transfer,
            item_id=moved,
        )
    _tell_closed(state, avatar, offer, accept=accept)
    answered = GiftAnswered(
        item_id=offer.item_id, to=avatar.avatar_id, accepted=accept, reference=state.carried(offer.reference)
    )
    state.tell(giver, answered)


def _tell_closed(state: State, avatar: Avatar, offer: Gift | ObjectGift, *, accept: bool) -> None:
    state.tell(
        avatar,
        OfferClosed(offer_id=offer.offer_id, accepted=accept, answer="accepted" if accept else "declined"),
    )


def create_notecard(state: State, avatar: Avatar, body: Body, action: CreateNotecard, reference: Label) -> None:
    """Write a notecard."""
    del body
    _create(state, avatar, action.name, "notecard", action.text, reference)


def create_landmark(state: State, avatar: Avatar, body: Body, action: CreateLandmark, reference: Label) -> None:
    """Remember where the avatar is."""
    here = body.position_at(state.now)
    text = f"{body.region.name} {here.x:.1f} {here.y:.1f} {here.z:.1f}"
    _create(state, avatar, action.name, "landmark", text, reference)


def upload_asset(state: State, avatar: Avatar, body: Body, action: UploadAsset, reference: Label) -> None:
    """Upload a prepared file, for the price the operator agreed to."""
    del body
    if not has_room(avatar):
        state.refuse(avatar, reference, Refusal.INVENTORY_FULL)
    elif not charge(state, avatar, action.price, "upload", reference):
        state.refuse(avatar, reference, Refusal.INSUFFICIENT_FUNDS)
    else:
        _create(state, avatar, action.name, action.kind, action.sha256, reference)


def _create(state: State, avatar: Avatar, name: str, kind: str, text: str, reference: Label) -> None:
    if has_room(avatar):
        put_item(state, avatar, name=name, kind=kind, text=text, reference=reference)
    else:
        state.refuse(avatar, reference, Refusal.INVENTORY_FULL)
