"""Messages about regions."""

from __future__ import annotations

import msgspec

from benchmarks.captures import datagrams
from live_grid.messages.regions import MapBlockReply, RegionHandshake, RegionInfo
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.world import Region, World, reduce_message
from live_grid.world.events import MovementCompleted, RegionDescribed, RegionFound, RegionsFound


def first(name: str) -> object:
    """The first recorded message of a name."""
    for one in datagrams("two_clients"):
        packet = decode_packet_untrusted(one.data)
        if packet.name == name:
            return read_message_untrusted(packet)
    raise AssertionError(name)


def test_a_handshake_says_what_the_region_is(world: World, here: Region, beside: Region) -> None:
    """Name, flags and owner are kept; a neighbour's are told as such. Spec: LIV-5."""
    handshake = first("RegionHandshake")
    assert isinstance(handshake, RegionHandshake)
    assert reduce_message(world, here, handshake) == (RegionDescribed(True),)
    assert (here.name, here.described, here.access) == ("Testland", True, 13)
    assert here.region_id == handshake.region_info2.region_id
    assert reduce_message(world, beside, handshake) == (RegionDescribed(False),)


def test_region_info_stands_in_for_a_handshake(world: World, here: Region) -> None:
    """After a return some simulators send no handshake; the facts of the estate hold the name as well. Spec: LIV-5."""
    info = first("RegionInfo")
    assert isinstance(info, RegionInfo)
    assert reduce_message(world, here, info) == (RegionDescribed(True),)
    assert here.name == "Testland"
    assert reduce_message(world, here, info) == ()


def test_movement_complete_says_where_we_are(world: World, here: Region) -> None:
    """Position and handle come; a handle of nothing changes none."""
    done = first("AgentMovementComplete")
    (event,) = reduce_message(world, here, done)  # type: ignore[arg-type]
    assert isinstance(event, MovementCompleted)
    assert event.position[:2] == (128, 128)
    assert here.handle == event.handle == 256000 << 32 | 256000
    reduce_message(world, here, msgspec.structs.replace(done, data=msgspec.structs.replace(done.data, region_handle=0)))  # type: ignore[attr-defined]
    assert here.handle == event.handle


def test_the_map_answers_with_handles_and_an_end_mark(world: World, here: Region) -> None:
    """Rows count in 256 metres; the end mark repeats what was asked, and is no region. Spec: LIV-7."""
    reply = first("MapBlockReply")
    assert isinstance(reply, MapBlockReply)
    assert reduce_message(world, here, reply) == (
        RegionsFound((RegionFound("Testland", 256000 << 32 | 256000, 13, 0),), "Testland"),
    )
