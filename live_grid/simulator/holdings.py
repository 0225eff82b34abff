"""An inventory as grids show it: a tree of folders, with each item in the folder of its kind.

Owns the folders that every avatar has, the numbers of kinds, and the rows of both ways to fetch (LLSD over
capabilities, UDP). The world keeps a flat bag of items; the tree is derived from it, so there is nothing to keep in
step (Spec: LIV-8, LIV-15).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final
from uuid import UUID

import msgspec

from gridagent.events import ItemView
from gridagent.grid.simulated.items import Item
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from gridagent.limits import MESSAGE_MAX_BYTES, clip_bytes
from live_grid.llsd import LlsdGiven
from live_grid.messages import NIL
from live_grid.messages.holdings import InventoryDescendents, UpdateCreateInventoryItem
from live_grid.simulator.ids import derived_id, wire_id
from live_grid.simulator.wording import short_text

__all__ = (
    "ASSET_TYPES",
    "FOLDER_VERSION",
    "Folder",
    "descendents_llsd",
    "descendents_udp",
    "folders_of",
    "item_llsd",
    "kind_of",
    "library_root",
    "new_item",
    "queued_item",
    "read_notecard_untrusted",
)

ASSET_TYPES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "texture": 0,
        "sound": 1,
        "calling_card": 2,
        "landmark": 3,
        "clothing": 5,
        "object": 6,
        "notecard": 7,
        "script": 10,
        "body_part": 13,
        "animation": 20,
        "gesture": 21,
    }
)
"""What the wire calls the world's kinds of item; every other kind travels as an object."""
_KINDS: Final = MappingProxyType({number: kind for kind, number in ASSET_TYPES.items()})
_INVENTORY_TYPES: Final = MappingProxyType({5: 18, 13: 18, 20: 19, 21: 20})
_ROOT_TYPE: Final = 8
_FOLDERS: Final = (
    ("Animations", 20),
    ("Body Parts", 13),
    ("Calling Cards", 2),
    ("Clothing", 5),
    ("Current Outfit", 46),
    ("Favorites", 23),
    ("Gestures", 21),
    ("Landmarks", 3),
    ("Lost And Found", 16),
    ("Notecards", 7),
    ("Objects", 6),
    ("Photo Album", 15),
    ("Scripts", 10),
    ("Settings", 56),
    ("Sounds", 1),
    ("Textures", 0),
    ("Trash", 14),
)
_MODIFY, _COPY, _TRANSFER, _MOVE = 1 << 14, 1 << 15, 1 << 13, 1 << 19
_PER_PACKET: Final = 5
_NOTECARD: Final = re.compile(rb"\nText length (\d{1,6})\n")
_CREATED: Final = 1_767_225_600
FOLDER_VERSION: Final = 1
"""Of every folder, always: a client that looks again sees what changed."""


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """One folder."""

    folder_id: bytes
    parent_id: bytes
    name: str
    type_default: int


def library_root() -> Folder:
    """Return the root of the library that everybody sees; it is empty."""
    return Folder(folder_id=derived_id("library"), parent_id=NIL, name="OpenSim Library", type_default=_ROOT_TYPE)


def folders_of(avatar_id: AvatarId) -> tuple[Folder, ...]:
    """Return an avatar's folders, the root first."""
    root = Folder(
        folder_id=derived_id("inventory", avatar_id), parent_id=NIL, name="My Inventory", type_default=_ROOT_TYPE
    )
    return (
        root,
        *(
            Folder(
                folder_id=derived_id("folder", avatar_id, name),
                parent_id=root.folder_id,
                name=name,
                type_default=number,
            )
            for name, number in _FOLDERS
        ),
    )


def read_notecard_untrusted(body: bytes) -> str | None:
    """Read the text of a notecard as clients write it; None if there is none to be found."""
    found = _NOTECARD.search(body)
    if found is None:
        return None
    raw = body[found.end() : found.end() + int(found[1])]
    return clip_bytes(raw.decode("utf-8", "replace"), MESSAGE_MAX_BYTES)


