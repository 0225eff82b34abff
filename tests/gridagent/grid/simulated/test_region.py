"""Regions of any size on one metre grid."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.grid.simulated import Land, Thing, World
from gridagent.grid.simulated import region as region_module
from gridagent.grid.simulated.region import Atlas, Region
from gridagent.ids import NIL_UUID, AvatarId


def a_region(name: str, x_m: int, y_m: int, size_m: int) -> Region:
    """Return a region of nobody's."""
    return Region(name=name, x_m=x_m, y_m=y_m, size_m=size_m, owner_id=AvatarId(NIL_UUID))


def an_atlas() -> Atlas:
    """Return three regions of three sizes, side by side, and one apart."""
    atlas = Atlas()
    for name, x_m, y_m, size_m in (
        ("Small", 0, 0, 256),
        ("Medium", 256, 0, 512),
        ("Large", 0, 512, 768),
        ("Island", 5_000, 5_000, 256),
    ):
        atlas.add(a_region(name, x_m, y_m, size_m))
    return atlas


def test_regions_of_any_size_know_their_neighbours() -> None:
    """A border or a corner in common makes neighbours, whatever the sizes.

    Spec: SIM-1
    """
    atlas = an_atlas()
    named = {region.name: [other.name for other in atlas.neighbours(region)] for region in atlas}
    assert named == {"Small": ["Medium"], "Medium": ["Small", "Large"], "Large": ["Medium"], "Island": []}
    assert len(atlas) == 4


def test_a_global_point_belongs_to_one_region_or_to_the_void() -> None:
    """Global metres find the region, also past the first 256."""
    atlas = an_atlas()
    points = [(255.9, 255.9), (256.0, 500.0), (700.0, 1_200.0), (300.0, 600.0), (100.0, 300.0)]
    found = [atlas.at(*point) for point in points]
    assert [region and region.name for region in found] == ["Small", "Medium", "Large", "Large", None]
    medium = atlas.find("MEDIUM")
    assert medium is not None
    assert medium.to_global(Position(x=10.0, y=20.0)) == (266.0, 20.0)


def test_ground_and_names_are_given_once() -> None:
    """Overlap, a taken name and a full map are refused with a sentence."""
    atlas = an_atlas()
    with pytest.raises(OperatorError, match="overlaps 'Medium'"):
        atlas.add(a_region("Squatter", 700, 500, 256))
    with pytest.raises(OperatorError, match="another name"):
        atlas.add(a_region("small", 9_000, 0, 256))


def test_a_full_map_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of regions has a ceiling."""
    monkeypatch.setattr(region_module, "REGIONS_MAX", 4)
    with pytest.raises(LimitExceeded):
        an_atlas().add(a_region("Fifth", 9_000, 0, 256))


def test_points_are_kept_inside_whatever_the_size() -> None:
    """Arrivals outside the region are moved to its edge, on the ground."""
    region = a_region("Large", 0, 0, 768)
    assert region.contains(Position(x=767.9, y=0.0))
    assert not region.contains(Position(x=768.0, y=0.0))
    assert region.clamp(Position(x=900.0, y=-5.0, z=99.0)) == Position(x=767.5, y=0.5, z=22.0)
    assert region.centre() == Position(x=384.0, y=384.0, z=22.0)


def test_the_first_open_region_is_up_and_has_room() -> None:
    """People whose region is down go to the first that takes them."""
    atlas = Atlas()
    assert atlas.first_open() is None
    down, full, open_ = a_region("Down", 0, 0, 256), a_region("Full", 256, 0, 256), a_region("Open", 512, 0, 256)
    down.up = False
    full.capacity = 0
    for region in (down, full, open_):
        atlas.add(region)
    assert atlas.first_open() is open_


def test_the_last_parcel_lies_on_top_and_prims_are_counted_anew(world: World) -> None:
    """A new parcel takes over what stands on it; a point outside falls to the first parcel."""
    owner = world.avatars()[0]
    thing = Thing(prims=3)
    world.add_object("Plaza", owner_id=owner, position=Position(x=10.0, y=10.0), thing=thing)
    world.add_object("Plaza", owner_id=owner, position=Position(x=100.0, y=10.0), thing=Thing())
    plaza = world.regions()[0]
    corner = world.add_parcel("Plaza", owner_id=owner, land=Land(name="Corner", width=20, depth=20))
    assert plaza.parcel_at(Position(x=10.0, y=10.0)) is corner
    assert plaza.parcel_at(Position(x=20.0, y=10.0)) is plaza.parcels[0]
    assert plaza.parcel_at(Position(x=-5.0, y=-5.0)) is plaza.parcels[0]
    assert [parcel.prims for parcel in plaza.parcels] == [1, 3]


def test_a_region_has_a_ceiling_of_parcels() -> None:
    """One parcel too many is refused."""
    region = a_region("Plaza", 0, 0, 256)
    region.parcels = [None] * 256  # type: ignore[list-item] - only their number matters
    with pytest.raises(LimitExceeded):
        region.add_parcel(None)  # type: ignore[arg-type]
