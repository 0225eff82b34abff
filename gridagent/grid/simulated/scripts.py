"""Objects that ask and answer: touch, dialogs, permissions, and what a script may do.

Owns the verbs between an avatar and a script. A script speaks, shows dialogs, asks for permissions and
offers items; it never moves an avatar nor touches money. Invariant: a dialog takes only a button it
showed and a permission request only what it asked for; each is answered once.
"""

from __future__ import annotations

from gridagent.actions import AnswerDialog, AnswerPermission, Touch
from gridagent.events import OfferClosed, UrlShown
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.characters import (
    AskPermission,
    DialogAnswered,
    ObjectAction,
    ObjectEvent,
    ObjectIm,
    ObjectSay,
    ObjectTouched,
    OfferItem,
    OpenDialog,
    PermissionAnswered,
    ShowUrl,
)
from gridagent.grid.simulated.messages import message
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.offers import DialogOffer, Offer, PermissionOffer
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.speech import object_say
from gridagent.grid.simulated.state import State
from gridagent.ids import ObjectId
from gridagent.limits import Label

__all__ = ("act", "answer_dialog", "answer_permission", "tell_script", "touch")


def touch(state: State, avatar: Avatar, body: Body, action: Touch, reference: Label) -> None:
    """Touch an object of this region."""
    thing = state.object_here(body, action.object_id)
    if thing is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OBJECT)
    elif not thing.thing.touchable:
        state.refuse(avatar, reference, Refusal.NOT_TOUCHABLE)
    else:
        state.deliver(avatar, reference)
        tell_script(state, thing.object_id, ObjectTouched(avatar_id=avatar.avatar_id, name=avatar.name))


def answer_dialog(state: State, avatar: Avatar, body: Body, action: AnswerDialog, reference: Label) -> None:
    """Press one button of an open dialog."""
    del body
    offer = state.offers.find(avatar.avatar_id, action.offer_id)
    if offer is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OFFER)
    elif not isinstance(offer, DialogOffer):
        state.refuse(avatar, reference, Refusal.WRONG_KIND)
    elif action.button not in offer.buttons:
        state.refuse(avatar, reference, Refusal.NO_SUCH_BUTTON)
    else:
        state.offers.close(offer)
        state.tell(avatar, OfferClosed(offer_id=offer.offer_id, accepted=True, answer=action.button))
        pressed = DialogAnswered(
            avatar_id=avatar.avatar_id, name=avatar.name, offer_id=offer.offer_id, button=action.button
        )
        tell_script(state, offer.object_id, pressed)


def answer_permission(state: State, avatar: Avatar, body: Body, action: AnswerPermission, reference: Label) -> None:
    """Grant some of the permissions asked for, or none."""
    del body
    offer = state.offers.find(avatar.avatar_id, action.offer_id)
    if offer is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OFFER)
    elif not isinstance(offer, PermissionOffer):
        state.refuse(avatar, reference, Refusal.WRONG_KIND)
    elif any(permission not in offer.permissions for permission in action.grant):
        state.refuse(avatar, reference, Refusal.NOT_ASKED)
    else:
        state.offers.close(offer)
        granted = bool(action.grant)
        state.tell(
            avatar,
            OfferClosed(offer_id=offer.offer_id, accepted=granted, answer="granted" if granted else "denied"),
        )
        answered = PermissionAnswered(
            avatar_id=avatar.avatar_id, name=avatar.name, offer_id=offer.offer_id, granted=action.grant
        )
        tell_script(state, offer.object_id, answered)


def tell_script(state: State, object_id: ObjectId, event: ObjectEvent) -> None:
    """Let an object's script know, if it still has one."""
    thing = state.objects.get(object_id)
    if thing is not None and thing.script is not None:
        thing.script(event)


def act(state: State, thing: GridObject, action: ObjectAction) -> bool:
    """Carry out what a script asks for; tell whether it was possible."""
    if isinstance(action, ObjectSay):
        object_say(state, thing, action.text, action.volume, action.chat_channel)
        return True
    receiver = state.avatars.get(action.to)
    if receiver is None:
        return False
    if isinstance(action, ObjectIm):
        return message(state, receiver, thing.speaker(), action.text)
    here = receiver.body is not None and receiver.body.region is thing.region
    return here and _show(state, thing, receiver, action)


def _show(
    state: State, thing: GridObject, receiver: Avatar, action: ShowUrl | OpenDialog | AskPermission | OfferItem
) -> bool:
    """Put something before an avatar of the same region; an open offer needs room for it."""
    if isinstance(action, ShowUrl):
        state.tell(receiver, UrlShown(object_id=thing.object_id, object_name=thing.thing.name, url=action.url))
        return True
    if not state.offers.room_for(receiver.avatar_id):
        return False
    state.tell(receiver, _open(state, thing, receiver, action).shown)
    return True


def _open(state: State, thing: GridObject, receiver: Avatar, action: OpenDialog | AskPermission | OfferItem) -> Offer:
    source, to = thing.speaker(), receiver.avatar_id
    if isinstance(action, OpenDialog):
        return state.offers.dialog(to, thing.object_id, source, action.text, action.buttons)
    if isinstance(action, AskPermission):
        return state.offers.permission(to, thing.object_id, source, action.permissions)
    return state.offers.object_gift(to, thing.object_id, source, action.name, action.kind)
