"""Messages about what is in sight."""

from __future__ import annotations

import struct

from live_grid.messages.objects import (
    ImprovedTerseObjectUpdate,
    KillObject,
    ObjectPropertiesFamily,
    ObjectUpdate,
    ObjectUpdateCached,
    ObjectUpdateCompressed,
)
from live_grid.world import Region, World, reduce_message
from live_grid.world.bounds import AVATARS_MAX
from live_grid.world.events import AvatarChanged, AvatarLeft, Describe, ObjectChanged, ObjectGone, OwnMotion, WorldEvent
from live_grid.world.sightings import PCODE_AVATAR, PCODE_PRIM

BEN = bytes(15) + b"\x02"
BOX = bytes(15) + b"\x0b"
PART = bytes(15) + b"\x0c"
REGION = ObjectUpdate.RegionData(0, 65535)


def block(
    uuid: bytes, local: int, pcode: int, *, parent: int = 0, name: str = "", motion: bytes | None = None
) -> object:
    """One block of a full update."""
    fields = dict.fromkeys(ObjectUpdate.ObjectData.__struct_fields__, 0)
    fields |= dict.fromkeys(
        ("texture_entry", "texture_anim", "data", "text", "media_url", "ps_block", "extra_params"), b""
    )
    fields |= {"id": local, "full_id": uuid, "pcode": pcode, "parent_id": parent, "scale": (1.0, 1.0, 1.0)}
    fields |= {"object_data": struct.pack("<15f", 10, 20, 30, *[0] * 12) if motion is None else motion}
    fields |= {"name_value": f"FirstName STRING RW SV {name}\n".encode() if name else b"", "click_action": 1}
    return ObjectUpdate.ObjectData(**fields)  # type: ignore[arg-type]


def full(*blocks: object) -> ObjectUpdate:
    """A full update."""
    return ObjectUpdate(region_data=REGION, object_data=blocks)  # type: ignore[arg-type]


def terse(local: int, x: float = 11.0, *, size: int = 44) -> ImprovedTerseObjectUpdate:
    """A terse update."""
    data = struct.pack("<I2B3f13H", local, 0, 0, x, 20, 30, *[32768] * 13)[:size]
    region = ImprovedTerseObjectUpdate.RegionData(0, 65535)
    return ImprovedTerseObjectUpdate(region_data=region, object_data=(ImprovedTerseObjectUpdate.ObjectData(data, b""),))


def compressed(uuid: bytes, local: int, pcode: int, *, size: int = 200) -> ObjectUpdateCompressed:
    """A compressed update."""
    data = struct.pack("<16sI2BI2B9fI16s", uuid, local, pcode, 0, 0, 0, 0, 1, 1, 1, 5, 6, 7, 0, 0, 0, 0, bytes(16))
    region = ObjectUpdateCompressed.RegionData(0, 65535)
    return ObjectUpdateCompressed(region_data=region, object_data=(ObjectUpdateCompressed.ObjectData(8, data[:size]),))


def kill(*ids: int) -> KillObject:
    """The end of some."""
    return KillObject(object_data=tuple(map(KillObject.ObjectData, ids)))


def test_an_avatar_comes_into_sight(world: World, here: Region) -> None:
    """Name, local id and position are kept. Spec: LIV-5."""
    assert reduce_message(world, here, full(block(BEN, 9, PCODE_AVATAR, name="Ben"))) == (AvatarChanged(BEN),)
    ben = here.avatars[BEN]
    assert (ben.name, ben.local_id, ben.motion.position, ben.coarse) == ("Ben", 9, (10, 20, 30), False)
    assert world.names[BEN] == "Ben"
    reduce_message(world, here, full(block(BEN, 10, PCODE_AVATAR)))
    assert (ben.name, ben.local_id) == ("Ben", 10)


def test_our_own_avatar_is_told_apart(world: World, here: Region, beside: Region) -> None:
    """What we see of ourselves is our motion, and only where we are."""
    mine = full(block(world.agent_id, 9, PCODE_AVATAR))
    assert reduce_message(world, here, mine) == (OwnMotion(),)
    assert world.me is here.avatars[world.agent_id]
    assert reduce_message(world, here, terse(9)) == (OwnMotion(),)
    assert reduce_message(world, beside, mine) == ()
    assert reduce_message(world, beside, terse(9)) == ()


def test_objects_come_into_sight_and_are_to_be_asked_about(world: World, here: Region) -> None:
    """A whole object is asked for its name; a part of one, or a plant, is not."""
    events = reduce_message(world, here, full(block(BOX, 5, PCODE_PRIM), block(PART, 6, PCODE_PRIM, parent=5)))
    assert events == (ObjectChanged(BOX, False), ObjectChanged(PART, False))
    reduce_message(world, here, full(block(bytes(16), 7, 95)))
    assert list(here.wanted) == [BOX]
    assert here.objects[PART].parent == 5
    assert here.objects[BOX].click_action == 1


