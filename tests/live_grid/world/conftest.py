"""A world with one region we are in, and one beside it."""

from __future__ import annotations

import pytest

from live_grid.world import Region, World

ME = bytes(15) + b"\x01"


@pytest.fixture
def world() -> World:
    """A world of two regions; we are in the first."""
    found = World(ME, "Mia Mine")
    for place in (Region(handle=256000 << 32 | 256000), Region(handle=256256 << 32 | 256000)):
        found.open_region(place)
    found.enter(found.regions[0])
    return found


@pytest.fixture
def here(world: World) -> Region:
    """The region we are in."""
    return world.here


@pytest.fixture
def beside(world: World) -> Region:
    """The region beside it."""
    return world.regions[1]
