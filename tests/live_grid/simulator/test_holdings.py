"""An inventory as a tree, over capabilities and over UDP."""

from __future__ import annotations

from uuid import UUID

from gridagent.grid.simulated import World
from gridagent.grid.simulated.items import Item
from gridagent.ids import ItemId
from live_grid.messages import text_of
from live_grid.packet import encode_message
from live_grid.simulator import holdings
from live_grid.simulator.ids import derived_id, wire_id

NOTE = ItemId("00000000-0000-4000-8000-0000000000c0")


def folder(world: World, name: str) -> bytes:
    """Return the id of one of Ada's folders."""
    return next(one.folder_id for one in holdings.folders_of(world.avatars()[0]) if one.name == name)


def test_every_avatar_has_folders_of_its_own(world: World) -> None:
    """One root, with a folder for each kind below it, the same ones every time. Spec: LIV-8."""
    ada, ben = world.avatars()[:2]
    root, *rest = holdings.folders_of(ada)
    assert all(one.parent_id == root.folder_id for one in rest)
    assert holdings.folders_of(ada) == holdings.folders_of(ada)
    assert {one.folder_id for one in holdings.folders_of(ada)}.isdisjoint(
        one.folder_id for one in holdings.folders_of(ben)
    )


def test_an_item_lies_in_the_folder_of_its_kind(world: World) -> None:
    """Notes among notecards, what has no folder in the root. Spec: LIV-8."""
    ada = world.avatars()[0]
    notes = holdings.descendents_llsd(world, ada, folder(world, "Notecards"))
    assert [(item["name"], item["type"], item["inv_type"]) for item in notes["items"]] == [("Note", 7, 7)]
    assert notes["descendents"] == 1
    dances = holdings.descendents_llsd(world, ada, folder(world, "Animations"))
    assert [(item["name"], item["type"], item["inv_type"]) for item in dances["items"]] == [("Dance", 20, 19)]
    top = holdings.descendents_llsd(world, ada, folder(world, "My Inventory"))
    assert len(top["categories"]) == len(holdings.folders_of(ada)) - 1
    assert top["items"] == []


def test_an_unknown_kind_travels_as_an_object() -> None:
    """And kinds the wire knows come back as the same word. Spec: LIV-8."""
    assert holdings.kind_of(7) == "notecard"
    assert holdings.kind_of(99) == "object"
    row = holdings.item_llsd(ADA, Item(item_id=NOTE, name="Odd", kind="spaceship"))
    assert row["type"] == 6


ADA = "00000000-0000-4000-8000-000000000001"


def test_rights_are_in_the_masks() -> None:
    """What may not be copied or given on lacks the bit. Spec: LIV-8."""
    free = holdings.item_llsd(ADA, Item(item_id=NOTE, name="A", kind="object"))["permissions"]["owner_mask"]
    bound = holdings.item_llsd(ADA, Item(item_id=NOTE, name="A", kind="object", may_copy=False, may_transfer=False))
    assert free & ~bound["permissions"]["owner_mask"] == 0x8000 | 0x2000


def test_the_library_is_there_and_empty(world: World) -> None:
    """A folder nobody has is none. Spec: LIV-8."""
    ada = world.avatars()[0]
    library = holdings.descendents_llsd(world, ada, holdings.library_root().folder_id)
    assert (library["items"], library["categories"]) == ([], [])
    assert holdings.descendents_llsd(world, ada, derived_id("nothing")) is None


def test_udp_tells_the_same_in_packets_that_fit(world: World) -> None:
    """However many items, each packet fits a datagram, and together they hold everything. Spec: LIV-8."""
    ada = world.avatars()[0]
    for number in range(23):
        world.give(ada, name=f"Note {number} " + "x" * 100, kind="notecard")
    replies = list(holdings.descendents_udp(world, ada, folder(world, "Notecards"), folders=True, items=True))
    assert all(len(encode_message(reply).data) < 1_190 for reply in replies)
    rows = [row for reply in replies for row in reply.item_data]
    assert [text_of(row.name)[:6] for row in rows][:2] == ["Note", "Note 0"]
    assert len(rows) == 24
    assert {reply.agent_data.descendents for reply in replies} == {24}
    top = list(holdings.descendents_udp(world, ada, folder(world, "My Inventory"), folders=True, items=False))
    assert sum(len(reply.folder_data) for reply in top) == 17


def test_an_empty_or_unknown_folder_still_gets_an_answer(world: World) -> None:
    """One message with nothing in it. Spec: LIV-8."""
    ada = world.avatars()[0]
    for folder_id in (folder(world, "Trash"), derived_id("nothing")):
        (reply,) = holdings.descendents_udp(world, ada, folder_id, folders=True, items=True)
        assert (reply.agent_data.descendents, reply.item_data, reply.folder_data) == (0, (), ())


def test_a_new_item_is_told_with_its_folder(world: World) -> None:
    """So that a client knows it without looking. Spec: LIV-8."""
    ada = world.avatars()[0]
    item = world.inventory(ada)[0]
    (row,) = holdings.new_item(ada, item).inventory_data
    assert (row.item_id, row.folder_id) == (wire_id(NOTE), folder(world, "Notecards"))
    assert UUID(bytes=row.asset_id) == UUID(bytes=derived_id("asset", NOTE))
