"""What we do with objects."""

from __future__ import annotations

import struct

from live_grid.requests import Confirmation, Identity, building
from live_grid.requests.building import Destination

BOX = bytes(15) + b"\x0b"
NUMBER = bytes(15) + b"\x99"
THERE = (10.0, 20.0, 30.0)


def test_objects_are_asked_about(me: Identity, travel) -> None:
    """In full by local id, in words by UUID. Spec: LIV-5."""
    blocks = travel(building.ask_objects(me, tuple(range(300))))[0].object_data
    assert len(blocks) == building.OBJECTS_PER_REQUEST
    assert travel(building.ask_details(me, BOX))[0].object_data.object_id == BOX


def test_a_box_is_built_where_we_say(me: Identity, travel) -> None:
    """Selected, so that its maker knows it again."""
    data = travel(building.add_box(me, THERE))[0].object_data
    assert (data.pcode, data.add_flags, data.ray_end, data.bypass_raycast) == (9, 2, THERE, 1)


def test_an_item_is_put_into_the_world(me: Identity, travel) -> None:
    """By its id; the item stays in the inventory."""
    message = travel(building.rez_item(me, BOX, NUMBER, "Lamp", THERE))[0]
    assert (message.inventory_data.item_id, message.inventory_data.name) == (BOX, b"Lamp\0")
    assert (message.rez_data.ray_end, message.rez_data.remove_item) == (THERE, False)


def test_objects_are_changed(me: Identity, travel) -> None:
    """Name, description, place; and let go of."""
    assert travel(building.rename_object(me, 5, "Lamp"))[0].object_data[0].name == b"Lamp\0"
    assert travel(building.describe_object(me, 5, "It shines"))[0].object_data[0].description == b"It shines\0"
    (block,) = travel(building.move_object(me, 5, THERE))[0].object_data
    assert (block.object_local_id, block.type, struct.unpack("<3f", block.data)) == (5, 9, THERE)
    assert travel(building.deselect(me, 5))[0].object_data[0].object_local_id == 5


def test_objects_are_taken_away(me: Identity, travel) -> None:
    """To the trash, or back to their owner; that they are gone is the proof. Spec: EFX-1."""
    request = building.remove_object(me, 5, Destination.TRASH, folder_id=BOX, number=NUMBER)
    message = travel(request)[0]
    assert (message.agent_block.destination, message.agent_block.destination_id) == (6, BOX)
    assert message.object_data[0].object_local_id == 5
    assert request.confirmed_by is Confirmation.OBJECT_GONE
    back = travel(building.remove_object(me, 5, Destination.RETURN_TO_OWNER, number=NUMBER))[0]
    assert back.agent_block.destination == 9


def test_an_avatar_is_sent_away(me: Identity, travel) -> None:
    """By its id."""
    assert travel(building.eject(me, BOX))[0].data.target_id == BOX
