"""What a client does with objects."""

from __future__ import annotations

import struct

import pytest

from gridagent.actions import Position
from gridagent.grid.simulated import Land, World
from gridagent.grid.simulated.characters import ObjectTouched
from gridagent.ids import ItemId, ObjectId
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.making import ObjectDescription
from live_grid.messages.objects import (
    DeRezObject,
    KillObject,
    MultipleObjectUpdate,
    ObjectAdd,
    ObjectGrab,
    ObjectName,
    ObjectPropertiesFamily,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
    RequestMultipleObjects,
    RequestObjectPropertiesFamily,
    RezObject,
)
from live_grid.messages.speech import AgentAlertMessage
from live_grid.simulator.ids import text_id, wire_id
from live_grid.simulator.puppet import Puppet, Table

BENCH, BELL = (ObjectId(f"00000000-0000-4000-8000-0000000000b{number}") for number in range(2))
SPOT = (50.0, 60.0, 22.0)


def number_of(table: Table, thing_id: str) -> int:
    """Return the region's number of something."""
    return table.core._local_ids[0].of(thing_id)


def add(puppet: Puppet, spot: tuple[float, float, float] = SPOT) -> None:
    """Build a box."""
    box = dict.fromkeys(ObjectAdd.ObjectData.__struct_fields__, 0)
    vectors = {"ray_start": spot, "ray_end": spot, "scale": (0.5, 0.5, 0.5), "rotation": (0.0, 0.0, 0.0)}
    data = ObjectAdd.ObjectData(**(box | vectors | {"pcode": 9, "ray_target_id": NIL}))
    head = ObjectAdd.AgentData(puppet.agent_id, puppet.session.session_id, NIL)
    puppet.say(ObjectAdd(agent_data=head, object_data=data))


def derez(puppet: Puppet, number: int, destination: int) -> None:
    """Take something away."""
    block = DeRezObject.AgentBlock(NIL, destination, NIL, NIL, 1, 0)
    puppet.say(DeRezObject(agent_data=puppet.session, agent_block=block, object_data=(DeRezObject.ObjectData(number),)))


def test_a_client_that_knows_nothing_asks_and_is_shown_everything(world: World, table: Table, enter) -> None:
    """Objects packed, avatars in full, unknown numbers not at all. Spec: LIV-5, LIV-15."""
    ada = table.puppet("Ada Actor", cache_empty=False)
    ada.enter()
    table.pass_time(1.0)
    (cached,) = ada.saw(ObjectUpdateCached)
    numbers = [block.id for block in cached.object_data]
    assert len(numbers) == 4
    ada.forget()
    me = number_of(table, world.avatars()[0])
    wanted = tuple(RequestMultipleObjects.ObjectData(0, number) for number in (*numbers, me, 77))
    ada.say(RequestMultipleObjects(agent_data=ada.session, object_data=wanted))
    packed = [block.data[:16] for one in ada.saw(ObjectUpdateCompressed) for block in one.object_data]
    assert sorted(map(text_id, packed)) == sorted(world.regions()[0].objects)
    assert [block.full_id for one in ada.saw(ObjectUpdate) for block in one.object_data] == [ada.agent_id]


def test_properties_are_told_of_what_is_there(ada: Puppet) -> None:
    """Name and description; of nothing, nothing. Spec: LIV-5, LIV-15."""
    for wanted in (wire_id(BELL), NIL):
        block = RequestObjectPropertiesFamily.ObjectData(3, wanted)
        ada.say(RequestObjectPropertiesFamily(agent_data=ada.session, object_data=block))
    (told,) = ada.saw(ObjectPropertiesFamily)
    assert (text_of(told.object_data.name), text_of(told.object_data.description)) == ("Bell", "Ring it.")


def test_a_touch_reaches_the_script(world: World, table: Table, ada: Puppet) -> None:
    """By the region's number; one that nothing has touches nothing. Spec: LIV-6, LIV-15."""
    heard = []
    world.regions()[0].objects[BELL].script = heard.append
    for number in (number_of(table, BELL), 77):
        data = ObjectGrab.ObjectData(number, (0.0, 0.0, 0.0))
        ada.say(ObjectGrab(agent_data=ada.session, object_data=data))
    assert [event.name for event in heard if isinstance(event, ObjectTouched)] == ["Ada Actor"]


