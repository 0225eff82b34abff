"""Building and land: rezzing, editing, deleting, returning and ejecting.

Owns those rows of the catalogue. What cannot be undone asks for a look at the very kind of thing first, so that
a UUID which a model made up or was told does not go by unseen (Spec: MND-5, MND-13).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import DeleteObject, EditObject, EjectAvatar, ReturnObject, RezObject
from gridagent.tools.native import act

__all__ = ("BUILD",)

_OBJECT: Final = "UUID of the object."
_LOOK_FIRST: Final = "Look at it with look_at_object first."

BUILD: Final = (
    act(
        RezObject,
        "Put a new box, or an object of your inventory, into the region.",
        {
            "position": "Where, in metres from the region's south-west corner.",
            "item_id": "UUID of an object of your inventory; leave out for a plain box.",
            "name": "Name of the new object.",
        },
    ),
    act(
        EditObject,
        f"Rename, describe or move an object of your own. {_LOOK_FIRST}",
        {
            "object_id": _OBJECT,
            "name": "New name; leave out to keep it.",
            "description": "New description; leave out to keep it.",
            "position": "New place; leave out to keep it.",
        },
        prerequisites=("look_at_object",),
    ),
    act(
        DeleteObject,
        f"Delete an object of your own, for good. {_LOOK_FIRST}",
        {"object_id": _OBJECT},
        prerequisites=("look_at_object",),
    ),
    act(
        ReturnObject,
        f"Return somebody's object from land you may manage. {_LOOK_FIRST}",
        {"object_id": _OBJECT},
        prerequisites=("look_at_object",),
    ),
    act(
        EjectAvatar,
        "Send an avatar off land you may manage. Look at them with look_at_avatar first.",
        {"avatar_id": "UUID of the avatar."},
        prerequisites=("look_at_avatar",),
    ),
)
"""The tools about building and land."""
