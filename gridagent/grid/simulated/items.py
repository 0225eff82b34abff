"""Inventory items: what an avatar can carry, give and put into the world.

Owns the record and its view; moves nothing (that is `gridagent.grid.simulated.inventory`). Invariant: an
item is in exactly one inventory; a gift of a copyable item makes a new item.
"""

from __future__ import annotations

from typing import Final

import attrs

from gridagent.events import ItemView
from gridagent.ids import ItemId
from gridagent.limits import Label, LongText, Name

__all__ = ("BUILT_IN_ANIMATIONS", "INVENTORY_MAX", "OBJECT_KIND", "Item")

INVENTORY_MAX: Final = 4_096
"""Items one avatar can carry."""
OBJECT_KIND: Final = "object"
"""The kind of item that can be put into a region."""
BUILT_IN_ANIMATIONS: Final[dict[str, ItemId]] = {
    "dance": ItemId("b68a3d7c-de9e-fc87-eec8-543d787e5b0d"),
    "wave": ItemId("69b7b4f0-a4a2-4f24-8b4e-0d9ca3e3cf9c"),
    "bow": ItemId("82e99230-c906-1403-4d9c-3889dd98daba"),
    "clap": ItemId("9b0c1c4e-8ac7-7969-1494-28c874c4f668"),
}
"""Animations everybody has, as every grid does."""


@attrs.define(eq=False, kw_only=True)
class Item:
    """One item of one inventory."""

    item_id: ItemId
    name: Name
    kind: Label
    may_copy: bool = True
    may_transfer: bool = True
    text: LongText = ""
    """Content of a notecard; place of a landmark."""
    made_by: Label = ""
    """Nonce of the deed of its holder that made it; a gift has none."""

    def view(self) -> ItemView:
        """Return the item as its owner sees it."""
        return ItemView(
            item_id=self.item_id,
            name=self.name,
            kind=self.kind,
            may_copy=self.may_copy,
            may_transfer=self.may_transfer,
        )
