"""Carrying, giving, taking and making items."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, InDoubt, Position, Refused
from gridagent.events import GiftAnswered, InventoryChanged, InventoryOffered, OfferClosed
from gridagent.grid.simulated import World
from gridagent.grid.simulated.offers import OFFERS_MAX
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ItemId

NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")


def offered(who: Witness) -> str:
    """Return the newest gift offered to somebody."""
    return who.saw(InventoryOffered)[-1].offer_id


@pytest.mark.parametrize("may_copy", [True, False])
def test_an_accepted_gift_is_copied_or_moved(world: World, ada: Witness, ben: Witness, *, may_copy: bool) -> None:
    """A copyable item ends up in both inventories under two ids, another one in the receiver's only.

    Spec: SIM-1
    """
    item_id = world.give(ada.avatar_id, name="Poem", kind="notecard", text="Roses", may_copy=may_copy)
    world.perform(ada.avatar_id, asked.GiveItem(item_id=item_id, to=ben.avatar_id), world.now, "gift")
    assert isinstance(ben.do(asked.AnswerInventoryOffer(offer_id=offered(ben), accept=True)), Confirmed)
    (got,) = world.avatar(ben.avatar_id).inventory.values()
    assert (got.name, got.text, got.may_copy) == ("Poem", "Roses", may_copy)
    assert [item.item_id for item in world.inventory(ada.avatar_id)] == ([item_id] if may_copy else [])
    assert (got.item_id == item_id) is not may_copy
    assert ada.saw(GiftAnswered) == [GiftAnswered(item_id=item_id, to=ben.avatar_id, accepted=True, reference="gift")]


def test_a_declined_gift_stays_where_it_is(world: World, ada: Witness, ben: Witness) -> None:
    """The giver is told, and keeps the item.

    Spec: EFX-1
    """
    item_id = world.give(ada.avatar_id, name="Poem", kind="notecard", may_copy=False)
    world.perform(ada.avatar_id, asked.GiveItem(item_id=item_id, to=ben.avatar_id), world.now, "gift")
    assert isinstance(ben.do(asked.AnswerInventoryOffer(offer_id=offered(ben), accept=False)), Confirmed)
    assert [answer.accepted for answer in ada.saw(GiftAnswered)] == [False]
    assert len(world.inventory(ada.avatar_id)) == 1
    assert world.inventory(ben.avatar_id) == ()


def test_one_original_offered_twice_goes_to_the_first_who_takes_it(
    world: World, ada: Witness, ben: Witness, dan: Witness
) -> None:
    """The second finds the offer gone, and the item is in exactly one inventory.

    Spec: SIM-1
    """
    item_id = world.give(ada.avatar_id, name="Original", kind="object", may_copy=False)
    for receiver in (ben, dan):
        world.perform(ada.avatar_id, asked.GiveItem(item_id=item_id, to=receiver.avatar_id), world.now, "gift")
    assert isinstance(ben.do(asked.AnswerInventoryOffer(offer_id=offered(ben), accept=True)), Confirmed)
    outcome = dan.do(asked.AnswerInventoryOffer(offer_id=offered(dan), accept=True))
    assert outcome == Refused(reason="withdrawn")
    assert [event.answer for event in dan.saw(OfferClosed)] == ["withdrawn"]
    holders = [who for who in world.avatars() if world.inventory(who)]
    assert holders == [ben.avatar_id]


def test_an_unanswered_gift_is_in_doubt_and_waits_for_who_is_away(world: World, ada: Witness) -> None:
    """Nobody answers, so nothing proves anything; the offer is shown at the receiver's next login.

    Spec: EFX-1
    """
    item_id = world.give(ada.avatar_id, name="Poem", kind="notecard")
    cleo = world.avatars()[2]
    assert ada.do(asked.GiveItem(item_id=item_id, to=cleo)) == InDoubt(reason="no_evidence")
    assert [event.name for event in Witness(world, cleo).saw(InventoryOffered)] == ["Poem"]


def test_a_gift_that_cannot_be_is_refused(world: World, ada: Witness, ben: Witness) -> None:
    """Unknown item or avatar, oneself, no transfer, and a receiver with too many offers have their codes.

    Spec: EFX-1, BND-1
    """
    item_id = world.give(ada.avatar_id, name="Poem", kind="notecard")
    locked = world.give(ada.avatar_id, name="Locked", kind="notecard", may_transfer=False)
    outcomes = [
        ada.do(asked.GiveItem(item_id=ItemId(NOBODY), to=ben.avatar_id)),
        ada.do(asked.GiveItem(item_id=item_id, to=NOBODY)),
        ada.do(asked.GiveItem(item_id=item_id, to=ada.avatar_id)),
        ada.do(asked.GiveItem(item_id=locked, to=ben.avatar_id)),
    ]
    for _ in range(OFFERS_MAX):
        world.perform(ada.avatar_id, asked.GiveItem(item_id=item_id, to=ben.avatar_id), world.now, "gift")
    outcomes.append(ada.do(asked.GiveItem(item_id=item_id, to=ben.avatar_id)))
    assert outcomes == [
        Refused(reason=reason)
        for reason in ("unknown_item", "unknown_avatar", "not_yourself", "no_transfer", "offers_full")
    ]
    assert len(ben.saw(InventoryOffered)) == OFFERS_MAX


def test_notes_landmarks_and_uploads_land_in_the_inventory(world: World, ada: Witness) -> None:
    """Each is evidence with its reference; a landmark remembers the place.

    Spec: EFX-1, SIM-1
    """
    ada.do(asked.WalkTo(position=Position(x=104.0, y=100.0)))
    for action in (
        asked.CreateNotecard(name="Diary", text="Dear diary"),
        asked.CreateLandmark(name="Here"),
        asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64),
    ):
        assert isinstance(ada.do(action), Confirmed)
    kept = list(world.avatar(ada.avatar_id).inventory.values())
    assert [(item.name, item.kind) for item in kept] == [
        *(("Diary", "notecard"), ("Here", "landmark"), ("Logo", "texture"))
    ]
    assert [item.text for item in kept[:2]] == ["Dear diary", "Plaza 104.0 100.0 22.0"]
    assert [event.reference for event in ada.saw(InventoryChanged)] == ["w2", "w3", "w4"]


def test_a_full_inventory_takes_nothing_and_costs_nothing(
    world: World, ada: Witness, ben: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making, uploading and taking are refused before anything changes.

    Spec: EFX-1, BND-1
    """
    item_id = world.give(ben.avatar_id, name="Poem", kind="notecard")
    world.perform(ben.avatar_id, asked.GiveItem(item_id=item_id, to=ada.avatar_id), world.now, "gift")
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 0)
    outcomes = [
        ada.do(action)
        for action in (
            asked.CreateNotecard(name="Diary", text=""),
            asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=10),
            asked.AnswerInventoryOffer(offer_id=offered(ada), accept=True),
        )
    ]
    assert outcomes == [Refused(reason="inventory_full")] * 3
    assert (world.balance(ada.avatar_id), world.treasury) == (1_000, 0)


def test_an_answer_to_another_kind_of_offer_is_refused(world: World, ada: Witness, ben: Witness) -> None:
    """A friendship is no gift."""
    ben.do(asked.OfferFriendship(to=ada.avatar_id))
    (offer,) = world._state.offers.open_to(ada.avatar_id)
    assert ada.do(asked.AnswerInventoryOffer(offer_id=offer.offer_id, accept=True)) == Refused(reason="wrong_kind")
