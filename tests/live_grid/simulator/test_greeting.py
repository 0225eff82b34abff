"""What a region says about itself."""

from __future__ import annotations

from benchmarks.captures import datagrams
from gridagent.actions import Position
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from live_grid.messages import text_of
from live_grid.messages.notation import AgentSession
from live_grid.messages.regions import MapBlockReply, RegionHandshake, RegionInfo
from live_grid.packet import decode_packet_untrusted, encode_message, read_message_untrusted
from live_grid.simulator import greeting
from live_grid.simulator.ids import wire_id
from live_grid.simulator.places import Places

SESSION = AgentSession(bytes(15) + b"\1", bytes(15) + b"\2")


def places_of(world: World) -> Places:
    """Return the map with addresses."""
    return Places(world.regions(), [("127.0.0.1", 9_000 + number) for number, _ in enumerate(world.regions())])


def recorded(kind: type) -> object:
    """Return the first message of a kind that a real server sent."""
    for datagram in datagrams("return_teleport_new_socket"):
        packet = decode_packet_untrusted(datagram.data)
        if datagram.from_simulator and packet.name == kind.__name__:
            return read_message_untrusted(packet)
    raise AssertionError(f"no {kind.__name__} was recorded")


def test_the_handshake_is_like_a_recorded_one(world: World) -> None:
    """The same blocks and bits as OpenSimulator's, with our names. Spec: LIV-5, LIV-15."""
    place = places_of(world)[0]
    ours, theirs = greeting.handshake(place, world.avatars()[0]), recorded(RegionHandshake)
    assert text_of(ours.region_info.sim_name) == "Plaza"
    assert ours.region_info.is_estate_manager
    assert not greeting.handshake(place, world.avatars()[1]).region_info.is_estate_manager
    assert ours.region_info.region_flags == theirs.region_info.region_flags
    assert ours.region_info.sim_access == theirs.region_info.sim_access
    assert ours.region_info.water_height == theirs.region_info.water_height
    assert ours.region_info3 == theirs.region_info3
    assert ours.region_info4 == theirs.region_info4
    assert len(encode_message(ours).data) < 400


def test_estate_facts_are_like_recorded_ones(world: World) -> None:
    """Estate, limits and heights. Spec: LIV-5."""
    ours, theirs = greeting.region_info(SESSION, places_of(world)[0]), recorded(RegionInfo)
    for field in (
        "estate_id",
        "parent_estate_id",
        "sim_access",
        "water_height",
        "terrain_raise_limit",
        "price_per_meter",
    ):
        assert getattr(ours.region_info, field) == getattr(theirs.region_info, field)
    assert ours.region_info2.hard_max_objects == 15_000


def test_presence_says_where_and_since_when(world: World) -> None:
    """Position, handle, version. Spec: LIV-7."""
    place = places_of(world)[1]
    message = greeting.movement_complete(SESSION, place, Position(x=1.0, y=2.0, z=3.0), timestamp=5, version="v")
    assert message.data.position == (1.0, 2.0, 3.0)
    assert (message.data.region_handle, message.data.timestamp) == (256_256 << 32 | 256_000, 5)
    assert text_of(message.sim_data.channel_version) == "v"


def test_a_map_answer_is_like_a_recorded_one(world: World) -> None:
    """One block a region, an end mark under the name asked for, and the byte nobody's template knows. Spec: LIV-5."""
    (ours,) = greeting.map_reply(b"a" * 16, 2, [places_of(world)[0]], asked=b"pla\0", sizes=True)
    theirs = recorded(MapBlockReply)
    assert [block.access for block in ours.data] == [block.access for block in theirs.data]
    assert ours.extra == theirs.extra
    assert (ours.data[0].x, ours.data[0].y, text_of(ours.data[0].name)) == (1_000, 1_000, "Plaza")
    assert ours.data[1].name == b"pla\0"


def test_a_map_answer_names_sizes_where_they_differ(world: World) -> None:
    """Two numbers a region, after the known layout, where the family does so. Spec: LIV-5, LIV-15."""
    found = list(places_of(world))[:2]
    (reply,) = greeting.map_reply(b"a" * 16, 2, found, asked=None, sizes=True)
    assert reply.extra == b"\2" + b"\0\1\0\1" + b"\0\2\0\2"
    assert len(reply.data) == 2
    (reply,) = greeting.map_reply(b"a" * 16, 2, found, asked=None, sizes=False)
    assert reply.extra == b""


def test_a_large_map_comes_in_pieces_with_one_end(world: World) -> None:
    """Each fits a datagram; nothing found is an end mark alone. Spec: LIV-5."""
    for number in range(40):
        world.add_region(f"Row {number} {'x' * 60}", x_m=number * 256, y_m=0)
    replies = list(greeting.map_reply(b"a" * 16, 2, list(places_of(world)), asked=b"\0", sizes=True))
    assert sum(len(reply.data) for reply in replies) == 43 + 1
    assert all(len(encode_message(reply).data) < 1_194 for reply in replies)
    (nothing,) = greeting.map_reply(b"a" * 16, 2, [], asked=b"none\0", sizes=True)
    assert [block.access for block in nothing.data] == [255]


def test_the_overlay_marks_owners_and_borders(world: World) -> None:
    """Four packets for a small region; one's own squares differ; a huge region has none. Spec: LIV-5."""
    ada, ben = world.avatars()[:2]
    plaza, annex, _ = world.regions()
    own = list(greeting.overlays(plaza, ada))
    assert [piece.parcel_data.sequence_id for piece in own] == [0, 1, 2, 3]
    assert own[0].parcel_data.data[:2] == bytes((3 | 0x40 | 0x80, 3 | 0x80))
    assert own[1].parcel_data.data[:2] == bytes((3 | 0x40, 3))
    assert next(greeting.overlays(plaza, ben)).parcel_data.data[1] == 1 | 0x80
    assert len(list(greeting.overlays(annex, ada))) == 16
    assert list(greeting.overlays(world.add_region("Huge", x_m=0, y_m=0, size_m=4_096), ada)) == []


def test_the_coarse_raster_shows_everybody_and_you(world: World) -> None:
    """Metres scaled to a byte, heights in fours; who is elsewhere sees no "you". Spec: LIV-5."""
    dan = Witness(world, world.avatars()[3])
    annex = world.regions()[1]
    seen = greeting.coarse_locations(annex, dan.avatar_id, world.now)
    assert [(one.x, one.y, one.z) for one in seen.location] == [(50, 50, 5)]
    assert seen.index.you == 0
    assert seen.agent_data[0].agent_id == wire_id(dan.avatar_id)
    assert greeting.coarse_locations(annex, world.avatars()[0], world.now).index.you == -1


def test_an_avatar_plays_standing_and_its_own(world: World) -> None:
    """Numbered in order; one that is away just stands. Spec: LIV-6."""
    ben = Witness(world, world.avatars()[1])
    body = world.avatar(ben.avatar_id).body
    body.animations["00000000-0000-4000-8000-0000000000c1"] = None
    playing = greeting.standing(world.avatar(ben.avatar_id))
    assert [one.anim_sequence_id for one in playing.animation_list] == [1, 2]
    assert len(greeting.standing(world.avatar(world.avatars()[0])).animation_list) == 1
