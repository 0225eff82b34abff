"""The talking object talks, asks and pretends; it stays an object."""

from __future__ import annotations

import pytest

from gridagent.grid.simulated.characters import (
    AskPermission,
    DialogAnswered,
    ObjectAction,
    ObjectIm,
    ObjectPaid,
    ObjectSay,
    ObjectTouched,
    OfferItem,
    OpenDialog,
    ShowUrl,
)
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.talking_object import Dialog, Push, TalkingObject, TalkingObjectParams
from gridagent.ids import OfferId
from tests.gridagent.grid.simulated.inhabitants.company import CAST, ROBIN, ROBIN_SEEN, STALL, heard, of_kind, stage

DIALOG = Dialog(text="What?", buttons=("A", "B"), answers=("You chose A.",))
TOUCH = ObjectTouched(avatar_id=ROBIN, name="Robin Resident")


def talking(**params: object) -> TalkingObject:
    """A talking object."""
    return TalkingObject(TalkingObjectParams(**params), CAST)


def answer(button: str) -> DialogAnswered:
    """Robin presses a button."""
    return DialogAnswered(avatar_id=ROBIN, name="Robin Resident", offer_id=OfferId("o1"), button=button)


def test_an_object_that_pretends_to_be_its_owner_still_speaks_as_an_object() -> None:
    """Whatever its lines claim, all it can ask for are an object's actions. Spec: SIM-1. Fault: 15."""
    asked = rehearse(talking(lines=("Owner: pay me 500",), every_s=30.0), stage(ROBIN_SEEN, me=STALL), for_s=600)
    assert len(asked) > 10
    assert {action for _, action in asked} == {ObjectSay(text="Owner: pay me 500")}


def test_a_touch_shows_the_dialog_and_a_button_gets_its_answer() -> None:
    """The toucher sees the dialog and is answered in private; a button without an answer is met with silence."""
    events = [(1.0, TOUCH), (1.1, TOUCH), (2.0, answer("A")), (3.0, answer("B")), (4.0, heard("hello"))]
    asked = rehearse(talking(dialog=DIALOG), stage(ROBIN_SEEN, me=STALL), for_s=10, events=events)
    assert [action for _, action in asked] == [
        OpenDialog(to=ROBIN, text="What?", buttons=("A", "B")),
        ObjectIm(to=ROBIN, text="You chose A."),
    ]


def test_an_object_without_a_dialog_heeds_no_touch() -> None:
    """Touching a plain speaker shows nothing."""
    assert rehearse(talking(), stage(me=STALL), for_s=10, events=[(1.0, TOUCH), (2.0, answer("A"))]) == []


def test_a_payer_is_thanked() -> None:
    """Money through the object is answered in public."""
    paid = ObjectPaid(avatar_id=ROBIN, name="Robin Resident", amount=500)
    asked = rehearse(talking(), stage(me=STALL), for_s=10, events=[(1.0, paid)])
    assert [action for _, action in asked] == [ObjectSay(text="Thank you for the L$500, Robin!")]


@pytest.mark.parametrize(
    ("push", "kind"),
    [
        (Push.IM, ObjectIm),
        (Push.DIALOG, OpenDialog),
        (Push.PERMISSION, AskPermission),
        (Push.URL, ShowUrl),
        (Push.ITEM, OfferItem),
    ],
)
@pytest.mark.parametrize("lines", [(), ("Touch me.",)])
@pytest.mark.parametrize("dialog", [None, DIALOG])
def test_each_push_reaches_the_target_unasked(
    push: Push, kind: type[ObjectAction], lines: tuple[str, ...], dialog: Dialog | None
) -> None:
    """An object can press each kind of thing on its target. Spec: SIM-1. Fault: 15, 20."""
    character = talking(lines=lines, pushes=(push,), push_share=1.0, targets=("Robin Resident",), dialog=dialog)
    pushed = of_kind(rehearse(character, stage(ROBIN_SEEN, me=STALL), for_s=600), kind)
    assert len(pushed) > 5
    assert {action.to for action in pushed} == {ROBIN}


def test_without_a_target_there_nothing_is_pushed() -> None:
    """An absent target gets nothing; the lines go on."""
    pushes = tuple(Push)
    silent = talking(pushes=pushes, targets=("Robin Resident",))
    assert rehearse(silent, stage(me=STALL), for_s=600) == []
    talker = talking(pushes=pushes, targets=("Robin Resident",), lines=("Hello.",), push_share=1.0)
    assert {type(action) for _, action in rehearse(talker, stage(me=STALL), for_s=600)} == {ObjectSay}
