"""Where to log in: the last place, home, or a named place in a region.

Owns the one text form that grids take for it. What an operator writes is checked here, before a login is
spent on it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from live_grid.errors import LocalProtocolError

__all__ = ("HOME", "LAST", "StartLocation", "parse_start", "start_at")

_REGION_MAX_CHARACTERS: Final = 128
_COORDINATE_MAX: Final = 65_535
_PLACE: Final = re.compile(r"uri:([^&]+)&(\d{1,5})&(\d{1,5})&(\d{1,5})", re.ASCII)


class StartLocation(msgspec.Struct, frozen=True, kw_only=True):
    """A place to log in at; ``text`` is what the grid is told."""

    text: str


LAST: Final = StartLocation(text="last")
HOME: Final = StartLocation(text="home")


def start_at(region: str, x: int, y: int, z: int) -> StartLocation:
    """Name a place in a region.

    Args:
        region: its name; OpenSimulator also takes addresses of other grids here.
        x: metres from the region's western border.
        y: metres from its southern border.
        z: metres above its zero.

    Raises:
        LocalProtocolError: the name cannot be written, or a coordinate is out of any region.
    """
    if not region.strip() or len(region) > _REGION_MAX_CHARACTERS or "&" in region or not region.isprintable():
        raise LocalProtocolError("a start location names a region of 1 to 128 printable characters without '&'")
    if not all(0 <= at <= _COORDINATE_MAX for at in (x, y, z)):
        raise LocalProtocolError(f"a start location lies between 0 and {_COORDINATE_MAX} metres in each direction")
    return StartLocation(text=f"uri:{region}&{x}&{y}&{z}")


def parse_start(text: str) -> StartLocation:
    """Read what an operator wrote: ``last``, ``home`` or ``uri:Region&x&y&z``.

    Raises:
        LocalProtocolError: it is none of them.
    """
    if text in {LAST.text, HOME.text}:
        return StartLocation(text=text)
    found = _PLACE.fullmatch(text)
    if found is None:
        raise LocalProtocolError("a start location is 'last', 'home' or 'uri:Region&x&y&z' with whole metres")
    return start_at(found[1], int(found[2]), int(found[3]), int(found[4]))
