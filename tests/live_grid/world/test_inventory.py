"""What we hold."""

from __future__ import annotations

from uuid import UUID

import pytest

from benchmarks.captures import exchanges
from live_grid.errors import RemoteProtocolError
from live_grid.llsd import LlsdValue, read_llsd_xml_untrusted
from live_grid.login import LoginReply, read_login_reply_untrusted
from live_grid.messages import NIL
from live_grid.world.events import ItemMade
from live_grid.world.inventory import FOLDERS_MAX, ITEMS_MAX, TRASH, Inventory, read_folders_untrusted

ITEM = UUID(int=5)


def item(number: int, name: str = "Rose") -> ItemMade:
    """An item."""
    return ItemMade(number.to_bytes(16, "big"), NIL, NIL, 6, name, "", 0, 0, 0)


def test_a_recorded_login_names_the_folders() -> None:
    """Where trash and notecards go comes with the login. Spec: LIV-8."""
    body = next(
        one.body for one in exchanges("two_clients") if one.path == "/" and b"login_to_simulator" in one.request
    )
    reply = read_login_reply_untrusted(body)
    assert isinstance(reply, LoginReply)
    inventory = Inventory(root=reply.inventory_root, folders=reply.inventory_skeleton)
    assert inventory.folder_for(TRASH) in inventory.folders
    assert inventory.folder_for(7) != inventory.folder_for(TRASH)
    assert inventory.folder_for(99) == reply.inventory_root
    many = reply.inventory_skeleton[:1] * (FOLDERS_MAX + 1)
    assert len(Inventory(folders=many).folders) == FOLDERS_MAX


def test_a_recorded_folder_is_read() -> None:
    """The answer of a real capability to a question about a folder. Spec: LIV-8."""
    answers = [one.body for one in exchanges("two_clients") if b"<key>folder_id</key>" in one.request]
    assert answers
    for body in answers:
        assert isinstance(read_folders_untrusted(read_llsd_xml_untrusted(body)), list)


def test_items_are_bounded_and_known_ones_change() -> None:
    """No new one over the ceiling; a change of a known one is kept. Spec: BND-1."""
    inventory = Inventory()
    assert inventory.folder_for(7) == NIL
    inventory.learn(item(number + 1) for number in range(ITEMS_MAX + 5))
    assert len(inventory.items) == ITEMS_MAX
    inventory.learn([item(1, "Tulip")])
    assert inventory.items[item(1).item_id].name == "Tulip"
    assert inventory.forget(item(1).item_id)
    assert not inventory.forget(item(1).item_id)


def test_rows_are_read_leniently() -> None:
    """Types in words and in numbers, masks in both writings; rows that say nothing are left out. Spec: LIV-8."""
    rows: list[LlsdValue] = [
        {
            "item_id": ITEM,
            "name": "Dance",
            "type": "animatn",
            "desc": "x",
            "permissions": {"owner_mask": b"\0\0\x80\0"},
        },
        {"item_id": UUID(int=6), "type": 7, "name": 3, "permissions": 4},
        {"item_id": UUID(int=7), "type": "unheard of", "folder_id": ITEM, "name": "n", "desc": None},
        {"item_id": UUID(int=8), "type": 1.5},
        {"item_id": "no id"},
        "no row",
    ]
    found = read_folders_untrusted({"folders": [{"items": rows}, {"items": None}, "no folder"]})
    assert [(one.name, one.kind, one.owner_mask) for one in found] == [
        ("Dance", 20, 0x8000),
        ("", 7, 0),
        ("n", -1, 0),
        ("", 0, 0),
    ]
    assert found[2].folder_id == ITEM.bytes


@pytest.mark.parametrize("value", [None, [], {"folders": 5}])
def test_an_answer_about_no_folders_is_refused(value: LlsdValue) -> None:
    """The one error. Spec: LIV-3."""
    with pytest.raises(RemoteProtocolError):
        read_folders_untrusted(value)
