"""A region's numbers for what is in it."""

from __future__ import annotations

from gridagent.grid.simulated import World
from live_grid.simulator.local_ids import LocalIds


def test_a_number_stays_with_its_thing_and_is_found_again(world: World) -> None:
    """The same thing keeps its number, another gets another, and a number nobody has names nothing."""
    ids = LocalIds(world.regions()[0], first=7)
    assert (ids.of("a"), ids.of("b"), ids.of("a")) == (7, 8, 7)
    assert (ids.find(8), ids.find(9)) == ("b", None)


def test_numbers_of_what_has_gone_are_given_up(world: World) -> None:
    """However many come and go, no more numbers are kept than twice what the region holds, and some. Spec: LIV-15."""
    plaza = world.regions()[0]
    ids = LocalIds(plaza, first=1)
    here = next(iter(plaza.objects))
    kept = ids.of(here)
    for number in range(2_000):
        ids.of(f"passing {number}")
    assert len(ids) <= 2 * (len(plaza.objects) + len(plaza.avatars)) + 256
    assert ids.find(kept) == here
