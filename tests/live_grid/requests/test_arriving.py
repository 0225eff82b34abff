"""To be let into a region."""

from __future__ import annotations

import struct

from benchmarks.captures import datagrams
from live_grid.messages.circuits import AgentThrottle, CompleteAgentMovement, UseCircuitCode
from live_grid.messages.parcels import ParcelPropertiesRequest
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.requests import Confirmation, Identity, arriving


def test_the_opening_is_what_a_recorded_viewer_sent(travel) -> None:
    """Code and movement of a login that worked, field by field. Spec: LIV-7."""
    recorded = [decode_packet_untrusted(one.data) for one in datagrams("crossing_on_foot") if not one.from_simulator]
    code, movement = (
        read_message_untrusted(next(packet for packet in recorded if packet.name == name))
        for name in ("UseCircuitCode", "CompleteAgentMovement")
    )
    assert isinstance(code, UseCircuitCode)
    assert isinstance(movement, CompleteAgentMovement)
    block = code.circuit_code
    who = Identity(agent_id=block.id, session_id=block.session_id, circuit_code=block.code, name="Bot Avatar")
    assert travel(arriving.open_circuit(who)) == (code,)
    assert travel(arriving.complete_movement(who)) == (movement,)


def test_everything_of_an_arrival_travels(me: Identity, travel) -> None:
    """Each request is reliable, names its confirmation, and goes out as the session's own. Spec: LIV-7."""
    for request, confirmation in (
        (arriving.reply_to_handshake(me), Confirmation.DELIVERED),
        (arriving.ask_own_name(me), Confirmation.NAMES),
        (arriving.ask_region_info(me), Confirmation.REGION),
        (arriving.log_out(me), Confirmation.LOGOUT_REPLY),
    ):
        (message,) = travel(request)
        assert message.agent_data == me.session
        assert request.reliable
        assert request.confirmed_by is confirmation


def test_the_throttle_is_seven_numbers(me: Identity, travel) -> None:
    """Bits a second, small ones for what a bot does not look at."""
    (message,) = travel(arriving.set_throttle(me, 3))
    assert isinstance(message, AgentThrottle)
    shares = struct.unpack("<7f", message.throttle.throttles)
    assert message.throttle.gen_counter == 3
    assert max(shares) == shares[4]


def test_a_parcel_is_asked_for_by_the_square_we_stand_on(me: Identity, travel) -> None:
    """Parcels are made of squares of four metres."""
    (message,) = travel(arriving.ask_parcel(me, 101.5, 7.9, 5))
    assert isinstance(message, ParcelPropertiesRequest)
    data = message.parcel_data
    assert (data.sequence_id, data.west, data.south, data.east, data.north) == (5, 100, 4, 104, 8)
