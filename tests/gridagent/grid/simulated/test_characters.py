"""The words between the world and its characters."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from gridagent.errors import LimitExceeded
from gridagent.grid.simulated import characters
from gridagent.grid.simulated.characters import ObjectAction, ObjectEvent, ObjectSay, OpenDialog
from gridagent.ids import AvatarId

ADA = AvatarId("00000000-0000-4000-8000-000000000001")


def test_object_words_are_bounded() -> None:
    """A script cannot say more than the grid carries, nor show more buttons than a dialog has.

    Spec: BND-1
    """
    with pytest.raises(LimitExceeded):
        ObjectSay(text="x" * 1_024)
    with pytest.raises(LimitExceeded):
        OpenDialog(to=ADA, text="Well?", buttons=("x",) * 13)


def test_object_words_and_events_survive_a_file() -> None:
    """Each is told apart by its tag, so that scenarios can write them."""
    said = ObjectSay(text="hello")
    raw = msgspec.json.encode(said)
    assert msgspec.json.decode(raw, type=ObjectAction) == said
    tags = [kind.__struct_config__.tag for kind in (*get_args(ObjectAction), *get_args(ObjectEvent))]
    assert len(set(tags)) == len(tags)


def test_no_word_lets_an_object_touch_money_or_bodies() -> None:
    """The vocabulary of objects is speech, questions and gifts.

    Spec: SIM-1
    """
    names = {kind.__name__ for kind in get_args(ObjectAction)}
    assert names == {"ObjectSay", "ObjectIm", "OpenDialog", "AskPermission", "OfferItem", "ShowUrl"}
    assert characters.PENDING_MAX == 64
