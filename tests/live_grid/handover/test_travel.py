"""Who has authority over us."""

from __future__ import annotations

import pytest

from live_grid.addresses import HostPolicy
from live_grid.circuit import Circuit
from live_grid.handover.events import How
from live_grid.handover.link import Link
from live_grid.handover.tables import TravelInput, TravelState
from live_grid.handover.travel import Travel, TravelTimes
from live_grid.world import Region


def link(port: int) -> Link:
    """A link to somewhere."""
    address = ("127.0.0.1", port)
    return Link(address, Circuit(address, now=0.0), Region(), HostPolicy(hosts=frozenset()))


def arrived() -> tuple[Travel, Link]:
    """A session that is in its first region."""
    first = link(1)
    travel = Travel(first, now=0.0, times=TravelTimes())
    assert travel.authority is None
    assert travel.deadline == 60.0
    assert travel.arrive(1.0) is None
    return travel, first


def test_authority_is_with_the_region_that_let_us_in() -> None:
    """From arrival on, also while a teleport is asked for. Spec: LIV-7."""
    travel, first = arrived()
    assert travel.authority is first
    assert travel.deadline is None
    travel.ask(2.0)
    assert travel.authority is first
    assert (travel.how, travel.deadline) == (How.TELEPORT, 62.0)


def test_nobody_has_authority_on_the_way() -> None:
    """Neither the region that sent us nor the one we go to. Spec: LIV-7. Fault: 9."""
    travel, first = arrived()
    second = link(2)
    travel.go(second, How.CROSSING, 2.0)
    assert travel.authority is None
    travel.step(TravelInput.LATE, 42.0)
    assert travel.authority is None
    assert not travel.still_here(42.0)
    assert travel.arrive(43.0) is first
    assert travel.authority is second


def test_turning_back_gives_authority_back() -> None:
    """To the region that we never left. Spec: LIV-7."""
    travel, first = arrived()
    second = link(2)
    travel.go(second, How.TELEPORT, 2.0)
    assert travel.turn_back(TravelInput.REFUSED, 3.0) is second
    assert travel.authority is first
    assert travel.target is None


@pytest.mark.parametrize(("now", "here"), [(5.0, True), (50.0, False)])
def test_we_are_still_here_if_the_region_was_heard_lately(*, now: float, here: bool) -> None:
    """Silence is no proof that it has us. Fault: 9."""
    travel, _ = arrived()
    travel.ask(2.0)
    travel.step(TravelInput.LATE, 3.0)
    assert travel.authority is not None
    assert travel.still_here(now) is here


def test_the_end_is_the_end() -> None:
    """Nobody has authority then."""
    travel, _ = arrived()
    travel.step(TravelInput.LOST, 2.0)
    assert travel.ended
    assert travel.state is TravelState.ENDED
    assert travel.authority is None