def kind_of(number: int) -> str:
    """Return the world's word for a type on the wire."""
    return _KINDS.get(number, "object")


def _type_of(item: Item | ItemView) -> int:
    return ASSET_TYPES.get(item.kind, ASSET_TYPES["object"])


def _home_of(item: Item | ItemView, folders: tuple[Folder, ...]) -> bytes:
    number = _type_of(item)
    return next((folder.folder_id for folder in folders if folder.type_default == number), folders[0].folder_id)


def _masks(item: Item | ItemView) -> int:
    return _MODIFY | _MOVE | (_COPY if item.may_copy else 0) | (_TRANSFER if item.may_transfer else 0)


def _inside(world: World, avatar_id: AvatarId, folder_id: bytes) -> tuple[list[Folder], list[Item]] | None:
    """Return what is in a folder, or None if there is no such folder."""
    folders = folders_of(avatar_id)
    if folder_id == library_root().folder_id:
        return [], []
    if all(folder.folder_id != folder_id for folder in folders):
        return None
    items = [item for item in world.avatar(avatar_id).inventory.values() if _home_of(item, folders) == folder_id]
    return [folder for folder in folders if folder.parent_id == folder_id], items


# --- over capabilities ---------------------------------------------------------------------------


def item_llsd(avatar_id: AvatarId, item: Item) -> dict[str, LlsdGiven]:
    """Describe an item."""
    owner, number, masks = UUID(avatar_id), _type_of(item), _masks(item)
    return {
        "item_id": UUID(item.item_id),
        "parent_id": UUID(bytes=_home_of(item, folders_of(avatar_id))),
        "asset_id": UUID(bytes=derived_id("asset", item.item_id)),
        "name": item.name,
        "desc": "",
        "type": number,
        "inv_type": _INVENTORY_TYPES.get(number, number),
        "flags": 0,
        "created_at": _CREATED,
        "permissions": {
            "creator_id": owner,
            "owner_id": owner,
            "group_id": UUID(bytes=NIL),
            "is_owner_group": False,
            "base_mask": masks,
            "owner_mask": masks,
            "group_mask": 0,
            "everyone_mask": 0,
            "next_owner_mask": masks,
        },
        "sale_info": {"sale_price": 0, "sale_type": 0},
    }


def descendents_llsd(world: World, avatar_id: AvatarId, folder_id: bytes) -> dict[str, LlsdGiven] | None:
    """Describe what is in a folder, or nothing if there is no such folder."""
    found = _inside(world, avatar_id, folder_id)
    if found is None:
        return None
    folders, items = found
    return {
        "folder_id": UUID(bytes=folder_id),
        "agent_id": UUID(avatar_id),
        "owner_id": UUID(avatar_id),
        "version": FOLDER_VERSION,
        "descendents": len(folders) + len(items),
        "categories": [
            {
                "folder_id": UUID(bytes=folder.folder_id),
                "category_id": UUID(bytes=folder.folder_id),
                "parent_id": UUID(bytes=folder.parent_id),
                "agent_id": UUID(avatar_id),
                "name": folder.name,
                "type_default": folder.type_default,
                "type": folder.type_default,
                "version": FOLDER_VERSION,
            }
            for folder in folders
        ],
        "items": [item_llsd(avatar_id, item) for item in items],
    }


# --- over UDP ------------------------------------------------------------------------------------


def _row(avatar_id: AvatarId, item: Item) -> InventoryDescendents.ItemData:
    owner, number, masks = wire_id(avatar_id), _type_of(item), _masks(item)
    return InventoryDescendents.ItemData(
        item_id=wire_id(item.item_id),
        folder_id=_home_of(item, folders_of(avatar_id)),
        creator_id=owner,
        owner_id=owner,
        group_id=NIL,
        base_mask=masks,
        owner_mask=masks,
        group_mask=0,
        everyone_mask=0,
        next_owner_mask=masks,
        group_owned=False,
        asset_id=derived_id("asset", item.item_id),
        type=number,
        inv_type=_INVENTORY_TYPES.get(number, number),
        flags=0,
        sale_type=0,
        sale_price=0,
        name=short_text(item.name),
        description=short_text(""),
        creation_date=_CREATED,
        crc=0,
    )


