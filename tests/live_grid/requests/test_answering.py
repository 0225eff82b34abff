"""How we answer what others offer and ask."""

from __future__ import annotations

import pytest

from live_grid.requests import Confirmation, Identity, answering

BEN = bytes(15) + b"\x02"
BOX = bytes(15) + b"\x0b"
NUMBER = bytes(15) + b"\x99"
FOLDER = bytes(15) + b"\xf0"


def test_friendships(me: Identity, travel) -> None:
    """Offered under a new number, answered under the offer's own, ended by name. Spec: LIV-6."""
    block = travel(answering.offer_friendship(me, BEN, "Friends?", NUMBER))[0].message_block
    assert (block.dialog, block.id, block.message) == (38, NUMBER, b"Friends?\0")
    yes = answering.answer_friendship(me, NUMBER, FOLDER, accept=True)
    assert yes.confirmed_by is Confirmation.FRIENDS
    accepted = travel(yes)[0]
    assert (accepted.transaction_block.transaction_id, accepted.folder_data[0].folder_id) == (NUMBER, FOLDER)
    declined = travel(answering.answer_friendship(me, NUMBER, FOLDER, accept=False))[0]
    assert declined.transaction_block.transaction_id == NUMBER
    assert travel(answering.end_friendship(me, BEN))[0].ex_block.other_id == BEN


@pytest.mark.parametrize(
    ("accept", "from_object", "dialog"), [(True, False, 5), (False, False, 6), (True, True, 10), (False, True, 11)]
)
def test_gifts(me: Identity, travel, *, accept: bool, from_object: bool, dialog: int) -> None:
    """People and objects are answered in dialogs of their own; the bucket says where it goes. Spec: LIV-8."""
    request = answering.answer_gift(me, BEN, NUMBER, FOLDER, accept=accept, from_object=from_object)
    block = travel(request)[0].message_block
    assert (block.dialog, block.id, block.binary_bucket, block.to_agent_id) == (dialog, NUMBER, FOLDER, BEN)


def test_scripts(me: Identity, travel) -> None:
    """A button goes back as it was written; permissions as bits."""
    data = travel(answering.answer_dialog(me, BOX, -7, 1, b"N\x07o\0"))[0].data
    assert (data.object_id, data.chat_channel, data.button_index, data.button_label) == (BOX, -7, 1, b"N\x07o\0")
    data = travel(answering.answer_permissions(me, BOX, NUMBER, 0x10))[0].data
    assert (data.task_id, data.item_id, data.questions) == (BOX, NUMBER, 0x10)


def test_names_are_asked_in_packets_that_fit(travel) -> None:
    """Fifty at once, and no more."""
    ids = tuple(number.to_bytes(16, "big") for number in range(80))
    assert len(travel(answering.ask_names(ids))[0].uuid_name_block) == answering.NAMES_PER_REQUEST
