"""Avatars and objects as the wire shows them, against recorded updates and the client's own readers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.captures import all_datagrams
from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from live_grid.messages import text_of
from live_grid.messages.objects import ImprovedTerseObjectUpdate, ObjectUpdate, ObjectUpdateCompressed
from live_grid.packet import decode_packet_untrusted, encode_message, read_message_untrusted
from live_grid.simulator import scene
from live_grid.simulator.ids import wire_id


def recorded(kind: type, size: int = 0) -> object:
    """Return the first block of a kind that a real server sent, with data of a size if one is given."""
    for datagram in all_datagrams():
        packet = decode_packet_untrusted(datagram.data)
        if datagram.from_simulator and packet.name == kind.__name__:
            block = read_message_untrusted(packet).object_data[0]
            if not size or len(block.data) == size:
                return block
    raise AssertionError(f"no {kind.__name__} was recorded")


@given(st.floats(0.0, 359.99))
def test_headings_survive_the_wire(heading: float) -> None:
    """Written as a quaternion without its w and read again, a heading is the same. Spec: LIV-5."""
    x, y, z, w = scene.rotation_of(heading)
    assert w >= 0
    read = scene.heading_of(*struct.unpack("<3f", struct.pack("<3f", x, y, z)))
    assert read is not None
    assert abs((read - heading + 180) % 360 - 180) < 0.05


@pytest.mark.parametrize("bad", [(float("nan"), 0.0, 0.0), (1.0, 1.0, 0.0), (float("inf"), 0.0, 0.0)])
def test_what_is_no_rotation_is_no_heading(bad: tuple[float, float, float]) -> None:
    """Numbers of no unit quaternion are refused. Spec: LIV-3."""
    assert scene.heading_of(*bad) is None


def test_an_avatar_is_shown_as_a_recorded_one(world: World) -> None:
    """The same codes and sizes, its name in the name values, its middle above its feet. Spec: LIV-5, LIV-15."""
    ben = Witness(world, world.avatars()[1])
    avatar = world.avatar(ben.avatar_id)
    ours = scene.avatar_block(avatar, avatar.body, world.now, local_id=7)
    theirs = recorded(ObjectUpdate)
    assert (ours.pcode, ours.material, len(ours.object_data)) == (
        theirs.pcode,
        theirs.material,
        len(theirs.object_data),
    )
    assert (
        text_of(ours.name_value) == "FirstName STRING RW SV Ben\nLastName STRING RW SV Bystander\nTitle STRING RW SV "
    )
    assert struct.unpack_from("<3f", ours.object_data, 16) == pytest.approx((100.0, 100.0, 22.95))
    assert (ours.id, ours.full_id, ours.parent_id) == (7, wire_id(ben.avatar_id), 0)


def test_a_seated_avatar_has_a_parent(world: World) -> None:
    """And stands nowhere but there. Spec: LIV-5."""
    ben = Witness(world, world.avatars()[1])
    bench = next(iter(world.regions()[0].objects))
    ben.do(asked.SitOn(object_id=bench))
    avatar = world.avatar(ben.avatar_id)
    block = scene.avatar_block(avatar, avatar.body, world.now, local_id=7, seat=3)
    assert (block.parent_id, struct.unpack_from("<3f", block.object_data, 16)) == (3, (0.0, 0.0, 0.0))


def test_a_walk_shows_its_speed(world: World) -> None:
    """While it lasts, in full and terse updates. Spec: LIV-5."""
    ben = Witness(world, world.avatars()[1])
    world.perform(ben.avatar_id, asked.WalkTo(position=Position(x=132.0, y=100.0)), world.now)
    ben.pass_time(5.0)
    avatar = world.avatar(ben.avatar_id)
    block = scene.avatar_block(avatar, avatar.body, world.now, local_id=7)
    assert struct.unpack_from("<6f", block.object_data, 16) == pytest.approx((116.0, 100.0, 22.95, 3.2, 0.0, 0.0))
    terse = scene.terse_block(avatar.body, world.now, local_id=7)
    assert len(terse.data) == len(recorded(ImprovedTerseObjectUpdate, 60).data)
    number, state, of_avatar = struct.unpack_from("<IBB", terse.data)
    assert (number, state, of_avatar) == (7, 0, 1)
    x, y, z, vx, vy, vz = struct.unpack_from("<3f3H", terse.data, 22)
    assert (x, y, z) == pytest.approx((116.0, 100.0, 22.95))
    assert (vx / 0xFFFF * 256 - 128, vy / 0xFFFF * 256 - 128) == pytest.approx((3.2, 0.0), abs=0.01)
    assert scene._velocity(avatar.body, world.now + 60.0) == (0.0, 0.0, 0.0)
    assert vz == 0x8000


def test_what_may_be_done_with_an_object_is_in_its_flags(world: World) -> None:
    """Owner's rights, touch, money, and what a click does. Spec: LIV-5."""
    ada, ben = world.avatars()[:2]
    bench, bell, jar, book = world.regions()[0].objects.values()
    clicks = [scene.object_block(thing, ada, local_id=1).click_action for thing in (bench, bell, jar, book)]
    assert clicks == [1, 0, 3, 2]
    seen = scene.object_block(bell, ada, local_id=1).update_flags
    own = scene.object_block(bell, ben, local_id=1, selected=True).update_flags
    assert seen & 0x80
    assert not seen & 0x20
    assert own & 0x20
    assert own & 0x4
    assert own & scene.CREATE_SELECTED
    assert scene.object_block(jar, ada, local_id=1).update_flags & 0x200
    bell.script = lambda event: None
    assert scene.object_block(bell, ada, local_id=1).update_flags & 0x40