def descendents_udp(
    world: World, avatar_id: AvatarId, folder_id: bytes, *, folders: bool, items: bool
) -> Iterator[InventoryDescendents]:
    """Describe what is in a folder, in as many messages as it takes; an unknown folder is empty."""
    below, things = _inside(world, avatar_id, folder_id) or ([], [])
    head = InventoryDescendents.AgentData(
        agent_id=wire_id(avatar_id),
        folder_id=folder_id,
        owner_id=wire_id(avatar_id),
        version=FOLDER_VERSION,
        descendents=len(below) + len(things),
    )
    rows = [
        InventoryDescendents.FolderData(
            folder.folder_id, folder.parent_id, folder.type_default, short_text(folder.name)
        )
        for folder in below
        if folders
    ]
    found = [_row(avatar_id, item) for item in things if items]
    if not rows and not found:
        # An empty folder says so with one empty row, as simulators do.
        yield InventoryDescendents(agent_data=head)
    for first in range(0, len(rows), _PER_PACKET):
        yield InventoryDescendents(agent_data=head, folder_data=tuple(rows[first : first + _PER_PACKET]))
    for first in range(0, len(found), _PER_PACKET):
        yield InventoryDescendents(agent_data=head, item_data=tuple(found[first : first + _PER_PACKET]))


def new_item(avatar_id: AvatarId, item: ItemView, callback: int = 0) -> UpdateCreateInventoryItem:
    """Tell that an item is in the inventory now, under the number it was asked for with."""
    owner, number, masks = wire_id(avatar_id), _type_of(item), _masks(item)
    row = UpdateCreateInventoryItem.InventoryData(
        item_id=wire_id(item.item_id),
        folder_id=_home_of(item, folders_of(avatar_id)),
        callback_id=callback,
        creator_id=owner,
        owner_id=owner,
        group_id=NIL,
        base_mask=masks,
        owner_mask=masks,
        group_mask=0,
        everyone_mask=0,
        next_owner_mask=masks,
        group_owned=False,
        asset_id=derived_id("asset", item.item_id),
        type=number,
        inv_type=_INVENTORY_TYPES.get(number, number),
        flags=0,
        sale_type=0,
        sale_price=0,
        name=short_text(item.name),
        description=short_text(""),
        creation_date=_CREATED,
        crc=0,
    )
    return UpdateCreateInventoryItem(
        agent_data=UpdateCreateInventoryItem.AgentData(owner, True, NIL), inventory_data=(row,)
    )


def queued_item(avatar_id: AvatarId, item: ItemView) -> dict[str, LlsdGiven]:
    """Tell that somebody put an item into the inventory, as the body of an event."""
    number, masks = _type_of(item), _masks(item)
    row: dict[str, LlsdGiven] = {
        "ItemID": UUID(item.item_id),
        "FolderID": UUID(bytes=_home_of(item, folders_of(avatar_id))),
        "AssetID": UUID(bytes=derived_id("asset", item.item_id)),
        "CreatorID": UUID(avatar_id),
        "OwnerID": UUID(avatar_id),
        "GroupID": UUID(int=0),
        "BaseMask": masks,
        "OwnerMask": masks,
        "GroupMask": 0,
        "EveryoneMask": 0,
        "NextOwnerMask": masks,
        "GroupOwned": False,
        "Type": number,
        "InvType": _INVENTORY_TYPES.get(number, number),
        "CallbackID": 0,
        "Flags": 0,
        "SaleType": 0,
        "SalePrice": 0,
        "Name": item.name,
        "Description": "",
        "CreationDate": _CREATED,
        "CRC": 0,
    }
    return {
        "AgentData": [{"AgentID": UUID(avatar_id), "TransactionID": UUID(bytes=derived_id("given", item.item_id))}],
        "ItemData": [row],
    }
