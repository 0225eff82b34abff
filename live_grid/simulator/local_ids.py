"""A region's numbers for what is in it.

Owns the alias that the wire uses for an avatar or object while it is in a region; the id stays, the number
may be another when somebody comes back. Bounded by what the region holds: numbers of what has gone are given up.
"""

from __future__ import annotations

from typing import Final

from gridagent.grid.simulated.region import Region

__all__ = ("LocalIds",)

_SLACK: Final = 256


class LocalIds:
    """The numbers of one region.

    Args:
        region: whose.
        first: the first number given out.
    """

    __slots__ = ("_ids", "_next", "_numbers", "_region")

    def __init__(self, region: Region, *, first: int) -> None:
        self._region = region
        self._next = first
        self._numbers: dict[str, int] = {}  # bounded in `of`
        self._ids: dict[int, str] = {}  # bounded in `of`

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, thing_id: str) -> int:
        """Return the number of an avatar or object, a new one if it has none."""
        number = self._numbers.get(thing_id)
        if number is None:
            if len(self._numbers) >= 2 * (len(self._region.avatars) + len(self._region.objects)) + _SLACK:
                self._give_up()
            number = self._next
            self._next += 1
            self._numbers[thing_id] = number
            self._ids[number] = thing_id
        return number

    def find(self, number: int) -> str | None:
        """Return what has a number."""
        return self._ids.get(number)

    def _give_up(self) -> None:
        here = {*self._region.avatars, *self._region.objects}
        self._numbers = {thing_id: number for thing_id, number in self._numbers.items() if thing_id in here}
        self._ids = {number: thing_id for thing_id, number in self._numbers.items()}
