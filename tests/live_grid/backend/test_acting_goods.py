"""Actions with what we hold; most of them are also performed against a server in the tests of the backend."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.events import OfferClosed
from live_grid.login.reply import Folder
from live_grid.messages.holdings import MoneyTransferRequest
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.world.inventory import Inventory
from live_grid.world.offers import Gift
from tests.live_grid.backend.hands import BEN, BOX, ITEM, NOTHING, Hands, text

PLACES = Inventory(
    root=BOX, folders=[Folder(folder_id=ITEM, parent_id=BOX, name="Notecards", type_default=7, version=1)]
)


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def test_gifts_are_given_by_who_may(hands: Hands) -> None:
    """What we do not hold, or may not pass on, stays. Spec: LIV-8."""
    give = asked.GiveItem(item_id=text(ITEM), to=text(BEN))
    assert hands.perform(give) == "unknown_item"
    hands.item(mask=0x8000)
    assert hands.perform(give) == "no_transfer"
    hands.item(mask=0, name="é" * 128)
    assert hands.perform(give) == []
    (message,) = hands.sent()
    assert isinstance(message, ImprovedInstantMessage)
    assert hands.pending.gifts == {message.message_block.id: (text(ITEM), text(BEN), "r1")}


@pytest.mark.parametrize("accept", [True, False])
def test_gifts_are_taken_and_declined(hands: Hands, *, accept: bool) -> None:
    """The answer's arrival closes the offer. Spec: LIV-8."""
    answer = asked.AnswerInventoryOffer(offer_id="g-1", accept=accept)
    assert hands.perform(answer) == "unknown_offer"
    base = {"offer_id": "g-1", "source_id": BEN, "name": "Ben", "owner_id": BEN}
    hands.world.offers.put(Gift(**base, transaction_id=ITEM, item_name="Rose", asset_type=6, item_id=NOTHING))
    assert hands.perform(answer) == []
    (message,) = hands.sent()
    assert isinstance(message, ImprovedInstantMessage)
    assert message.message_block.dialog == (5 if accept else 6)
    word = "accepted" if accept else "declined"
    assert OfferClosed(offer_id="g-1", accepted=accept, answer=word) in hands.told()


def test_items_are_made_where_they_belong(hands: Hands) -> None:
    """A landmark comes as it is; a notecard needs the capability that writes it. Spec: LIV-8."""
    assert hands.perform(asked.CreateLandmark(name="Here")) == "no_inventory"
    hands.world.inventory = PLACES
    assert hands.perform(asked.CreateNotecard(name="Note", text="x")) == "not_offered"
    assert hands.perform(asked.CreateLandmark(name="Here"), "r1") == []
    link = hands.session.travel.authority
    assert link is not None
    link.capabilities = {"UpdateNotecardAgentInventory": "http://127.0.0.1/"}  # type: ignore[assignment]
    assert hands.perform(asked.CreateNotecard(name="Note", text="x"), "r2") == []
    landmark, note = hands.sent()
    assert landmark.inventory_block.folder_id == BOX
    assert note.inventory_block.folder_id == ITEM
    assert [making.reference for making in hands.pending.making.values()] == ["r1", "r2"]
    assert hands.perform(asked.CreateLandmark(name="é" * 128)) == "unsendable"
    assert len(hands.pending.making) == 2


def test_one_payment_flies_at_a_time(hands: Hands) -> None:
    """With its reference in it, and only if there is enough. Spec: EFX-5."""
    pay = asked.PayAvatar(to=text(BEN), amount=10, description="é" * 200)
    hands.world.balance = 5
    assert hands.perform(pay) == "insufficient_funds"
    hands.world.balance = None
    hands.waiting.add("0123456789abcdef")
    assert hands.perform(pay, "0123456789abcdef") == []
    (message,) = hands.sent()
    assert isinstance(message, MoneyTransferRequest)
    assert message.money_data.description.endswith(b" #0123456789abcdef\0")
    assert hands.perform(asked.PayObject(object_id=text(BOX), amount=1)) == "payment_in_flight"
    hands.waiting.clear()
    assert hands.perform(asked.PayObject(object_id=text(BOX), amount=1), "r2") == []
    assert hands.sent()[0].money_data.description == b"#r2\0"


def test_nothing_is_uploaded(hands: Hands) -> None:
    """Refused unsent."""
    action = asked.UploadAsset(name="x", kind="texture", sha256="0" * 64)
    assert hands.perform(action) == "no_upload"
    assert hands.sent() == []
