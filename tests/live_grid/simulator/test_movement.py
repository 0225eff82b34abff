"""From keys and headings to where a body is to go."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Position
from live_grid.simulator.movement import Steering, aim, direction_of, point_of

FORWARD, BACK, LEFT, RIGHT = 1, 2, 4, 8


@pytest.mark.parametrize(
    ("heading", "keys", "east", "north"),
    [
        (0.0, FORWARD, 1, 0),
        (90.0, FORWARD, 0, 1),
        (0.0, BACK, -1, 0),
        (0.0, LEFT, 0, 1),
        (0.0, RIGHT, 0, -1),
        (0.0, FORWARD | LEFT, math.sqrt(0.5), math.sqrt(0.5)),
        (180.0, 0x8_0000, -1, 0),
    ],
)
def test_keys_lead_where_the_avatar_looks(heading: float, keys: int, east: float, north: float) -> None:
    """Heading 0 is east, 90 north; keys and nudges lead ahead, back and aside. Spec: LIV-7."""
    direction = direction_of(heading, keys)
    assert direction is not None
    assert direction == pytest.approx((east, north), abs=1e-9)


def test_keys_that_cancel_lead_nowhere() -> None:
    """Forward and back, or none at all, are no direction."""
    assert direction_of(30.0, FORWARD | BACK) is None
    assert direction_of(30.0, 0x2000) is None


@given(st.floats(0, 256), st.floats(0, 256), st.floats(0, 360), st.sampled_from([FORWARD, LEFT, FORWARD | RIGHT]))
def test_every_direction_meets_the_border(x: float, y: float, heading: float, keys: int) -> None:
    """From anywhere, the walk ends inside the region at its edge, and what is meant lies beyond. Spec: LIV-7."""
    direction = direction_of(heading, keys)
    assert direction is not None
    target, beyond = aim(Position(x=x, y=y), direction, 256)
    assert 0.5 <= target.x <= 255.5
    assert 0.5 <= target.y <= 255.5
    assert min(target.x - 0.5, 255.5 - target.x, target.y - 0.5, 255.5 - target.y) < 1e-6
    assert not (1.0 < beyond[0] < 255.0 and 1.0 < beyond[1] < 255.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 9_000.0])
def test_a_point_that_is_none_is_refused(bad: float) -> None:
    """Numbers that are no number, or further off than any region, never reach the world. Spec: LIV-3."""
    assert point_of(1.0, bad, 3.0) is None
    assert point_of(1.0, 2.0, 3.0) == Position(x=1.0, y=2.0, z=3.0)


def test_a_border_can_be_forgotten() -> None:
    """A walk that ends otherwise means no crossing any more."""
    steering = Steering(border=Position(x=1.0, y=1.0), beyond=(2.0, 2.0))
    steering.forget_border()
    assert (steering.border, steering.beyond) == (None, None)
