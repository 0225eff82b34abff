"""What a client does with objects: touch, look at, build, change, take away.

Owns the handlers of the family. The wire names objects by a region's numbers; one that nothing has is ignored, as
simulators do (Spec: LIV-5, LIV-15).
"""

from __future__ import annotations

import struct
from typing import Final

from gridagent.actions import DeleteObject, EditObject, ReturnObject, RezObject, Touch
from gridagent.grid.simulated.objects import GridObject
from gridagent.ids import ItemId, ObjectId
from gridagent.limits import clip
from live_grid.messages import text_of
from live_grid.messages.making import ObjectDescription
from live_grid.messages.objects import (
    DeRezObject,
    MultipleObjectUpdate,
    ObjectAdd,
    ObjectGrab,
    ObjectName,
    RequestMultipleObjects,
    RequestObjectPropertiesFamily,
)
from live_grid.messages.objects import RezObject as WireRezObject
from live_grid.simulator import movement, scene
from live_grid.simulator.agent import Agent
from live_grid.simulator.faults import WireFaultKind
from live_grid.simulator.ids import text_id
from live_grid.simulator.visit import Visit
from live_grid.simulator.wording import name_from_wire

__all__ = (
    "add_object",
    "change_objects",
    "describe_objects",
    "grab",
    "name_objects",
    "object_properties",
    "request_objects",
    "rez_item",
    "take_away",
)

_BLOCKS_MAX: Final = 255
_DESCRIPTION_MAX_CHARACTERS: Final = 127
"""As grids have it."""
_PER_PACKED: Final = 4
_NEW_NAME: Final = "Primitive"
_POSITION: Final = 1
_VECTOR: Final = struct.Struct("<3f")
_TRASH, _RETURN = 6, 9
_TREATED_AS: Final[dict[int, type[DeleteObject | ReturnObject]]] = {_TRASH: DeleteObject, _RETURN: ReturnObject}


def _thing(visit: Visit, local_id: int) -> GridObject | None:
    found = visit.find(local_id)
    return None if found is None else visit.place.region.objects.get(ObjectId(found))


def request_objects(agent: Agent, visit: Visit, message: RequestMultipleObjects, now: float) -> None:
    """Show in full what a client asks for by number."""
    del now
    if agent.stage.strikes(agent.stage.faults.sight_lost, WireFaultKind.SIGHT_LOST):
        return
    packed = []
    for block in message.object_data[:_BLOCKS_MAX]:
        found = visit.find(block.id)
        thing = _thing(visit, block.id)
        if thing is not None:
            packed.append(scene.compressed_block(thing, agent.avatar_id, local_id=block.id))
        elif found is not None:
            visit.show_again(found)
    for first in range(0, len(packed), _PER_PACKED):
        visit.say(scene.update_compressed(visit.place.handle, packed[first : first + _PER_PACKED]))


def object_properties(agent: Agent, visit: Visit, message: RequestObjectPropertiesFamily, now: float) -> None:
    """Tell an object's name, owner and price."""
    del agent, now
    wanted = ObjectId(text_id(message.object_data.object_id))
    thing = visit.place.region.objects.get(wanted)
    if thing is not None:
        visit.say(scene.properties(thing, message.object_data.request_flags))


def grab(agent: Agent, visit: Visit, message: ObjectGrab, now: float) -> None:
    """Touch an object."""
    thing = _thing(visit, message.object_data.local_id)
    if thing is not None:
        agent.do("touch", Touch(object_id=thing.object_id), now)


def add_object(agent: Agent, visit: Visit, message: ObjectAdd, now: float) -> None:
    """Build a box where the ray ends."""
    del visit
    position = movement.point_of(*message.object_data.ray_end)
    if position is not None:
        agent.do("rez", RezObject(position=position, name=_NEW_NAME), now)


def rez_item(agent: Agent, visit: Visit, message: WireRezObject, now: float) -> None:
    """Put an item of the inventory where the ray ends."""
    del visit
    position = movement.point_of(*message.rez_data.ray_end)
    if position is not None:
        item_id = ItemId(text_id(message.inventory_data.item_id))
        agent.do("rez", RezObject(position=position, item_id=item_id), now)


def name_objects(agent: Agent, visit: Visit, message: ObjectName, now: float) -> None:
    """Rename objects."""
    for block in message.object_data[:_BLOCKS_MAX]:
        thing = _thing(visit, block.local_id)
        if thing is not None:
            agent.do("edit", EditObject(object_id=thing.object_id, name=name_from_wire(block.name)), now)


def describe_objects(agent: Agent, visit: Visit, message: ObjectDescription, now: float) -> None:
    """Describe objects."""
    for block in message.object_data[:_BLOCKS_MAX]:
        thing = _thing(visit, block.local_id)
        if thing is not None:
            said = clip(text_of(block.description), _DESCRIPTION_MAX_CHARACTERS)
            agent.do("edit", EditObject(object_id=thing.object_id, description=said), now)


def change_objects(agent: Agent, visit: Visit, message: MultipleObjectUpdate, now: float) -> None:
    """Move objects; turning and scaling are nothing in this world."""
    for block in message.object_data[:_BLOCKS_MAX]:
        thing = _thing(visit, block.object_local_id)
        if thing is None or not block.type & _POSITION or len(block.data) < _VECTOR.size:
            continue
        position = movement.point_of(*_VECTOR.unpack_from(block.data))
        if position is not None:
            agent.do("edit", EditObject(object_id=thing.object_id, position=position), now)


def take_away(agent: Agent, visit: Visit, message: DeRezObject, now: float) -> None:
    """Delete objects, or return them to their owners; taking copies is nothing in this world."""
    action = _TREATED_AS.get(message.agent_block.destination)
    if action is None:
        return
    for block in message.object_data[:_BLOCKS_MAX]:
        thing = _thing(visit, block.object_local_id)
        if thing is not None:
            agent.do("derez", action(object_id=thing.object_id), now)
