"""From the keys that a client says are down to where the body is to go.

Owns the bits of an agent update and the geometry: a heading and keys give a direction, a direction gives a point at the
region's border and the point beyond it. The world walks straight segments; a body whose keys stay down walks to the
border and crosses. Pure: time and regions are arguments (Spec: LIV-7, LIV-15).
"""

from __future__ import annotations

import math
from typing import Final

import attrs

from gridagent.actions import Position

__all__ = ("SIT_ON_GROUND", "STAND_UP", "Steering", "aim", "direction_of", "point_of")

FORWARD, BACK, LEFT, RIGHT = 0x1, 0x2, 0x4, 0x8
STAND_UP: Final = 0x1_0000
SIT_ON_GROUND: Final = 0x2_0000
NUDGE_FORWARD, NUDGE_BACK, NUDGE_LEFT, NUDGE_RIGHT = 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000
_AHEAD: Final = ((FORWARD | NUDGE_FORWARD, 1.0), (BACK | NUDGE_BACK, -1.0))
_ASIDE: Final = ((LEFT | NUDGE_LEFT, 1.0), (RIGHT | NUDGE_RIGHT, -1.0))
_MARGIN_M: Final = 0.5
"""So near to its border a region lets a body stand."""
_BEYOND_M: Final = 2.0
_TINY: Final = 1e-9
_FARTHEST_M: Final = 8_192.0


@attrs.define(eq=False)
class Steering:
    """What a client last said about its movement."""

    heading_deg: float = 0.0
    keys: int = 0
    direction: tuple[float, float] | None = None
    beyond: tuple[float, float] | None = None
    """The global point that a walk to the border means, until the walk ends otherwise."""
    border: Position | None = None
    """Where that walk meets the border, in the region frame."""

    def forget_border(self) -> None:
        """Mean no crossing any more."""
        self.beyond = self.border = None


def direction_of(heading_deg: float, keys: int) -> tuple[float, float] | None:
    """Tell which way the keys lead, as a unit vector of east and north; None for no way."""
    ahead = sum(sign for mask, sign in _AHEAD if keys & mask)
    aside = sum(sign for mask, sign in _ASIDE if keys & mask)
    if not ahead and not aside:
        return None
    angle = math.radians(heading_deg) + math.atan2(aside, ahead)
    return math.cos(angle), math.sin(angle)


def aim(here: Position, direction: tuple[float, float], size_m: int) -> tuple[Position, tuple[float, float]]:
    """Follow a direction to the border.

    Args:
        here: in the region frame.
        direction: a unit vector.
        size_m: side of the region.

    Returns:
        The last point that a body can stand on, and the point a little beyond the border, both in the region frame.
    """
    x, y = here.x, here.y
    low, high = _MARGIN_M, size_m - _MARGIN_M
    steps = []
    for at, part in ((x, direction[0]), (y, direction[1])):
        if abs(part) > _TINY:
            steps.append(max(0.0, ((high if part > 0 else low) - at) / part))
    length = min(steps)
    target = Position(
        x=min(max(x + direction[0] * length, low), high), y=min(max(y + direction[1] * length, low), high), z=here.z
    )
    beyond = (x + direction[0] * (length + _BEYOND_M), y + direction[1] * (length + _BEYOND_M))
    return target, beyond


def point_of(x: float, y: float, z: float) -> Position | None:
    """Read a point from outside; None if it is none, or further away than any region reaches."""
    if not all(math.isfinite(part) and abs(part) <= _FARTHEST_M for part in (x, y, z)):
        return None
    return Position(x=x, y=y, z=z)
