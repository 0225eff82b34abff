"""What we hold: folders and items, as far as the grid has told.

Owns the table and the reading of a folder's contents from a capability's answer, leniently where grids differ. It is
knowledge for acts (what to give, where to put something), not a mirror: what is over the ceiling is not kept, and the
grid's own word at the time of an act decides (Spec: LIV-8).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import LlsdValue
from live_grid.login.reply import Folder
from live_grid.messages import NIL
from live_grid.world.bounds import LONG_MAX_CHARACTERS
from live_grid.world.events import ItemMade
from live_grid.world.text import clean, clean_words

__all__ = ("FOLDERS_MAX", "ITEMS_MAX", "Inventory", "read_folders_untrusted")

FOLDERS_MAX: Final = 1_024
ITEMS_MAX: Final = 8_192
TRASH: Final = 14
ROOT: Final = 8
OUTFIT: Final = 46
_TYPES: Final = {
    "texture": 0,
    "sound": 1,
    "callcard": 2,
    "landmark": 3,
    "clothing": 5,
    "object": 6,
    "notecard": 7,
    "category": 8,
    "lsltext": 10,
    "bodypart": 13,
    "animatn": 20,
    "gesture": 21,
    "link": 24,
    "settings": 56,
    "material": 57,
}
"""Asset types in words, as some capabilities write them."""


class Inventory:
    """What we hold.

    Args:
        root: our root folder, if the login named it.
        folders: as the login listed them.
    """

    __slots__ = ("_by_type", "asked", "folders", "items", "outfit_version", "root")

    def __init__(self, *, root: bytes | None = None, folders: Iterable[Folder] = ()) -> None:
        self.root = root
        self.folders: list[bytes] = []
        """Folders to ask for their contents, in the login's order."""
        self.items: dict[bytes, ItemMade] = {}
        self.asked = False
        """Every folder was asked for its contents once; before that, an item that is not here may be there."""
        self.outfit_version: int | None = None
        """Of the folder that says what we wear, as the login counted; None if there is no such folder."""
        self._by_type: dict[int, bytes] = {}
        for folder in folders:
            if len(self.folders) >= FOLDERS_MAX:
                break
            self.folders.append(folder.folder_id)
            self._by_type.setdefault(folder.type_default, folder.folder_id)
            if folder.type_default == OUTFIT and self.outfit_version is None:
                self.outfit_version = folder.version

    def folder_for(self, kind: int) -> bytes:
        """Tell where something of an asset type goes; the root where there is no better place, nil if there is none."""
        return self._by_type.get(kind) or self.root or self._by_type.get(ROOT) or NIL

    def learn(self, items: Iterable[ItemMade]) -> None:
        """Keep items, as far as there is room for new ones."""
        for item in items:
            if item.item_id in self.items or len(self.items) < ITEMS_MAX:
                self.items[item.item_id] = item

    def forget(self, item_id: bytes) -> bool:
        """Drop an item; tell whether it was known."""
        return self.items.pop(item_id, None) is not None


def _id(row: dict[str, LlsdValue], *names: str) -> bytes:
    for name in names:
        value = row.get(name)
        if isinstance(value, UUID):
            return value.bytes
    return NIL


def _number(value: LlsdValue) -> int:
    if isinstance(value, bytes):
        return int.from_bytes(value[:4], "big")
    if isinstance(value, str):
        return _TYPES.get(value, -1)
    return value & 0xFFFF_FFFF if isinstance(value, int) else 0


def _item(row: LlsdValue) -> ItemMade | None:
    if not isinstance(row, dict):
        return None
    item_id = _id(row, "item_id")
    if item_id == NIL:
        return None
    name, said, permissions = row.get("name"), row.get("desc"), row.get("permissions")
    masks = permissions if isinstance(permissions, dict) else {}
    return ItemMade(
        item_id,
        _id(row, "parent_id", "folder_id"),
        _id(row, "asset_id"),
        _number(row.get("type", 0)),
        clean_words(name) if isinstance(name, str) else "",
        clean(said, LONG_MAX_CHARACTERS) if isinstance(said, str) else "",
        0,
        _number(masks.get("next_owner_mask", 0)),
        _number(masks.get("owner_mask", 0)),
    )


def read_folders_untrusted(value: LlsdValue) -> list[ItemMade]:
    """Read the items of a capability's answer about folders; rows that say nothing are left out.

    Raises:
        RemoteProtocolError: it is no answer about folders.
    """
    folders = value.get("folders") if isinstance(value, dict) else None
    if not isinstance(folders, list):
        raise RemoteProtocolError("the answer is about no folders")
    found: list[ItemMade] = []
    for folder in folders:
        rows = folder.get("items") if isinstance(folder, dict) else None
        for row in rows if isinstance(rows, list) else ():
            item = _item(row)
            if item is not None:
                found.append(item)
    return found