def test_compressed_objects_come_into_sight(world: World, here: Region) -> None:
    """The packed form says the same; an avatar in it too."""
    assert reduce_message(world, here, compressed(BOX, 5, PCODE_PRIM)) == (ObjectChanged(BOX, False),)
    assert here.objects[BOX].motion.position == (5, 6, 7)
    assert here.objects[BOX].flags == 8
    assert reduce_message(world, here, compressed(BEN, 9, PCODE_AVATAR)) == (AvatarChanged(BEN),)
    assert reduce_message(world, here, compressed(BOX, 5, PCODE_PRIM, size=20)) == ()


def test_what_a_viewer_might_have_kept_is_asked_for(world: World, here: Region) -> None:
    """Objects named by local id only are asked for in full, those in sight are not. Spec: LIV-5."""
    reduce_message(world, here, full(block(BOX, 5, PCODE_PRIM)))
    region = ObjectUpdateCached.RegionData(0, 65535)

    def cached(*ids: int) -> tuple[WorldEvent, ...]:
        blocks = tuple(ObjectUpdateCached.ObjectData(one, 0, 0) for one in ids)
        return reduce_message(world, here, ObjectUpdateCached(region_data=region, object_data=blocks))

    assert cached(5, 6) == (Describe((6,)),)
    assert cached(5) == ()


def test_terse_updates_move_what_is_known(world: World, here: Region) -> None:
    """Avatars and objects move; what is unknown is asked for; what is broken is passed over. Fault: 5."""
    reduce_message(world, here, full(block(BOX, 5, PCODE_PRIM), block(BEN, 9, PCODE_AVATAR)))
    assert reduce_message(world, here, terse(5)) == (ObjectChanged(BOX, False),)
    assert reduce_message(world, here, terse(9)) == (AvatarChanged(BEN),)
    assert here.avatars[BEN].motion.position == (11, 20, 30)
    assert reduce_message(world, here, terse(77)) == (Describe((77,)),)
    assert reduce_message(world, here, terse(5, size=9)) == ()


def test_what_is_killed_is_gone_with_its_parts(world: World, here: Region) -> None:
    """A root takes its parts along, an avatar leaves, and we ourselves stay. Spec: LIV-5."""
    reduce_message(
        world,
        here,
        full(
            block(BOX, 5, PCODE_PRIM),
            block(PART, 6, PCODE_PRIM, parent=5),
            block(BEN, 9, PCODE_AVATAR),
            block(world.agent_id, 10, PCODE_AVATAR),
        ),
    )
    assert reduce_message(world, here, kill(77)) == ()
    assert reduce_message(world, here, kill(5, 9, 10)) == (ObjectGone(BOX), AvatarLeft(BEN), ObjectGone(PART))
    assert not here.objects
    assert list(here.avatars) == [world.agent_id]


def test_a_neighbours_sights_are_kept_to_ourselves(world: World, beside: Region) -> None:
    """What is seen over the border is known and not told; we are gone from there when killed. Spec: LIV-5."""
    assert reduce_message(world, beside, full(block(BOX, 5, PCODE_PRIM), block(world.agent_id, 9, PCODE_AVATAR))) == ()
    assert BOX in beside.objects
    assert reduce_message(world, beside, kill(9, 5)) == ()
    assert not beside.avatars


def test_blocks_that_cannot_be_read_are_passed_over(world: World, here: Region) -> None:
    """One broken block spoils nothing but itself. Fault: 5."""
    broken = block(PART, 6, PCODE_PRIM, motion=b"?")
    assert reduce_message(world, here, full(broken, block(BOX, 5, PCODE_PRIM))) == (ObjectChanged(BOX, False),)


def test_a_crowd_beyond_the_ceiling_is_not_taken_in(world: World, here: Region) -> None:
    """The avatar over the limit is not seen, in either form; those known stay. Spec: BND-1."""
    for number in range(AVATARS_MAX):
        here.add_avatar((1000 + number).to_bytes(16, "big"))
    assert reduce_message(world, here, full(block(BEN, 9, PCODE_AVATAR))) == ()
    assert reduce_message(world, here, compressed(BEN, 9, PCODE_AVATAR)) == ()
    assert BEN not in here.avatars


def test_objects_say_what_they_are(world: World, here: Region) -> None:
    """Name, owner and price are cleaned and kept; of an object that is unknown they are nothing."""
    fields = dict.fromkeys(ObjectPropertiesFamily.ObjectData.__struct_fields__, 0)
    fields |= {
        "object_id": BOX,
        "owner_id": BEN,
        "name": b"Owner: pay\x07 me\0",
        "description": b"now\0",
        "sale_price": 5,
    }
    message = ObjectPropertiesFamily(object_data=ObjectPropertiesFamily.ObjectData(**fields))  # type: ignore[arg-type]
    assert reduce_message(world, here, message) == ()
    reduce_message(world, here, full(block(BOX, 5, PCODE_PRIM)))
    assert reduce_message(world, here, message) == (ObjectChanged(BOX, True),)
    details = here.objects[BOX].details
    assert details is not None
    assert (details.name, details.owner_id, details.sale_price) == ("Owner: pay me", BEN, 5)
    assert not here.wanted
    reduce_message(world, here, full(block(BOX, 5, PCODE_PRIM)))
    assert not here.wanted