def test_a_box_is_built_named_moved_and_thrown_away(world: World, table: Table, ada: Puppet) -> None:
    """Each shown: selected when new, in its new place, and gone. Spec: LIV-15; Fault: 5."""
    add(ada)
    (block,) = [block for one in ada.saw(ObjectUpdate) for block in one.object_data]
    assert block.update_flags & 2
    assert struct.unpack_from("<3f", block.object_data) == SPOT
    built = world.regions()[0].objects[ObjectId(text_id(block.full_id))]
    assert (built.thing.name, built.owner_id) == ("Primitive", world.avatars()[0])
    ada.say(ObjectName(agent_data=ada.session, object_data=(ObjectName.ObjectData(block.id, wire_text("Crate")),)))
    ada.say(ObjectName(agent_data=ada.session, object_data=(ObjectName.ObjectData(77, wire_text("Nothing")),)))
    said = tuple(ObjectDescription.ObjectData(number, wire_text("Of oak.")) for number in (block.id, 77))
    ada.say(ObjectDescription(agent_data=ada.session, object_data=said))
    assert built.thing.description == "Of oak."
    moves = (
        (1, struct.pack("<3f", 70.0, 71.0, 30.0)),
        (2, struct.pack("<3f", 1.0, 1.0, 30.0)),
        (1, b"short"),
        (1, struct.pack("<3f", float("nan"), 1.0, 1.0)),
    )
    rows = tuple(MultipleObjectUpdate.ObjectData(block.id, kind, data) for kind, data in moves)
    rows += (MultipleObjectUpdate.ObjectData(77, 1, moves[0][1]),)
    ada.say(MultipleObjectUpdate(agent_data=ada.session, object_data=rows))
    assert (built.thing.name, built.position) == ("Crate", Position(x=70.0, y=71.0, z=30.0))
    ada.forget()
    derez(ada, block.id, 4)
    assert ada.saw(KillObject) == []
    derez(ada, block.id, 6)
    derez(ada, 77, 6)
    assert [one.object_data[0].id for one in ada.saw(KillObject)] == [block.id]
    assert built.object_id not in world.regions()[0].objects


def test_somebody_elses_things_are_returned_by_the_landowner(world: World, table: Table, ada: Puppet) -> None:
    """The bench goes back into Ben's inventory; deleting it would not be Ada's to do. Spec: LIV-15."""
    number = number_of(table, BENCH)
    derez(ada, number, 6)
    assert "not owner" in text_of(ada.saw(AgentAlertMessage)[-1].alert_data.message)
    derez(ada, number, 9)
    assert BENCH not in world.regions()[0].objects
    assert [item.name for item in world.inventory(world.avatars()[1])] == ["Bench"]


def test_an_item_is_put_into_the_world(world: World, ada: Puppet) -> None:
    """Where the ray ends. Spec: LIV-15."""
    item = world.give(world.avatars()[0], name="Lamp", kind="object")
    for spot in (SPOT, (float("nan"), 1.0, 1.0)):
        ada.say(rez(ada, item, spot))
    assert [thing.thing.name for thing in world.regions()[0].objects.values()][-1] == "Lamp"
    assert len(world.regions()[0].objects) == 5


def rez(puppet: Puppet, item: ItemId, spot: tuple[float, float, float]) -> RezObject:
    """Ask to put an item into the world."""
    nothing = dict.fromkeys(RezObject.InventoryData.__struct_fields__, 0)
    ids = dict.fromkeys(("folder_id", "creator_id", "owner_id", "group_id", "transaction_id"), NIL)
    data = nothing | ids | {"item_id": wire_id(item), "group_owned": False, "name": b"\0", "description": b"\0"}
    return RezObject(
        agent_data=RezObject.AgentData(puppet.agent_id, puppet.session.session_id, NIL),
        rez_data=RezObject.RezData(NIL, 1, spot, spot, NIL, False, False, False, 0, 0, 0, 0),
        inventory_data=RezObject.InventoryData(**data),
    )


@pytest.mark.parametrize("spot", [(float("inf"), 1.0, 1.0), (9_999.0, 1.0, 1.0)])
def test_nothing_is_built_nowhere(spot: tuple[float, float, float], world: World, ada: Puppet) -> None:
    """A ray that ends in no point builds nothing. Spec: LIV-3."""
    add(ada, spot)
    assert len(world.regions()[0].objects) == 4


def test_land_that_forbids_building_says_so(world: World, ada: Puppet) -> None:
    """In a simulator's words. Spec: LIV-15."""
    world.add_parcel("Plaza", owner_id=world.avatars()[1], land=Land(name="Ben's"))
    add(ada)
    assert text_of(ada.saw(AgentAlertMessage)[-1].alert_data.message).startswith("You can't create objects here.")
