"""What waits for our answer."""

from __future__ import annotations

from live_grid.world.bounds import OFFERS_MAX
from live_grid.world.offers import (
    TEXT_BOX,
    Dialog,
    Lure,
    OfferKind,
    Offers,
    permission_bits,
    permission_words,
)

SOMEBODY = bytes(15) + b"\x02"


def lure(offers: Offers) -> Lure:
    """An invitation."""
    return Lure(
        offer_id=offers.next_id(OfferKind.LURE), source_id=SOMEBODY, name="Ben", lure_id=bytes(16), message="come"
    )


def test_an_offer_is_taken_once() -> None:
    """Answering takes an offer out. Spec: LIV-6."""
    offers = Offers()
    offer = lure(offers)
    assert offers.put(offer) is None
    assert offers.get(offer.offer_id) is offer
    assert list(offers) == [offer]
    assert offers.take(offer.offer_id) is offer
    assert offers.take(offer.offer_id) is None
    assert len(offers) == 0


def test_offers_are_bounded_and_never_share_a_name() -> None:
    """The oldest makes room and is told; a sender's own ids name nothing. Spec: BND-1."""
    offers = Offers()
    first = lure(offers)
    offers.put(first)
    for _ in range(OFFERS_MAX - 1):
        assert offers.put(lure(offers)) is None
    assert offers.put(lure(offers)) is first
    assert len({offer.offer_id for offer in offers}) == len(offers) == OFFERS_MAX


def test_permissions_have_words_and_bits() -> None:
    """Words and bits go both ways; unknown ones are nothing."""
    assert permission_words(0x2 | 0x10 | 0x8000_0000) == ("debit", "trigger_animation")
    assert permission_bits(("debit", "trigger_animation", "debit", "fly")) == 0x12


def test_a_dialog_can_ask_for_text() -> None:
    """One label turns buttons into a text box."""
    words = {"offer_id": "dialog-1", "source_id": SOMEBODY, "name": "Box", "owner_id": SOMEBODY, "owner_name": "Ben"}
    assert Dialog(**words, text="?", buttons=(TEXT_BOX,), labels=(b"!!llTextBox!!\0",), channel=5).wants_text
    assert not Dialog(**words, text="?", buttons=("Yes",), labels=(b"Yes\0",), channel=5).wants_text
