"""Regions of any size, laid out on one metre grid.

Owns where regions lie, what is in each and which parcel a point belongs to. A region's corner has global
metre coordinates, positions of bodies and objects are in its own frame; sizes other than 256 m are as
good as any (Spec: LIV-5). Spatial questions look at one region only, so that a world of a thousand
regions costs no more an avatar than a world of one. Invariant: no two regions overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

import attrs

from gridagent.actions import Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.grid.simulated.parcels import Parcel
from gridagent.ids import AvatarId, ObjectId

if TYPE_CHECKING:
    from gridagent.grid.simulated.avatars import Avatar
    from gridagent.grid.simulated.objects import GridObject

__all__ = ("GROUND_M", "REGIONS_MAX", "Atlas", "Region", "above_ground")

GROUND_M: Final = 22.0
"""Height of the ground everywhere: the simulated world is flat."""
REGIONS_MAX: Final = 4_096
_PARCELS_MAX: Final = 256
_EDGE_M: Final = 0.5


def above_ground(position: Position) -> Position:
    """Return the point, lifted to the ground if it lies below."""
    return Position(x=float(position.x), y=float(position.y), z=max(float(position.z), GROUND_M))


@attrs.define(eq=False, kw_only=True)
class Region:
    """One region; ``x_m`` and ``y_m`` are the global metre coordinates of its south-west corner."""

    SIZE_MAX: ClassVar[int] = 8_192
    """Longest side, in metres."""

    name: str
    x_m: int
    y_m: int
    size_m: int
    owner_id: AvatarId
    capacity: int = 100
    prim_limit: int = 15_000
    up: bool = True
    """False while it restarts: nobody is in it and nobody gets in."""
    restarting: bool = False
    """A restart is announced."""
    prims: int = 0
    """Prims that stand in it now."""
    parcels: list[Parcel] = attrs.field(factory=list)
    avatars: dict[AvatarId, Avatar] = attrs.field(factory=dict)
    """Who is here, in the order in which they came."""
    objects: dict[ObjectId, GridObject] = attrs.field(factory=dict)
    listeners: dict[ObjectId, GridObject] = attrs.field(factory=dict)
    """The objects with a script, which hear what is said near them."""

    def contains(self, position: Position) -> bool:
        """Tell whether a point of the region frame lies inside."""
        return 0 <= position.x < self.size_m and 0 <= position.y < self.size_m

    def clamp(self, position: Position) -> Position:
        """Return the nearest point of this region on the ground."""
        highest = self.size_m - _EDGE_M
        x, y = (float(min(max(part, _EDGE_M), highest)) for part in (position.x, position.y))
        return Position(x=x, y=y, z=GROUND_M)

    def centre(self) -> Position:
        """Return the middle of the region, where people arrive who name no point."""
        return Position(x=self.size_m / 2, y=self.size_m / 2, z=GROUND_M)

    def to_global(self, position: Position) -> tuple[float, float]:
        """Return the global metre coordinates of a point of the region frame."""
        return self.x_m + position.x, self.y_m + position.y

    def parcel_at(self, position: Position) -> Parcel:
        """Return the parcel under a point; a point outside belongs to the region's first parcel."""
        for parcel in reversed(self.parcels):
            if parcel.covers(position):
                return parcel
        return self.parcels[0]

    def add_parcel(self, parcel: Parcel) -> None:
        """Lay a parcel over what was there.

        Raises:
            LimitExceeded: the region has 256 parcels already.
        """
        if len(self.parcels) >= _PARCELS_MAX:
            raise LimitExceeded(f"parcels of region {self.name}", allowed=_PARCELS_MAX)
        self.parcels.append(parcel)
        for one in self.parcels:
            one.prims = 0
        for thing in self.objects.values():
            self.parcel_at(thing.position).prims += thing.thing.prims

    def has_prims(self, prims: int) -> bool:
        """Tell whether so many more prims fit."""
        return self.prims + prims <= self.prim_limit

    def has_room(self) -> bool:
        """Tell whether one more avatar may come in."""
        return len(self.avatars) < self.capacity

    def touches(self, other: Region) -> bool:
        """Tell whether two regions share a border or a corner."""
        return (
            other is not self
            and self.x_m <= other.x_m + other.size_m
            and other.x_m <= self.x_m + self.size_m
            and self.y_m <= other.y_m + other.size_m
            and other.y_m <= self.y_m + self.size_m
        )

    def overlaps(self, other: Region) -> bool:
        """Tell whether two regions lie on common ground."""
        return (
            self.x_m < other.x_m + other.size_m
            and other.x_m < self.x_m + self.size_m
            and self.y_m < other.y_m + other.size_m
            and other.y_m < self.y_m + self.size_m
        )


class Atlas:
    """Every region of a world, by name without regard to case, as the grid's map has it."""

    __slots__ = ("_by_name",)

    def __init__(self) -> None:
        self._by_name: dict[str, Region] = {}

    def __iter__(self) -> Iterator[Region]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, name: str) -> Region | None:
        """Return the region of that name, or None."""
        return self._by_name.get(name.casefold())

    def add(self, region: Region) -> None:
        """Put a region on the map.

        Raises:
            OperatorError: the name is taken, or the ground is.
            LimitExceeded: the map is full.
        """
        if len(self._by_name) >= REGIONS_MAX:
            raise LimitExceeded("regions of the simulated world", allowed=REGIONS_MAX)
        if region.name.casefold() in self._by_name:
            raise OperatorError(f"region {region.name!r} is there already; choose another name")
        for other in self:
            if region.overlaps(other):
                raise OperatorError(
                    f"region {region.name!r} at ({region.x_m}, {region.y_m}) with {region.size_m} m overlaps "
                    f"{other.name!r} at ({other.x_m}, {other.y_m}) with {other.size_m} m; move one of them"
                )
        self._by_name[region.name.casefold()] = region

    def at(self, x_m: float, y_m: float) -> Region | None:
        """Return the region under a global point, or None over the void."""
        for region in self:
            if region.x_m <= x_m < region.x_m + region.size_m and region.y_m <= y_m < region.y_m + region.size_m:
                return region
        return None

    def neighbours(self, region: Region) -> tuple[Region, ...]:
        """Return the regions that share a border or a corner with this one, in the order of the map."""
        return tuple(other for other in self if region.touches(other))

    def first_open(self) -> Region | None:
        """Return the first region that is up and has room: where people go whose own region is down."""
        return next((region for region in self if region.up and region.has_room()), None)
