"""Actions towards objects: touching, answering scripts, building and taking away.

Owns one function for each; see `live_grid.backend.acting`. A script is never granted our money, whatever was
authorised: there would be no limit to it (Spec: LIV-6).
"""

from __future__ import annotations

from typing import Final

from gridagent import actions as asked
from gridagent.events import Delivered, OfferClosed
from gridagent.limits import Label
from live_grid.backend.acting_people import find_offer
from live_grid.backend.pending import Built
from live_grid.backend.stage import Stage
from live_grid.backend.views import OURS, label, raw
from live_grid.messages import Message, wire_text
from live_grid.requests import Confirmation, Request, answering, building, moving
from live_grid.requests.building import Destination
from live_grid.world import Thing
from live_grid.world.inventory import TRASH
from live_grid.world.offers import Dialog, Permissions, permission_bits

__all__ = ("answer_dialog", "answer_permission", "delete", "edit", "give_back", "rez", "touch")

_OBJECT: Final = 6
_DEBIT: Final = "debit"


def touch(stage: Stage, action: asked.Touch, reference: Label) -> Label | None:
    """Touch an object."""
    thing = stage.thing(action.object_id)
    if thing is None:
        return "unknown_object"
    stage.pending.deliver(stage.send(moving.touch(stage.me, thing.local_id)), Delivered(reference=reference))
    return None


def answer_dialog(stage: Stage, action: asked.AnswerDialog, _: Label) -> Label | None:
    """Press a button, or give the text that is asked for."""
    offer = find_offer(stage, action.offer_id, Dialog)
    if isinstance(offer, str):
        return offer
    shown = [label(button) for button in offer.buttons]
    if offer.wants_text:
        index, answer = 0, wire_text(action.button)
    elif action.button in shown:
        index = shown.index(action.button)
        answer = offer.labels[index]
    else:
        return "no_such_button"
    token = stage.send(answering.answer_dialog(stage.me, offer.source_id, offer.channel, index, answer))
    closed = OfferClosed(offer_id=action.offer_id, accepted=True, answer=action.button)
    stage.pending.deliver(token, closed)
    stage.world.offers.take(action.offer_id)
    return None


def answer_permission(stage: Stage, action: asked.AnswerPermission, _: Label) -> Label | None:
    """Grant a script what it asked for, or some of it, or nothing."""
    offer = find_offer(stage, action.offer_id, Permissions)
    if isinstance(offer, str):
        return offer
    bits = permission_bits(action.grant)
    if _DEBIT in action.grant:
        return "never_granted"
    if bits & ~offer.bits or (action.grant and not bits):
        return "not_asked"
    token = stage.send(answering.answer_permissions(stage.me, offer.source_id, offer.item_id, bits))
    closed = OfferClosed(
        offer_id=action.offer_id, accepted=bool(action.grant), answer="granted" if action.grant else "declined"
    )
    stage.pending.deliver(token, closed)
    stage.world.offers.take(action.offer_id)
    return None


def rez(stage: Stage, action: asked.RezObject, reference: Label) -> Label | None:
    """Put a box, or an object of ours, into the region."""
    place = (action.position.x, action.position.y, action.position.z)
    if not stage.inside(place):
        return "outside_region"
    if action.item_id is None:
        stage.send(building.add_box(stage.me, place))
        stage.pending.built.append(Built(reference=reference, position=place, name=action.name))
        return None
    item = stage.world.inventory.items.get(raw(action.item_id))
    if item is None:
        return "unknown_item"
    if item.kind != _OBJECT:
        return "not_an_object"
    stage.send(building.rez_item(stage.me, item.item_id, item.folder_id, item.name, place))
    stage.pending.built.append(Built(reference=reference, position=place, name=""))
    return None


def _ours(stage: Stage, object_id: str) -> Thing | Label:
    """Find an object of our own, or say why not."""
    thing = stage.thing(object_id)
    if thing is None:
        return "unknown_object"
    owned = thing.flags & OURS or (thing.details is not None and thing.details.owner_id == stage.me.agent_id)
    return thing if owned else "not_owner"


def edit(stage: Stage, action: asked.EditObject, _: Label) -> Label | None:
    """Rename, describe or move an object of ours, and ask what it has become."""
    thing = _ours(stage, action.object_id)
    if isinstance(thing, str):
        return thing
    messages: list[Message] = []
    if action.name is not None:
        messages += building.rename_object(stage.me, thing.local_id, action.name).messages
    if action.description is not None:
        messages += building.describe_object(stage.me, thing.local_id, action.description).messages
    if action.position is not None:
        place = (action.position.x, action.position.y, action.position.z)
        if not stage.inside(place):
            return "outside_region"
        messages += building.move_object(stage.me, thing.local_id, place).messages
    stage.send(Request(tuple(messages), Confirmation.OBJECT))
    stage.world.here.want(thing.object_id)
    return None


def delete(stage: Stage, action: asked.DeleteObject, _: Label) -> Label | None:
    """Put an object of ours into the trash."""
    thing = _ours(stage, action.object_id)
    if isinstance(thing, str):
        return thing
    trash = stage.world.inventory.folder_for(TRASH)
    stage.send(
        building.remove_object(stage.me, thing.local_id, Destination.TRASH, folder_id=trash, number=stage.new_id())
    )
    return None


def give_back(stage: Stage, action: asked.ReturnObject, _: Label) -> Label | None:
    """Return somebody's object from land we manage."""
    thing = stage.thing(action.object_id)
    if thing is None:
        return "unknown_object"
    stage.send(building.remove_object(stage.me, thing.local_id, Destination.RETURN_TO_OWNER, number=stage.new_id()))
    return None
