"""Friends and invitations.

Owns friendship, both ways at once, and lures: an invitation names the place where its sender stood.
Accepting a lure is a teleport and lives there. Invariant: friendship is mutual.
"""

from __future__ import annotations

from gridagent.actions import AnswerFriendship, EndFriendship, OfferFriendship, OfferTeleport, RequestTeleport
from gridagent.events import FriendChanged, OfferClosed, TeleportAsked
from gridagent.grid.simulated.avatars import Avatar, Body, Place
from gridagent.grid.simulated.offers import Friendship
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.state import State
from gridagent.ids import AvatarId
from gridagent.limits import Label

__all__ = (
    "answer_friendship",
    "befriend",
    "end_friendship",
    "offer_friendship",
    "offer_teleport",
    "request_teleport",
    "tell_friends",
)


def _receiver(state: State, avatar: Avatar, to: AvatarId, reference: Label) -> Avatar | None:
    """Find the other avatar, or refuse and return None."""
    receiver = state.avatars.get(to)
    if receiver is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_AVATAR)
        return None
    if receiver is avatar:
        state.refuse(avatar, reference, Refusal.NOT_YOURSELF)
        return None
    return receiver


def offer_friendship(state: State, avatar: Avatar, body: Body, action: OfferFriendship, reference: Label) -> None:
    """Ask somebody, who may be away, to be a friend."""
    del body
    receiver = _receiver(state, avatar, action.to, reference)
    if receiver is None:
        return
    if receiver.avatar_id in avatar.friends:
        state.refuse(avatar, reference, Refusal.ALREADY_FRIENDS)
    elif not state.offers.room_for(receiver.avatar_id):
        state.refuse(avatar, reference, Refusal.OFFERS_FULL)
    else:
        offer = state.offers.friendship(receiver.avatar_id, avatar.avatar_id, avatar.speaker(), action.message)
        state.deliver(avatar, reference)
        state.tell(receiver, offer.shown)


def answer_friendship(state: State, avatar: Avatar, body: Body, action: AnswerFriendship, reference: Label) -> None:
    """Accept or decline a friendship."""
    del body
    offer = state.offers.find(avatar.avatar_id, action.offer_id)
    if offer is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OFFER)
    elif not isinstance(offer, Friendship):
        state.refuse(avatar, reference, Refusal.WRONG_KIND)
    else:
        state.offers.close(offer)
        answer = "accepted" if action.accept else "declined"
        state.tell(avatar, OfferClosed(offer_id=offer.offer_id, accepted=action.accept, answer=answer))
        if action.accept:
            befriend(state, avatar, state.avatars[offer.sender])


def befriend(state: State, one: Avatar, other: Avatar) -> None:
    """Make two avatars friends."""
    one.friends[other.avatar_id] = None
    other.friends[one.avatar_id] = None
    state.tell(one, FriendChanged(avatar_id=other.avatar_id, friend=True, online=other.online))
    state.tell(other, FriendChanged(avatar_id=one.avatar_id, friend=True, online=one.online))


def end_friendship(state: State, avatar: Avatar, body: Body, action: EndFriendship, reference: Label) -> None:
    """Take somebody off the friends list; they lose a friend too."""
    del body
    if action.avatar_id not in avatar.friends:
        state.refuse(avatar, reference, Refusal.NOT_FRIENDS)
        return
    other = state.avatars[action.avatar_id]
    del avatar.friends[other.avatar_id]
    del other.friends[avatar.avatar_id]
    state.tell(avatar, FriendChanged(avatar_id=other.avatar_id, friend=False))
    state.tell(other, FriendChanged(avatar_id=avatar.avatar_id, friend=False))


def tell_friends(state: State, avatar: Avatar) -> None:
    """Let friends know that an avatar came or went."""
    for friend_id in avatar.friends:
        state.tell(
            state.avatars[friend_id],
            FriendChanged(avatar_id=avatar.avatar_id, friend=True, online=avatar.online),
        )


def offer_teleport(state: State, avatar: Avatar, body: Body, action: OfferTeleport, reference: Label) -> None:
    """Invite somebody to where the avatar is."""
    receiver = _receiver(state, avatar, action.to, reference)
    if receiver is None:
        return
    if not state.offers.room_for(receiver.avatar_id):
        state.refuse(avatar, reference, Refusal.OFFERS_FULL)
        return
    place = Place(region=body.region.name, position=body.position_at(state.now))
    offer = state.offers.lure(receiver.avatar_id, avatar.avatar_id, avatar.speaker(), action.message, place)
    state.deliver(avatar, reference)
    state.tell(receiver, offer.shown)


def request_teleport(state: State, avatar: Avatar, body: Body, action: RequestTeleport, reference: Label) -> None:
    """Ask somebody for an invitation; nothing is kept for those who are away."""
    del body
    receiver = _receiver(state, avatar, action.to, reference)
    if receiver is None:
        return
    if not receiver.online:
        state.refuse(avatar, reference, Refusal.NOT_ONLINE)
        return
    state.deliver(avatar, reference)
    state.tell(receiver, TeleportAsked(source=avatar.speaker(), message=action.message))