def test_a_packed_object_is_like_a_recorded_one(world: World) -> None:
    """The same length and layout: head, shape and textures. Spec: LIV-5, LIV-15."""
    ben = world.avatars()[1]
    bench = next(iter(world.regions()[0].objects.values()))
    ours, theirs = scene.compressed_block(bench, ben, local_id=9).data, recorded(ObjectUpdateCompressed).data
    assert len(ours) == len(theirs)
    assert ours[:16] == wire_id(bench.object_id)
    assert struct.unpack_from("<I", ours, 16) == (9,)
    assert ours[20] == theirs[20] == 9
    assert struct.unpack_from("<3f", ours, 40) == (101.0, 100.0, 22.0)
    assert ours[84:] == theirs[84:]  # no extra parameters, a box, plywood all over


def test_a_checksum_changes_with_what_is_seen(world: World) -> None:
    """So that a client with an old copy asks again. Spec: LIV-5."""
    bench = next(iter(world.regions()[0].objects.values()))
    before = scene.checksum(bench)
    block = scene.cached_block(bench, world.avatars()[0], local_id=4)
    assert (block.id, block.crc) == (4, before)
    bench.position = Position(x=1.0, y=1.0, z=22.0)
    assert scene.checksum(bench) != before


def test_every_update_fits_a_datagram(world: World) -> None:
    """Three objects in full, four packed, forty by checksum. Spec: LIV-15."""
    ben = world.avatars()[1]
    things = list(world.regions()[0].objects.values())[:4]
    full = scene.full(1, [scene.object_block(thing, ben, local_id=1) for thing in things[:3]])
    packed = scene.update_compressed(1, [scene.compressed_block(thing, ben, local_id=1) for thing in things])
    cached = scene.update_cached(1, [scene.cached_block(things[0], ben, local_id=1)] * 40)
    for message in (full, packed, cached, scene.kill(range(200)), scene.properties(things[0], 0)):
        assert len(encode_message(message).data) < 1_190


def test_properties_tell_name_owner_and_price(world: World) -> None:
    """What is sold is a copy. Spec: LIV-5."""
    bench, _, _, book = world.regions()[0].objects.values()
    told = scene.properties(book, 3).object_data
    assert (text_of(told.name), told.owner_id, told.sale_price, told.sale_type) == (
        "Book",
        wire_id(book.owner_id),
        10,
        2,
    )
    assert scene.properties(bench, 0).object_data.sale_type == 0
