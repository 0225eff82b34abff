"""What we do with our body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.messages.avatars import AgentUpdate
from live_grid.packet import encode_packet
from live_grid.requests import Confirmation, Identity, moving
from live_grid.requests.moving import Keys
from live_grid.world.packed import heading_of, rotation_of

ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")


@given(st.floats(0, 359.99))
def test_a_heading_is_read_as_it_was_written(heading: float) -> None:
    """East is 0 and north is 90, for whoever reads the rotation. Spec: LIV-7."""
    request = moving.update_agent(ME, position=(1.0, 2.0, 3.0), heading_deg=heading, far=64.0)
    (message,) = request.messages
    assert isinstance(message, AgentUpdate)
    off = abs((heading_of(rotation_of(*message.agent_data.body_rotation)) - heading + 180) % 360 - 180)
    assert off < 0.01
    assert not request.reliable
    assert encode_packet(message, sequence=1)


def test_keys_and_typing_are_told(me: Identity, travel) -> None:
    """What is held down, how far we see, and whether we type."""
    keys = Keys.FORWARD | Keys.FLY
    request = moving.update_agent(me, position=(1.0, 2.0, 3.0), heading_deg=90, keys=keys, far=96.0, typing=True)
    data = travel(request)[0].agent_data
    assert (data.control_flags, data.far, data.state) == (0x2001, 96.0, 4)
    assert data.camera_at_axis == pytest.approx((0, 1, 0), abs=1e-6)


def test_the_simulator_can_walk_us(me: Identity, travel) -> None:
    """Three texts in the grid's own metres."""
    (message,) = travel(moving.autopilot(me, 256128.5, 256000, 25))
    assert message.method_data.method == b"autopilot\0"
    assert [row.parameter for row in message.param_list] == [b"256128.500\0", b"256000.000\0", b"25.000\0"]


def test_the_smaller_deeds_travel(me: Identity, travel) -> None:
    """Sit, touch, animate, home: each with what confirms it."""
    seat = bytes(15) + b"\x07"
    assert travel(moving.ask_seat(me, seat))[0].target_object.target_id == seat
    assert travel(moving.take_seat(me))[0].agent_data == me.session
    down, up = travel(moving.touch(me, 5))
    assert down.object_data.local_id == up.object_data.local_id == 5
    for playing in (True, False):
        request = moving.animate(me, seat, playing=playing)
        (entry,) = travel(request)[0].animation_list
        assert (entry.anim_id, entry.start_anim) == (seat, playing)
        assert request.confirmed_by is Confirmation.ANIMATIONS
    place = travel(moving.set_home(me, (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)))[0].start_location_data
    assert (place.location_id, place.location_pos) == (1, (1.0, 2.0, 3.0))
