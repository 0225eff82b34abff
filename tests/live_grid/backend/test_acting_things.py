"""Actions towards objects; most of them are also performed against a server in the tests of the backend."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.events import Delivered, OfferClosed
from live_grid.backend.views import OURS
from live_grid.messages.objects import DeRezObject, MultipleObjectUpdate, ObjectAdd, ObjectName, RezObject
from live_grid.messages.speech import ScriptAnswerYes, ScriptDialogReply
from live_grid.world.offers import TEXT_BOX, Dialog, Permissions
from tests.live_grid.backend.hands import BEN, BOX, ITEM, Hands, text
from tests.live_grid.handover.fake_grid import ME

PLACE = Position(x=20.0, y=20.0, z=25.0)


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def dialog(hands: Hands, *buttons: str) -> str:
    """Let a script ask."""
    hands.world.offers.put(
        Dialog(
            offer_id="d-1",
            source_id=BOX,
            name="Box",
            owner_id=BEN,
            owner_name="Ben",
            text="?",
            buttons=buttons,
            labels=tuple(f"<{button}>".encode() for button in buttons),
            channel=-9,
        )
    )
    return "d-1"


def question(hands: Hands, bits: int) -> str:
    """Let a script ask for permissions."""
    hands.world.offers.put(
        Permissions(offer_id="p-1", source_id=BOX, name="Box", item_id=ITEM, owner_name="Ben", bits=bits)
    )
    return "p-1"


def test_touching_is_acknowledged(hands: Hands) -> None:
    """Both halves of it."""
    assert hands.perform(asked.Touch(object_id=text(BOX))) == "unknown_object"
    hands.thing()
    assert hands.perform(asked.Touch(object_id=text(BOX)), "r1") == []
    assert len(hands.sent()) == 2
    assert Delivered(reference="r1") in hands.told()


def test_buttons_go_back_as_the_script_wrote_them(hands: Hands) -> None:
    """One that is not there is refused; free text goes as it is. Spec: LIV-6."""
    assert hands.perform(asked.AnswerDialog(offer_id="d-1", button="No")) == "unknown_offer"
    answer = asked.AnswerDialog(offer_id=dialog(hands, "Yes", "No"), button="Maybe")
    assert hands.perform(answer) == "no_such_button"
    assert hands.perform(asked.AnswerDialog(offer_id="d-1", button="No")) == []
    assert hands.perform(asked.AnswerDialog(offer_id=dialog(hands, TEXT_BOX), button="free")) == []
    pressed, typed = hands.sent()
    assert isinstance(pressed, ScriptDialogReply)
    assert isinstance(typed, ScriptDialogReply)
    assert (pressed.data.button_index, pressed.data.button_label, pressed.data.chat_channel) == (1, b"<No>", -9)
    assert typed.data.button_label == b"free\0"
    assert OfferClosed(offer_id="d-1", accepted=True, answer="No") in hands.told()
    assert len(hands.world.offers) == 0


def test_scripts_get_what_they_asked_for_and_never_our_money(hands: Hands) -> None:
    """Not more than asked, not a word nobody knows, and not the purse. Spec: LIV-6."""
    everything = 0xFFFF
    assert hands.perform(asked.AnswerPermission(offer_id="p-1")) == "unknown_offer"
    offer_id = question(hands, everything)
    assert hands.perform(asked.AnswerPermission(offer_id=offer_id, grant=("debit",))) == "never_granted"
    assert hands.perform(asked.AnswerPermission(offer_id=offer_id, grant=("fly",))) == "not_asked"
    offer_id = question(hands, 0x10)
    assert hands.perform(asked.AnswerPermission(offer_id=offer_id, grant=("attach",))) == "not_asked"
    assert hands.perform(asked.AnswerPermission(offer_id=offer_id, grant=("trigger_animation",))) == []
    assert hands.perform(asked.AnswerPermission(offer_id=question(hands, 0x10))) == []
    granted, refused = hands.sent()
    assert isinstance(granted, ScriptAnswerYes)
    assert isinstance(refused, ScriptAnswerYes)
    assert (granted.data.questions, refused.data.questions) == (0x10, 0)
    told = hands.told()
    assert OfferClosed(offer_id="p-1", accepted=True, answer="granted") in told
    assert OfferClosed(offer_id="p-1", accepted=False, answer="declined") in told


def test_things_are_put_into_the_region(hands: Hands) -> None:
    """A box, or an object we hold; nothing else, and nowhere else. Spec: EFX-1."""
    outside = Position(x=-1.0, y=0.0)
    assert hands.perform(asked.RezObject(position=outside)) == "outside_region"
    assert hands.perform(asked.RezObject(position=PLACE, name="Lamp"), "r1") == []
    item = text(ITEM)
    assert hands.perform(asked.RezObject(position=PLACE, item_id=item)) == "unknown_item"
    hands.item(kind=7)
    assert hands.perform(asked.RezObject(position=PLACE, item_id=item)) == "not_an_object"
    hands.item(kind=6)
    assert hands.perform(asked.RezObject(position=PLACE, item_id=item), "r2") == []
    assert [type(message) for message in hands.sent()] == [ObjectAdd, RezObject]
    assert [(built.reference, built.name) for built in hands.pending.built] == [("r1", "Lamp"), ("r2", "")]


def test_only_our_own_is_changed_and_thrown_away(hands: Hands) -> None:
    """By the region's mark, or by its own word; anybody's can be returned. Spec: EFX-1."""
    box = text(BOX)
    for action in (asked.EditObject(object_id=box, name="x"), asked.DeleteObject(object_id=box)):
        assert hands.perform(action) == "unknown_object"
    assert hands.perform(asked.ReturnObject(object_id=box)) == "unknown_object"
    thing = hands.thing()
    for action in (asked.EditObject(object_id=box, name="x"), asked.DeleteObject(object_id=box)):
        assert hands.perform(action) == "not_owner"
    thing.flags = OURS
    edit = asked.EditObject(object_id=box, name="Lamp", description="shines", position=PLACE)
    assert hands.perform(edit) == []
    assert BOX in hands.world.here.wanted
    away = asked.EditObject(object_id=box, position=Position(x=-1.0, y=0.0))
    assert hands.perform(away) == "outside_region"
    hands.world.here.drop_object(thing)
    hands.thing(owner=ME)
    assert hands.perform(asked.DeleteObject(object_id=box)) == []
    assert hands.perform(asked.ReturnObject(object_id=box)) == []
    kinds = [type(message) for message in hands.sent()]
    assert kinds[0] is ObjectName
    assert kinds[1].__name__ == "ObjectDescription"
    assert kinds[2:] == [MultipleObjectUpdate, DeRezObject, DeRezObject]
