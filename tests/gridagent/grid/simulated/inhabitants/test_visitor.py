"""The visitor visits."""

from __future__ import annotations

from gridagent.actions import AnswerFriendship, OfferFriendship, TeleportTo
from gridagent.events import BalanceChanged, FriendshipOffered, Speaker, SpeakerKind
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.visitor import Visitor, VisitorParams
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
    received,
    said,
    stage,
)

HELLO = VisitorParams(hello=("Hello.",), answers=("Yes, {name}?",))


def test_a_visitor_says_hello_and_answers() -> None:
    """Its words go out by the door they are asked through. Spec: SIM-1."""
    events = [
        (20.0, heard("Minnie?")),
        (22.0, heard("Minnie??")),
        (50.0, received("are you there?")),
        (60.0, heard("nobody in particular")),
        (61.0, BalanceChanged(balance=2, change=2, counterpart_id=ROBIN)),
    ]
    asked = rehearse(Visitor(HELLO, CAST), stage(ROBIN_SEEN), for_s=90, events=events)
    assert said(asked) == ["Hello.", "Yes, Robin?", "Thank you for the L$2, Robin!"]
    assert messaged(asked) == [(ROBIN, "Yes, Robin?")]


def test_a_tour_goes_round_and_says_hello_at_each_stop() -> None:
    """A visitor travels from place to place in order, and begins again. Spec: SIM-1."""
    tour = (Spot(region="Harbour", x=5, y=6), Spot(region="Shore", x=7, y=8))
    character = Visitor(VisitorParams(hello=("Hello.",), tour=tour, every_s=60.0), CAST)
    asked = rehearse(character, stage(), for_s=600)
    trips = of_kind(asked, TeleportTo)
    assert len(trips) >= 4
    assert [trip.region for trip in trips[:4]] == ["Harbour", "Shore", "Harbour", "Shore"]
    assert (trips[0].position.x, trips[1].position.y) == (5, 8)
    assert said(asked).count("Hello.") >= len(trips)


def test_friendship_is_offered_once_each_to_who_is_there() -> None:
    """Somebody who comes later is asked later; nobody is asked twice. Spec: SIM-1."""
    character = Visitor(VisitorParams(befriends=("Robin Resident", "Greta Greeter")), CAST)
    scene = stage(ROBIN_SEEN)
    first = rehearse(character, scene, for_s=600)
    assert [offer.to for offer in of_kind(first, OfferFriendship)] == [ROBIN]
    scene.people.append(GRETA_SEEN)
    second = rehearse(character, scene, for_s=600)
    assert [offer.to for offer in of_kind(second, OfferFriendship)] == [GRETA]


def test_offered_friendship_is_taken() -> None:
    """A visitor is glad of friends."""
    source = Speaker(kind=SpeakerKind.AVATAR, id=OLIVE, name="Olive Owner")
    offer = FriendshipOffered(offer_id=OfferId("o1"), source=source)
    asked = rehearse(Visitor(HELLO, CAST), stage(), for_s=60, events=[(1.0, offer)])
    assert of_kind(asked, AnswerFriendship) == [AnswerFriendship(offer_id=OfferId("o1"), accept=True)]
