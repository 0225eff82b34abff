"""Friends and invitations."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, Refused
from gridagent.events import FriendChanged, FriendshipOffered, TeleportAsked, TeleportOffered
from gridagent.grid.simulated import World
from gridagent.grid.simulated.offers import OFFERS_MAX
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId

NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")


def befriend(ada: Witness, ben: Witness, *, accept: bool) -> None:
    """Let Ada ask and Ben answer."""
    ada.do(asked.OfferFriendship(to=ben.avatar_id, message="shall we?"))
    offer = ben.saw(FriendshipOffered)[-1]
    assert isinstance(ben.do(asked.AnswerFriendship(offer_id=offer.offer_id, accept=accept)), Confirmed)


def test_friendship_is_mutual_and_ends_for_both(world: World, ada: Witness, ben: Witness) -> None:
    """Accepting makes both friends, ending leaves neither.

    Spec: SIM-1, EFX-1
    """
    befriend(ada, ben, accept=True)
    assert list(world.avatar(ada.avatar_id).friends) == [ben.avatar_id]
    assert list(world.avatar(ben.avatar_id).friends) == [ada.avatar_id]
    assert isinstance(ben.do(asked.EndFriendship(avatar_id=ada.avatar_id)), Confirmed)
    assert [(event.friend, event.online) for event in ada.saw(FriendChanged)] == [(True, True), (False, False)]
    assert world.avatar(ada.avatar_id).friends == world.avatar(ben.avatar_id).friends == {}


def test_a_declined_friendship_makes_no_friends(world: World, ada: Witness, ben: Witness) -> None:
    """The one who asked is told nothing, as on a grid."""
    befriend(ada, ben, accept=False)
    assert world.avatar(ada.avatar_id).friends == {}
    assert ada.saw(FriendChanged) == []


def test_friends_see_each_other_come_and_go(world: World, ada: Witness, ben: Witness) -> None:
    """Login tells the list with who is online; coming and going is told to friends only.

    Spec: SIM-1
    """
    cleo = world.avatars()[2]
    world.befriend(ada.avatar_id, cleo)
    came = Witness(world, cleo)
    assert came.saw(FriendChanged) == [FriendChanged(avatar_id=ada.avatar_id, friend=True, online=True)]
    came.leave()
    assert [event.online for event in ada.saw(FriendChanged)] == [False, True, False]
    assert ben.saw(FriendChanged) == []


@pytest.mark.parametrize("make", [asked.OfferFriendship, asked.OfferTeleport, asked.RequestTeleport])
def test_invitations_need_another_avatar(ada: Witness, make) -> None:
    """Oneself and nobody are refused.

    Spec: EFX-1
    """
    assert ada.do(make(to=ada.avatar_id)) == Refused(reason="not_yourself")
    assert ada.do(make(to=NOBODY)) == Refused(reason="unknown_avatar")


@pytest.mark.parametrize("make", [asked.OfferFriendship, asked.OfferTeleport])
def test_nobody_is_flooded_with_invitations(world: World, ada: Witness, ben: Witness, make) -> None:
    """One more than the limit is refused to its sender; the open ones stay.

    Spec: BND-1
    """
    for _ in range(OFFERS_MAX):
        world.perform(ada.avatar_id, make(to=ben.avatar_id), world.now, "flood")
    assert ada.do(make(to=ben.avatar_id)) == Refused(reason="offers_full")
    assert len(ben.saw(FriendshipOffered)) + len(ben.saw(TeleportOffered)) == OFFERS_MAX


def test_friends_are_not_made_twice_nor_strangers_parted(world: World, ada: Witness, ben: Witness) -> None:
    """Both have their codes; so do a missing offer and one of another kind."""
    world.befriend(ada.avatar_id, ben.avatar_id)
    ben.do(asked.OfferTeleport(to=ada.avatar_id))
    lure = ada.saw(TeleportOffered)[0].offer_id
    outcomes = [
        ada.do(asked.OfferFriendship(to=ben.avatar_id)),
        ada.do(asked.EndFriendship(avatar_id=world.avatars()[2])),
        ada.do(asked.AnswerFriendship(offer_id="none", accept=True)),
        ada.do(asked.AnswerFriendship(offer_id=lure, accept=True)),
    ]
    assert outcomes == [
        Refused(reason=reason) for reason in ("already_friends", "not_friends", "unknown_offer", "wrong_kind")
    ]


def test_an_invitation_is_asked_for_of_people_who_are_here(world: World, ada: Witness, dan: Witness) -> None:
    """Asking reaches somebody online anywhere, and is refused for somebody away."""
    assert isinstance(ada.do(asked.RequestTeleport(to=dan.avatar_id, message="may I?")), Confirmed)
    assert [(event.source.id, event.message) for event in dan.saw(TeleportAsked)] == [(ada.avatar_id, "may I?")]
    assert ada.do(asked.RequestTeleport(to=world.avatars()[2])) == Refused(reason="not_online")
