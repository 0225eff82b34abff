"""Actions towards people; most of them are also performed against a server in the tests of the backend."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Volume
from gridagent.events import Delivered, FriendChanged, OfferClosed
from live_grid.messages.people import AcceptFriendship, DeclineFriendship, TerminateFriendship
from live_grid.messages.speech import ChatFromViewer, ImprovedInstantMessage
from live_grid.messages.travel import StartLure, TeleportLureRequest
from live_grid.world.offers import Friendship, Lure
from tests.live_grid.backend.hands import BEN, ITEM, Hands, text


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def offer(hands: Hands, kind: type) -> str:
    """Let Ben offer something."""
    base = {"offer_id": "o-1", "source_id": BEN, "name": "Ben", "message": ""}
    hands.world.offers.put(
        Friendship(**base, transaction_id=ITEM) if kind is Friendship else Lure(**base, lure_id=ITEM)
    )
    return "o-1"


def test_words_are_remembered_as_they_will_come_back(hands: Hands) -> None:
    """Cleaned as everything that is heard; on another channel the acknowledgement is all. Spec: EFX-1."""
    hands.perform(asked.Say(text="a\u202eb", volume=Volume.SHOUT), "r1")
    hands.perform(asked.Emote(text="waves"), "r2")
    assert list(hands.pending.speech) == [("ab", "r1"), ("/me waves", "r2")]
    hands.perform(asked.Say(text="psst", chat_channel=-3), "r3")
    shout, _, secret = hands.sent()
    assert isinstance(shout, ChatFromViewer)
    assert isinstance(secret, ChatFromViewer)
    assert (shout.chat_data.type, secret.chat_data.channel) == (2, -3)
    assert Delivered(reference="r3") in hands.told()


def test_what_only_an_ack_confirms_is_told_with_it(hands: Hands) -> None:
    """Typing, messages, invitations, friendship. Spec: LIV-6."""
    for number, action in enumerate(
        (
            asked.SetTyping(typing=True),
            asked.SendIm(to=text(BEN), text="hi"),
            asked.OfferTeleport(to=text(BEN)),
            asked.RequestTeleport(to=text(BEN)),
            asked.OfferFriendship(to=text(BEN)),
        )
    ):
        assert hands.perform(action, f"r{number}") == []
    kinds = [type(message) for message in hands.sent()]
    assert kinds == [ChatFromViewer, ImprovedInstantMessage, StartLure, ImprovedInstantMessage, ImprovedInstantMessage]
    assert hands.session.body.typing
    assert [event for event in hands.told() if isinstance(event, Delivered)] == [
        Delivered(reference=f"r{number}") for number in range(5)
    ]


def test_friendships_are_answered_and_ended(hands: Hands) -> None:
    """What is not so is refused unsent. Spec: LIV-6."""
    assert hands.perform(asked.EndFriendship(avatar_id=text(BEN))) == "not_friends"
    assert hands.perform(asked.AnswerFriendship(offer_id="o-1", accept=True)) == "unknown_offer"
    hands.perform(asked.AnswerFriendship(offer_id=offer(hands, Friendship), accept=False))
    assert [type(message) for message in hands.sent()] == [DeclineFriendship]
    assert OfferClosed(offer_id="o-1", accepted=False, answer="declined") in hands.told()
    hands.perform(asked.AnswerFriendship(offer_id=offer(hands, Friendship), accept=True))
    assert [type(message) for message in hands.sent()] == [AcceptFriendship]
    assert FriendChanged(avatar_id=text(BEN), friend=True, online=True) in hands.told()
    assert hands.perform(asked.OfferFriendship(to=text(BEN))) == "already_friends"
    hands.perform(asked.EndFriendship(avatar_id=text(BEN)))
    assert [type(message) for message in hands.sent()] == [TerminateFriendship]


def test_invitations_are_taken_and_declined(hands: Hands) -> None:
    """One journey at a time; an invitation that is refused unsent stays open. Spec: LIV-7."""
    hands.perform(asked.AnswerTeleportOffer(offer_id=offer(hands, Lure), accept=False))
    assert OfferClosed(offer_id="o-1", accepted=False, answer="declined") in (hands.sent(), hands.told())[1]
    hands.perform(asked.AnswerTeleportOffer(offer_id=offer(hands, Lure), accept=True))
    assert [type(message) for message in hands.sent()] == [TeleportLureRequest]
    assert hands.perform(asked.AnswerTeleportOffer(offer_id=offer(hands, Lure), accept=True)) == "in_transit"
    assert hands.world.offers.get("o-1") is not None
    assert hands.perform(asked.AnswerFriendship(offer_id="o-1", accept=True)) == "wrong_kind"
    assert hands.perform(asked.AnswerTeleportOffer(offer_id="o-99", accept=True)) == "unknown_offer"


def test_only_who_is_here_can_be_sent_away(hands: Hands) -> None:
    """That they are gone is the proof. Spec: EFX-1."""
    assert hands.perform(asked.EjectAvatar(avatar_id=text(BEN))) == "not_here"
    hands.avatar()
    assert hands.perform(asked.EjectAvatar(avatar_id=text(BEN))) == []
    assert [type(message).__name__ for message in hands.sent()] == ["EjectUser"]
