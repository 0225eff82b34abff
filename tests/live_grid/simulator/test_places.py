"""Where regions lie on the wire."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.grid.simulated import World
from live_grid.simulator.places import Places

ADDRESSES = [("127.0.0.1", 9_000), ("127.0.0.1", 9_001), ("127.0.0.1", 9_002)]


@pytest.fixture
def places(world: World) -> Places:
    """Return the map with addresses."""
    return Places(world.regions(), ADDRESSES)


def test_a_region_is_found_by_name_handle_and_id(places: Places) -> None:
    """Names without regard to case, handles with their offset, ids made of names. Spec: LIV-5."""
    annex = places.named("ANNEX")
    assert annex is places[1]
    assert annex.handle == 256_256 << 32 | 256_000
    assert annex.ip == b"\x7f\0\0\1"
    assert places.with_id(annex.region_id) is annex
    assert places.at_handle(annex.handle) == (annex, 0, 0)
    assert places.at_handle((256_256 + 256) << 32 | 256_000 + 256) == (annex, 256, 256)
    assert (len(places), places.named("Nowhere"), places.with_id(bytes(16)), places.at_handle(5)) == (
        3,
        None,
        None,
        None,
    )


def test_a_point_of_the_grid_belongs_to_the_region_under_it(places: Places) -> None:
    """East of the Plaza's border lies the Annex, over the void lies nothing. Spec: LIV-7."""
    assert places.at(256_256.5, 256_010.0) == (places[1], Position(x=0.5, y=10.0))
    assert places.at(255_999.0, 256_010.0) is None


def test_neighbours_touch_and_the_map_is_cut_by_squares(places: Places) -> None:
    """Plaza and Annex are neighbours, Far is nobody's; a rectangle of the map holds what begins in it. Spec: LIV-5."""
    plaza, annex, far = places
    assert places.around(plaza) == (annex,)
    assert places.around(far) == ()
    assert places.on_map(1_000, 1_001, 1_000, 1_000) == (plaza, annex)
    assert places.on_map(1_002, 1_003, 1_000, 1_000) == ()
