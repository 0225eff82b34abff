"""The vendor tells its price, sells, and says thank you."""

from __future__ import annotations

import itertools

from gridagent.grid.simulated.characters import (
    DialogAnswered,
    ObjectIm,
    ObjectPaid,
    ObjectSay,
    ObjectTouched,
    OfferItem,
    OpenDialog,
)
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.vendor import Vendor, VendorParams
from gridagent.ids import OfferId
from tests.gridagent.grid.simulated.inhabitants.company import BENCH, CAST, ROBIN, STALL, heard, of_kind, stage

TOUCH = ObjectTouched(avatar_id=ROBIN, name="Robin Resident")
PAID = ObjectPaid(avatar_id=ROBIN, name="Robin Resident", amount=10)


def pressed(button: str) -> DialogAnswered:
    """Robin presses a button."""
    return DialogAnswered(avatar_id=ROBIN, name="Robin Resident", offer_id=OfferId("o1"), button=button)


def test_a_touch_and_a_button_tell_the_price_of_the_object_itself() -> None:
    """What the vendor says is the price the scenario gave this object. Spec: SIM-1."""
    vendor = Vendor(VendorParams(about="Fresh."), CAST)
    events = [(1.0, TOUCH), (1.5, TOUCH), (2.0, pressed("Price")), (3.0, pressed("About")), (4.0, pressed("Close"))]
    asked = rehearse(vendor, stage(me=STALL, name="Stall"), for_s=10, events=events)
    assert [action for _, action in asked] == [
        OpenDialog(to=ROBIN, text="Stall: L$10. Pay me to buy.", buttons=("Price", "About", "Close")),
        ObjectIm(to=ROBIN, text="Stall: L$10."),
        ObjectIm(to=ROBIN, text="Fresh."),
    ]


def test_a_thing_without_a_price_says_so() -> None:
    """A vendor whose object is not for sale does not invent a price."""
    vendor = Vendor(VendorParams(), CAST)
    events = [(1.0, pressed("Price")), (2.0, pressed("About"))]
    asked = rehearse(vendor, stage(me=BENCH, name="Bench"), for_s=10, events=events)
    assert of_kind(asked, ObjectIm)[0].text == "Bench: not for sale today."
    assert of_kind(asked, ObjectIm)[1].text


def test_a_buyer_is_thanked_and_may_get_a_gift() -> None:
    """Whoever paid is thanked by name, and offered the gift if there is one. Spec: SIM-1."""
    plain = rehearse(Vendor(VendorParams(), CAST), stage(me=STALL), for_s=10, events=[(1.0, PAID)])
    assert [action for _, action in plain] == [ObjectSay(text="Thank you, Robin. Enjoy it!")]
    giving = Vendor(VendorParams(gift="Recipe"), CAST)
    asked = rehearse(giving, stage(me=STALL), for_s=10, events=[(1.0, PAID)])
    assert of_kind(asked, OfferItem) == [OfferItem(to=ROBIN, name="Recipe", kind="notecard")]


def test_a_vendor_cries_its_goods_or_keeps_quiet() -> None:
    """Lines are cried at their pace; without lines there is silence; chat is not heeded."""
    loud = rehearse(Vendor(VendorParams(lines=("Buy!", "Come!"), every_s=30.0), CAST), stage(me=STALL), for_s=600)
    texts = [action.text for action in of_kind(loud, ObjectSay)]
    assert 12 <= len(texts) <= 35
    assert all(one != other for one, other in itertools.pairwise(texts))
    assert rehearse(Vendor(VendorParams(), CAST), stage(me=STALL), for_s=600, events=[(1.0, heard("price?"))]) == []
