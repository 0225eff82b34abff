"""To go elsewhere, and to bring others here."""

from __future__ import annotations

from benchmarks.captures import datagrams
from live_grid.messages.travel import TeleportLocationRequest
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.requests import Confirmation, Identity, travelling

BEN = bytes(15) + b"\x02"
LURE = bytes(15) + b"\x99"


def test_a_teleport_is_what_a_recorded_viewer_asked_for(travel) -> None:
    """A request that was granted, field by field. Spec: LIV-7."""
    packets = map(decode_packet_untrusted, (one.data for one in datagrams("two_clients")))
    asked = read_message_untrusted(next(packet for packet in packets if packet.name == "TeleportLocationRequest"))
    assert isinstance(asked, TeleportLocationRequest)
    session = asked.agent_data
    who = Identity(agent_id=session.agent_id, session_id=session.session_id, circuit_code=1, name="Bot Avatar")
    info = asked.info
    assert travel(travelling.teleport(who, info.region_handle, info.position, info.look_at)) == (asked,)


def test_home_is_the_landmark_of_nothing(me: Identity, travel) -> None:
    """A nil landmark; cancelling names the session."""
    assert travel(travelling.teleport_home(me))[0].info.landmark_id == bytes(16)
    assert travel(travelling.cancel_teleport(me))[0].info.session_id == me.session_id


def test_lures_are_taken_declined_and_made(me: Identity, travel) -> None:
    """Under the number they came with. Spec: LIV-6."""
    info = travel(travelling.accept_lure(me, LURE))[0].info
    assert (info.lure_id, info.teleport_flags) == (LURE, 4)
    block = travel(travelling.decline_lure(me, BEN, LURE))[0].message_block
    assert (block.dialog, block.id, block.to_agent_id) == (24, LURE, BEN)
    lure = travel(travelling.invite(me, BEN, "Come"))[0]
    assert (lure.info.message, lure.target_data[0].target_id) == (b"Come\0", BEN)
    block = travel(travelling.ask_to_come(me, BEN, "May I?"))[0].message_block
    assert (block.dialog, block.message) == (26, b"May I?\0")


def test_the_map_is_asked_by_name_and_by_place(me: Identity, travel) -> None:
    """Handles become units of 256 metres. Spec: LIV-7."""
    request = travelling.find_region(me, "Plaza")
    named = travel(request)[0]
    assert (named.agent_data.flags, named.name_data.name) == (2, b"Plaza\0")
    assert request.confirmed_by is Confirmation.MAP
    place = travel(travelling.find_region_at(me, 256256 << 32 | 256000))[0].position_data
    assert (place.min_x, place.max_x, place.min_y, place.max_y) == (1001, 1001, 1000, 1000)
