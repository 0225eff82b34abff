"""The owner asks for errands."""

from __future__ import annotations

import pytest

from gridagent.actions import AnswerFriendship, AnswerInventoryOffer, OfferTeleport, WalkTo
from gridagent.events import BalanceChanged, FriendshipOffered, InventoryOffered, Speaker, SpeakerKind
from gridagent.grid.simulated.inhabitants.owner import Errand, Owner, OwnerParams
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.ids import OfferId
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA,
    GRETA_SEEN,
    OLIVE,
    ROBIN,
    ROBIN_SEEN,
    heard,
    messaged,
    of_kind,
    said,
    stage,
)


def owner(**params: object) -> Owner:
    """Olive, who owns Robin."""
    defaults = {"agent": "Robin Resident", "every_s": 30.0, "im_share": 0.0, "praises": ("Well done, {name}.",)}
    return Owner(OwnerParams(**(defaults | params)), CAST)


def test_errands_are_asked_for_in_order_and_round_again() -> None:
    """Come, look, follow, stop, sit, stand, tip, wait: each by the agent's name. Spec: SIM-1."""
    character = owner(seat="Bench", payee="Greta Greeter", tip_linden=9)
    asked = rehearse(character, stage(ROBIN_SEEN, me=OLIVE, name="Olive Owner"), for_s=1_200)
    texts = said(asked)
    assert len(texts) > len(Errand) * 2
    assert all("Robin" in text for text in texts)
    marks = ("come", ("who", "see"), ("follow", "along"), "stop", "Bench", "stand up", "9 L$", ("back", "all for now"))
    for text, mark in zip(texts, marks, strict=False):
        assert any(word in text for word in ((mark,) if isinstance(mark, str) else mark))
    assert any("Greta 9 L$" in text for text in texts)
    assert texts[len(Errand)].lower().count("come") == 1


def test_errands_that_lack_their_object_are_left_out() -> None:
    """Without a seat and a payee nobody is asked to sit or tip; an owner with nothing left waits."""
    texts = said(rehearse(owner(), stage(ROBIN_SEEN, me=OLIVE), for_s=1_200))
    assert not any("{" in text or "L$" in text or "sit" in text for text in texts)
    idle = said(rehearse(owner(errands=(Errand.SIT,)), stage(ROBIN_SEEN, me=OLIVE), for_s=200))
    assert idle
    assert all("wait" in text or "all for now" in text for text in idle)


def test_errands_can_go_by_im() -> None:
    """With an IM share of 1 every errand is private. Spec: SIM-1."""
    asked = rehearse(owner(im_share=1.0), stage(ROBIN_SEEN, me=OLIVE), for_s=300)
    assert said(asked) == []
    assert {to for to, _ in messaged(asked)} == {ROBIN}


def test_the_owner_walks_ahead_while_it_is_followed() -> None:
    """Asking to follow is succeeded by walks near its home. Spec: SIM-1."""
    scene = stage(ROBIN_SEEN, me=OLIVE)
    character = owner(errands=(Errand.FOLLOW,), every_s=100.0, walk_radius_m=5.0)
    walks = of_kind(rehearse(character, scene, for_s=400), WalkTo)
    assert len(walks) >= 4
    assert all(abs(walk.position.x - 128) <= 5 for walk in walks)


def test_an_absent_agent_is_called_with_a_teleport_offer_now_and_then() -> None:
    """From another region the owner invites its agent, at most once in five minutes. Spec: SIM-1."""
    calls = of_kind(rehearse(owner(), stage(me=OLIVE), for_s=1_000), OfferTeleport)
    assert 2 <= len(calls) <= 4
    assert {call.to for call in calls} == {ROBIN}


def test_the_agent_is_praised_and_others_are_not_answered() -> None:
    """What the agent says to its owner is praised once in a while; a stranger's payment is thanked for."""
    events = [
        (10.0, heard("here I am, Olive")),
        (12.0, heard("Olive?")),
        (14.0, heard("Olive, hello", who=GRETA_SEEN)),
        (20.0, BalanceChanged(balance=1, change=1, counterpart_id=GRETA)),
    ]
    scene = stage(ROBIN_SEEN, GRETA_SEEN, me=OLIVE, name="Olive Owner")
    texts = said(rehearse(owner(every_s=1_000.0), scene, for_s=60, events=events))
    assert texts.count("Well done, Robin.") == 1
    assert "Thank you for the L$1, Greta!" in texts
    assert not any("Greta" in text and "Thank you" not in text for text in texts)


def test_an_agent_that_left_after_speaking_is_not_praised() -> None:
    """Words by IM from elsewhere get no public answer."""
    asked = rehearse(owner(), stage(me=OLIVE, name="Olive Owner"), for_s=5, events=[(1.0, heard("Olive!"))])
    assert said(asked) == []


@pytest.mark.parametrize(
    ("who", "kind", "taken"), [(ROBIN, "avatar", True), (GRETA, "avatar", False), (ROBIN, "object", False)]
)
def test_items_are_taken_from_the_agent_only(who: str, kind: str, *, taken: bool) -> None:
    """What the agent gives is accepted, what others or objects give is declined. Fault: 15."""
    source = Speaker(kind=SpeakerKind(kind), id=who, name="Robin Resident")
    offer = InventoryOffered(offer_id=OfferId("o1"), source=source, name="A gift", kind="object")
    asked = rehearse(owner(), stage(me=OLIVE), for_s=5, events=[(1.0, offer)])
    assert of_kind(asked, AnswerInventoryOffer) == [AnswerInventoryOffer(offer_id=OfferId("o1"), accept=taken)]


def test_friendship_is_taken_from_the_agent_only() -> None:
    """The owner befriends its agent, and leaves others waiting."""
    offers = [
        (at, FriendshipOffered(offer_id=OfferId(f"o{at:g}"), source=Speaker(kind=SpeakerKind.AVATAR, id=who)))
        for at, who in ((1.0, ROBIN), (2.0, GRETA))
    ]
    asked = rehearse(owner(), stage(me=OLIVE), for_s=5, events=offers)
    assert of_kind(asked, AnswerFriendship) == [AnswerFriendship(offer_id=OfferId("o1"), accept=True)]
