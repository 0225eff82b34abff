"""The tables of the world and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.world.bounds import (
    AVATARS_MAX,
    NAMES_ASKED_MAX,
    NAMES_MAX,
    OBJECTS_MAX,
    OBJECTS_WANTED_MAX,
    REGIONS_MAX,
)
from live_grid.world.packed import Motion
from live_grid.world.state import Parcel, Region, World


def uuid(number: int) -> bytes:
    """Sixteen bytes."""
    return number.to_bytes(16, "big")


def test_a_local_id_is_an_alias_that_can_move(here: Region) -> None:
    """A local id that is given to something else leaves the old bearer, which keeps its UUID. Spec: LIV-5."""
    chair = here.add_object(uuid(5), 7)
    ben = here.add_avatar(uuid(2))
    assert ben is not None
    here.call(ben, 7)
    assert here.by_local(7) is ben
    assert here.local_of(uuid(5)) is None
    assert here.local_of(uuid(2)) == 7
    here.call(ben, 8)
    assert here.by_local(7) is None
    here.drop_object(chair)
    assert here.by_local(8) is ben
    assert here.local_of(uuid(5)) is None


def test_objects_are_bounded(here: Region) -> None:
    """One object more than the ceiling pushes out the one known longest, alias included. Fault: 6."""
    for number in range(OBJECTS_MAX + 1):
        here.add_object(uuid(number + 1), number + 1)
        here.want(uuid(number + 1))
    assert len(here.objects) == OBJECTS_MAX
    assert here.objects_evicted == 1
    assert here.by_local(1) is None
    assert len(here.wanted) == OBJECTS_WANTED_MAX
    assert uuid(OBJECTS_MAX + 1) in here.wanted


def test_avatars_names_and_regions_are_bounded(world: World, here: Region) -> None:
    """A crowd pushes nobody out; names forget the oldest; regions beyond the ninth are not taken in."""
    assert all(here.add_avatar(uuid(number)) for number in range(AVATARS_MAX))
    assert here.add_avatar(uuid(AVATARS_MAX)) is None
    for number in range(NAMES_MAX + 1):
        world.learn_name(uuid(number + 1), f"N {number}")
        world.want_name(uuid(number + 10_000_000))
    assert len(world.names) == NAMES_MAX
    assert uuid(1) not in world.names
    assert len(world.names_wanted) == NAMES_ASKED_MAX
    assert sum(world.open_region(Region()) for _ in range(20)) == REGIONS_MAX - 2


def test_a_name_is_learnt_once(world: World) -> None:
    """The same name again is no news, an empty one is none, and a known one is not asked for."""
    world.want_name(uuid(9))
    assert world.learn_name(uuid(9), "Ben Boat")
    assert not world.names_wanted
    assert not world.learn_name(uuid(9), "Ben Boat")
    assert not world.learn_name(uuid(9), "")
    assert world.learn_name(uuid(9), "Ben Barge")
    world.want_name(uuid(9))
    world.want_name(bytes(16))
    assert not world.names_wanted


def test_entering_another_region_forgets_the_parcel(world: World, here: Region, beside: Region) -> None:
    """The parcel under us belongs to the region we were in."""
    world.parcel = Parcel(
        local_id=1,
        name="",
        description="",
        owner_id=uuid(1),
        group_id=uuid(0),
        group_owned=False,
        flags=0,
        area=0,
        sequence=0,
    )
    world.enter(here)
    assert world.parcel is not None
    world.enter(beside)
    assert world.parcel is None
    world.close_region(here)
    world.close_region(here)
    assert world.regions == [beside]
    assert beside.origin == (256256, 256000)


def test_who_sits_is_where_the_seat_is(world: World, here: Region) -> None:
    """A seated avatar's position is an offset, turned with the seat. Spec: LIV-5."""
    assert world.position == (0, 0, 0)
    me = here.add_avatar(world.agent_id)
    assert me is not None
    me.coarse = False
    chair = here.add_object(uuid(5), 7)
    chair.motion = Motion((100.0, 50.0, 20.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.7071068, 0.7071068))
    me.motion = Motion((1.0, 0.0, 0.5))
    assert world.position == (1.0, 0.0, 0.5)
    me.seat = 7
    assert world.position == pytest.approx((100.0, 51.0, 20.5), abs=1e-4)
    chair.parent = 7
    assert here.position_of(chair) == (100.0, 50.0, 20.0)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from("oavdx")), max_size=60))
def test_aliases_always_lead_to_their_bearer(steps: list[tuple[int, int, str]]) -> None:
    """Whatever is called what in any order, an alias and its bearer agree. Spec: LIV-5."""
    region = Region()
    for number, local, what in steps:
        thing = region.objects.get(uuid(number))
        avatar = region.avatars.get(uuid(number + 100))
        if what == "o" and thing is None:
            region.add_object(uuid(number), local)
        elif what == "a":
            one = avatar or region.add_avatar(uuid(number + 100))
            assert one is not None
            region.call(one, local)
        elif what == "v" and thing is not None:
            region.call(thing, local)
        elif what == "d" and thing is not None:
            region.drop_object(thing)
        elif what == "x" and avatar is not None:
            region.drop_avatar(avatar)
        bearers = [*region.objects.values(), *region.avatars.values()]
        for one in bearers:
            assert not one.local_id or region.by_local(one.local_id) is one
        assert {id(one) for one in region._alias.values()} <= {id(one) for one in bearers}
