"""Offers that wait for an answer."""

from __future__ import annotations

import itertools

from gridagent.events import FriendshipOffered, Speaker, SpeakerKind
from gridagent.grid.simulated.offers import OFFERS_MAX, Offers
from gridagent.ids import AvatarId, ObjectId

ADA, BEN = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in (1, 2))
BOX = ObjectId("00000000-0000-4000-8000-0000000000b1")
SOURCE = Speaker(kind=SpeakerKind.AVATAR, id=BEN, name="Ben")
THING = Speaker(kind=SpeakerKind.OBJECT, id=BOX, name="Box", owner_id=BEN)


def some_offers() -> Offers:
    """Return an empty store with ids that count up."""
    numbers = itertools.count(1)
    return Offers(lambda: f"offer-{next(numbers)}")


def test_an_offer_is_found_by_its_receiver_only_until_it_is_closed() -> None:
    """Knowing an id is not enough to answer somebody else's offer.

    Spec: SIM-1
    """
    offers = some_offers()
    offer = offers.friendship(ADA, BEN, SOURCE, "hi")
    assert offers.find(ADA, offer.offer_id) is offer
    assert offers.find(BEN, offer.offer_id) is None
    assert offer.shown == FriendshipOffered(offer_id=offer.offer_id, source=SOURCE, message="hi")
    offers.close(offer)
    assert offers.find(ADA, offer.offer_id) is None
    assert offers._by_receiver == {}


def test_a_receiver_has_room_for_so_many_and_nobody_elses_count() -> None:
    """Sixty-four offers fill one receiver and leave others alone.

    Spec: BND-1
    """
    offers = some_offers()
    for _ in range(OFFERS_MAX):
        assert offers.room_for(ADA)
        offers.friendship(ADA, BEN, SOURCE, "")
    assert not offers.room_for(ADA)
    assert offers.room_for(BEN)
    assert [offer.offer_id for offer in offers.open_to(ADA)] == [f"offer-{n}" for n in range(1, OFFERS_MAX + 1)]


def test_an_objects_offers_are_found_among_all() -> None:
    """Only what the object itself asked is its own."""
    offers = some_offers()
    offers.friendship(ADA, BEN, SOURCE, "")
    own = [
        offers.dialog(ADA, BOX, THING, "Well?", ("Yes",)),
        offers.permission(BEN, BOX, THING, ("debit",)),
        offers.object_gift(ADA, BOX, THING, "Leaflet", "notecard"),
    ]
    assert sorted(offer.offer_id for offer in offers.of_object(BOX)) == [offer.offer_id for offer in own]
    assert offers.of_object(ObjectId(ADA)) == ()
