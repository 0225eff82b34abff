"""Items and how their owners see them."""

from __future__ import annotations

from gridagent.events import ItemView
from gridagent.grid.simulated.items import BUILT_IN_ANIMATIONS, Item
from gridagent.ids import ItemId, is_canonical_uuid


def test_a_view_shows_rights_and_no_content() -> None:
    """The text of a notecard is not part of a listing."""
    item_id = ItemId("00000000-0000-4000-8000-0000000000c1")
    item = Item(item_id=item_id, name="Poem", kind="notecard", may_transfer=False, text="secret")
    assert item.view() == ItemView(item_id=item_id, name="Poem", kind="notecard", may_transfer=False)


def test_built_in_animations_have_real_ids() -> None:
    """The ids are canonical and differ."""
    ids = list(BUILT_IN_ANIMATIONS.values())
    assert all(map(is_canonical_uuid, ids))
    assert len(set(ids)) == len(ids)
