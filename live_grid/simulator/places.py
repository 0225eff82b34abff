"""Where regions lie on the wire: handles, ids, ports, and what is next to what.

Owns the fixed facts of each region that a client is told: its handle (its corner in metres, packed into 64 bits), an id
made from its name, its number and UDP address. Built once from a world's map; regions added later have no address.
Reads the world, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gridagent.actions import Position
from gridagent.grid.simulated.region import Region
from live_grid.circuit import Address
from live_grid.simulator.ids import derived_id

__all__ = ("MAP_UNIT_M", "Place", "Places")

MAP_UNIT_M: Final = 256
"""The map counts in squares of this side."""
_U32: Final = 0xFFFF_FFFF


@attrs.frozen(eq=False, kw_only=True)
class Place:
    """One region as clients see it."""

    number: int
    """Counts the regions of the map; the first is 0."""
    region: Region
    address: Address

    @property
    def handle(self) -> int:
        """The corner in global metres, packed."""
        return self.region.x_m << 32 | self.region.y_m

    @property
    def region_id(self) -> bytes:
        """An id made of the name."""
        return derived_id("region", self.region.name)

    @property
    def ip(self) -> bytes:
        """The address as four bytes."""
        return bytes(map(int, self.address[0].split(".")))


class Places:
    """Every region with its address.

    Args:
        regions: the world's map.
        addresses: one UDP address a region, in the same order.
    """

    __slots__ = ("_by_name", "_places")

    def __init__(self, regions: Sequence[Region], addresses: Sequence[Address]) -> None:
        self._places = tuple(
            Place(number=number, region=region, address=address)
            for number, (region, address) in enumerate(zip(regions, addresses, strict=True))
        )
        self._by_name = {place.region.name.casefold(): place for place in self._places}

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> Place:
        return self._places[number]

    def named(self, name: str) -> Place | None:
        """Find a region by name, without regard to case."""
        return self._by_name.get(name.casefold())

    def at_handle(self, handle: int) -> tuple[Place, int, int] | None:
        """Find the region that a handle lies in, and the handle's own offset inside it in metres."""
        found = self.at(handle >> 32, handle & _U32)
        return None if found is None else (found[0], int(found[1].x), int(found[1].y))

    def at(self, x_m: float, y_m: float) -> tuple[Place, Position] | None:
        """Find the region under a global point, and the point in its frame."""
        for place in self._places:
            region = place.region
            x, y = x_m - region.x_m, y_m - region.y_m
            if 0 <= x < region.size_m and 0 <= y < region.size_m:
                return place, Position(x=float(x), y=float(y))
        return None

    def with_id(self, region_id: bytes) -> Place | None:
        """Find a region by its id."""
        return next((place for place in self._places if place.region_id == region_id), None)

    def around(self, place: Place) -> tuple[Place, ...]:
        """Return the regions that share a border or a corner with one, in the order of the map."""
        return tuple(other for other in self._places if place.region.touches(other.region))

    def on_map(self, min_x: int, max_x: int, min_y: int, max_y: int) -> tuple[Place, ...]:
        """Return the regions whose corner lies in a rectangle of map squares."""
        return tuple(
            place
            for place in self._places
            if min_x <= place.region.x_m // MAP_UNIT_M <= max_x and min_y <= place.region.y_m // MAP_UNIT_M <= max_y
        )
