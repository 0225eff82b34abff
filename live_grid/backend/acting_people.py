"""Actions towards people: words, invitations, friendship, and sending somebody away.

Owns one function for each; see `live_grid.backend.acting`.
"""

from __future__ import annotations

from typing import Final, TypeVar

from gridagent import actions as asked
from gridagent.events import Delivered, FriendChanged, OfferClosed
from gridagent.ids import AvatarId
from gridagent.limits import Label
from live_grid.backend.pending import Journey
from live_grid.backend.stage import Stage
from live_grid.backend.views import raw, text_id
from live_grid.handover.tables import TravelInput
from live_grid.requests import Request, answering, building, speaking, travelling
from live_grid.requests.speaking import Volume
from live_grid.world.offers import Friendship, Lure
from live_grid.world.text import clean

__all__ = (
    "answer_friendship",
    "answer_teleport_offer",
    "eject",
    "emote",
    "end_friendship",
    "find_offer",
    "offer_friendship",
    "offer_teleport",
    "request_teleport",
    "say",
    "send_im",
    "set_typing",
)

OfferT = TypeVar("OfferT")
_VOLUMES: Final = {
    asked.Volume.WHISPER: Volume.WHISPER,
    asked.Volume.SAY: Volume.SAY,
    asked.Volume.SHOUT: Volume.SHOUT,
}
_CALLING_CARDS: Final = 2


def find_offer(stage: Stage, offer_id: str, kind: type[OfferT]) -> OfferT | Label:
    """Find an open offer of a kind, or say why not."""
    offer = stage.world.offers.get(offer_id)
    if offer is None:
        return "unknown_offer"
    return offer if isinstance(offer, kind) else "wrong_kind"


def _acknowledged(stage: Stage, request: Request, reference: Label) -> None:
    """Send what nothing but its acknowledgement confirms."""
    stage.pending.deliver(stage.send(request), Delivered(reference=reference))


def _speak(stage: Stage, text: str, volume: Volume, channel: int, reference: Label) -> None:
    request = speaking.say(stage.me, text, volume, channel)
    if channel:
        _acknowledged(stage, request, reference)
        return
    stage.send(request)
    stage.pending.speech.append((clean(text), reference))


def say(stage: Stage, action: asked.Say, reference: Label) -> Label | None:
    """Speak in public."""
    _speak(stage, action.text, _VOLUMES[action.volume], action.chat_channel, reference)
    return None


def emote(stage: Stage, action: asked.Emote, reference: Label) -> Label | None:
    """Describe what we do."""
    _speak(stage, f"/me {action.text}", Volume.SAY, 0, reference)
    return None


def set_typing(stage: Stage, action: asked.SetTyping, reference: Label) -> Label | None:
    """Show or hide that we type."""
    _acknowledged(stage, speaking.show_typing(stage.me, typing=action.typing), reference)
    stage.session.body.show_typing(typing=action.typing, now=stage.now())
    return None


def send_im(stage: Stage, action: asked.SendIm, reference: Label) -> Label | None:
    """Send words to one avatar."""
    _acknowledged(stage, speaking.send_im(stage.me, raw(action.to), action.text), reference)
    return None


def offer_teleport(stage: Stage, action: asked.OfferTeleport, reference: Label) -> Label | None:
    """Invite somebody here."""
    _acknowledged(stage, travelling.invite(stage.me, raw(action.to), action.message), reference)
    return None


def request_teleport(stage: Stage, action: asked.RequestTeleport, reference: Label) -> Label | None:
    """Ask somebody for an invitation."""
    _acknowledged(stage, travelling.ask_to_come(stage.me, raw(action.to), action.message), reference)
    return None


def answer_teleport_offer(stage: Stage, action: asked.AnswerTeleportOffer, reference: Label) -> Label | None:
    """Go where somebody invited us, or stay."""
    offer = find_offer(stage, action.offer_id, Lure)
    if isinstance(offer, str):
        return offer
    if action.accept:
        if not stage.session.travel.allows(TravelInput.ASK):
            return "in_transit"
        stage.send(travelling.accept_lure(stage.me, offer.lure_id))
        stage.pending.journey = Journey(reference=reference, offer_id=action.offer_id)
    else:
        token = stage.send(travelling.decline_lure(stage.me, offer.source_id, offer.lure_id))
        closed = OfferClosed(offer_id=action.offer_id, accepted=False, answer="declined")
        stage.pending.deliver(token, closed)
    stage.world.offers.take(action.offer_id)
    return None


def offer_friendship(stage: Stage, action: asked.OfferFriendship, reference: Label) -> Label | None:
    """Ask somebody to be a friend."""
    if raw(action.to) in stage.world.friends:
        return "already_friends"
    request = answering.offer_friendship(stage.me, raw(action.to), action.message, stage.new_id())
    _acknowledged(stage, request, reference)
    return None


def answer_friendship(stage: Stage, action: asked.AnswerFriendship, _: Label) -> Label | None:
    """Accept or decline a friendship."""
    offer = find_offer(stage, action.offer_id, Friendship)
    if isinstance(offer, str):
        return offer
    folder = stage.world.inventory.folder_for(_CALLING_CARDS)
    token = stage.send(answering.answer_friendship(stage.me, offer.transaction_id, folder, accept=action.accept))
    answer = "accepted" if action.accept else "declined"
    closed = OfferClosed(offer_id=action.offer_id, accepted=action.accept, answer=answer)
    if action.accept:
        # Grids tell the one who offered; to us the new friend is told only when it comes online.
        stage.world.friends.setdefault(offer.source_id, True)
        friend = FriendChanged(avatar_id=AvatarId(text_id(offer.source_id)), friend=True, online=True)
        stage.pending.deliver(token, closed, friend)
    else:
        stage.pending.deliver(token, closed)
    stage.world.offers.take(action.offer_id)
    return None


def end_friendship(stage: Stage, action: asked.EndFriendship, _: Label) -> Label | None:
    """End a friendship."""
    if raw(action.avatar_id) not in stage.world.friends:
        return "not_friends"
    stage.send(answering.end_friendship(stage.me, raw(action.avatar_id)))
    return None


def eject(stage: Stage, action: asked.EjectAvatar, _: Label) -> Label | None:
    """Send somebody off the land we manage."""
    if raw(action.avatar_id) not in stage.world.here.avatars:
        return "not_here"
    stage.send(building.eject(stage.me, raw(action.avatar_id)))
    return None
