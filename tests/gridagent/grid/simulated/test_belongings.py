"""The two changes an inventory knows."""

from __future__ import annotations

import pytest

from gridagent.events import InventoryChanged, InventoryRemoved
from gridagent.grid.simulated import World
from gridagent.grid.simulated.belongings import drop_item, has_room, put_item
from gridagent.grid.simulated.witness import Witness


def test_putting_and_dropping_an_item_is_told_to_its_owner(world: World, ada: Witness) -> None:
    """Each change of an inventory is one event, with the item's rights.

    Spec: SIM-1
    """
    avatar = world.avatar(ada.avatar_id)
    item = put_item(world._state, avatar, name="Poem", kind="notecard", may_copy=False)
    drop_item(world._state, avatar, item)
    assert [event.item.may_copy for event in ada.saw(InventoryChanged)] == [False]
    assert [event.item_id for event in ada.saw(InventoryRemoved)] == [item.item_id]
    assert avatar.inventory == {}


def test_an_inventory_has_a_ceiling(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is a question with an end.

    Spec: BND-1
    """
    avatar = world.avatar(world.avatars()[0])
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 1)
    assert has_room(avatar)
    put_item(world._state, avatar, name="Poem", kind="notecard")
    assert not has_room(avatar)
