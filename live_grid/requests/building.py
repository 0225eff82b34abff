"""What we do with objects: ask about them, build, change, take away; and send an avatar off our land.

Owns the requests of the family. A new box appears with the mark of its maker's selection on it, which is how its maker
knows it from everybody else's (Spec: LIV-6).
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

from live_grid.messages import NIL
from live_grid.messages.making import EjectUser, ObjectDescription
from live_grid.messages.objects import (
    DeRezObject,
    MultipleObjectUpdate,
    ObjectAdd,
    ObjectDeselect,
    ObjectName,
    RequestMultipleObjects,
    RequestObjectPropertiesFamily,
    RezObject,
)
from live_grid.requests.request import Confirmation, Identity, Request, text_field

__all__ = (
    "OBJECTS_PER_REQUEST",
    "Destination",
    "add_box",
    "ask_details",
    "ask_objects",
    "describe_object",
    "deselect",
    "eject",
    "move_object",
    "remove_object",
    "rename_object",
    "rez_item",
)

Vector = tuple[float, float, float]
OBJECTS_PER_REQUEST: Final = 200
_PRIM: Final = 9
_WOOD: Final = 3
_SELECTED: Final = 0x2
_LINE, _SQUARE = 16, 1
_FULL_SCALE: Final = 100
_BOX: Final = (0.5, 0.5, 0.5)
_UPRIGHT: Final = (0.0, 0.0, 0.0)
_POSITION_OF_ALL: Final = 0x1 | 0x8
"""The position of the whole linked set."""


class Destination(IntEnum):
    """Where an object goes that is taken out of the world."""

    TAKE_COPY = 4
    TRASH = 6
    RETURN_TO_OWNER = 9


def ask_objects(me: Identity, local_ids: tuple[int, ...]) -> Request:
    """Ask for objects in full, at most `OBJECTS_PER_REQUEST` at once."""
    blocks = tuple(RequestMultipleObjects.ObjectData(0, one) for one in local_ids[:OBJECTS_PER_REQUEST])
    return Request((RequestMultipleObjects(agent_data=me.session, object_data=blocks),), Confirmation.OBJECT)


def ask_details(me: Identity, object_id: bytes) -> Request:
    """Ask an object for its name, owner and price."""
    data = RequestObjectPropertiesFamily.ObjectData(0, object_id)
    return Request((RequestObjectPropertiesFamily(agent_data=me.session, object_data=data),), Confirmation.OBJECT)


def add_box(me: Identity, position: Vector) -> Request:
    """Build a box of half a metre."""
    data = ObjectAdd.ObjectData(
        pcode=_PRIM,
        material=_WOOD,
        add_flags=_SELECTED,
        path_curve=_LINE,
        profile_curve=_SQUARE,
        path_begin=0,
        path_end=0,
        path_scale_x=_FULL_SCALE,
        path_scale_y=_FULL_SCALE,
        path_shear_x=0,
        path_shear_y=0,
        path_twist=0,
        path_twist_begin=0,
        path_radius_offset=0,
        path_taper_x=0,
        path_taper_y=0,
        path_revolutions=0,
        path_skew=0,
        profile_begin=0,
        profile_end=0,
        profile_hollow=0,
        bypass_raycast=1,
        ray_start=position,
        ray_end=position,
        ray_target_id=NIL,
        ray_end_is_intersection=0,
        scale=_BOX,
        rotation=_UPRIGHT,
        state=0,
    )
    agent = ObjectAdd.AgentData(me.agent_id, me.session_id, NIL)
    return Request((ObjectAdd(agent_data=agent, object_data=data),), Confirmation.OBJECT)


def rez_item(me: Identity, item_id: bytes, folder_id: bytes, name: str, position: Vector) -> Request:
    """Put an object of our inventory into the world; the inventory's own record decides what it is.

    Raises:
        LocalProtocolError: the name is too long.
    """
    rez = RezObject.RezData(
        from_task_id=NIL,
        bypass_raycast=1,
        ray_start=position,
        ray_end=position,
        ray_target_id=NIL,
        ray_end_is_intersection=False,
        rez_selected=False,
        remove_item=False,
        item_flags=0,
        group_mask=0,
        everyone_mask=0,
        next_owner_mask=0,
    )
    item = RezObject.InventoryData(
        item_id=item_id,
        folder_id=folder_id,
        creator_id=NIL,
        owner_id=me.agent_id,
        group_id=NIL,
        base_mask=0,
        owner_mask=0,
        group_mask=0,
        everyone_mask=0,
        next_owner_mask=0,
        group_owned=False,
        transaction_id=NIL,
        type=6,
        inv_type=6,
        flags=0,
        sale_type=0,
        sale_price=0,
        name=text_field(name),
        description=text_field(""),
        creation_date=0,
        crc=0,
    )
    agent = RezObject.AgentData(me.agent_id, me.session_id, NIL)
    return Request((RezObject(agent_data=agent, rez_data=rez, inventory_data=item),), Confirmation.OBJECT)


def rename_object(me: Identity, local_id: int, name: str) -> Request:
    """Give an object a name.

    Raises:
        LocalProtocolError: the name is too long.
    """
    block = ObjectName.ObjectData(local_id, text_field(name))
    return Request((ObjectName(agent_data=me.session, object_data=(block,)),), Confirmation.OBJECT)


def describe_object(me: Identity, local_id: int, description: str) -> Request:
    """Give an object a description.

    Raises:
        LocalProtocolError: the text is too long.
    """
    block = ObjectDescription.ObjectData(local_id, text_field(description))
    return Request((ObjectDescription(agent_data=me.session, object_data=(block,)),), Confirmation.OBJECT)


def move_object(me: Identity, local_id: int, position: Vector) -> Request:
    """Put an object, with all its parts, elsewhere in the region."""
    block = MultipleObjectUpdate.ObjectData(local_id, _POSITION_OF_ALL, struct.pack("<3f", *position))
    return Request((MultipleObjectUpdate(agent_data=me.session, object_data=(block,)),), Confirmation.OBJECT)


def remove_object(
    me: Identity, local_id: int, destination: Destination, *, folder_id: bytes = NIL, number: bytes
) -> Request:
    """Take an object out of the world.

    Args:
        me: who asks.
        local_id: of the object.
        destination: where it goes.
        folder_id: in our inventory, if it goes there.
        number: a new id.
    """
    block = DeRezObject.AgentBlock(NIL, int(destination), folder_id, number, 1, 0)
    gone = DeRezObject(agent_data=me.session, agent_block=block, object_data=(DeRezObject.ObjectData(local_id),))
    return Request((gone,), Confirmation.OBJECT_GONE)


def deselect(me: Identity, local_id: int) -> Request:
    """Let go of an object that its making left selected."""
    block = ObjectDeselect.ObjectData(local_id)
    return Request((ObjectDeselect(agent_data=me.session, object_data=(block,)),), Confirmation.DELIVERED)


def eject(me: Identity, avatar_id: bytes) -> Request:
    """Send an avatar off the land we manage."""
    data = EjectUser.Data(avatar_id, 0)
    return Request((EjectUser(agent_data=me.session, data=data),), Confirmation.DELIVERED)
