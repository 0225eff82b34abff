"""How a session is doing."""

from __future__ import annotations

import msgspec

from live_grid.io.health import Health
from tests.live_grid.handover.fake_grid import FakeGrid


def test_a_session_that_has_not_arrived_is_not_sick() -> None:
    """There is nothing to measure yet. Spec: LIV-12."""
    grid = FakeGrid()
    health = Health.of(grid.session.statistics(), now=grid.now, unsent=1, web_requests=2, web_failures=1)
    assert health.silent_s is None
    assert health.queue_silent_s is None
    assert health.sick == ()
    assert (health.unsent, health.web_requests, health.web_failures) == (1, 2, 1)


def test_each_part_has_its_watchdog() -> None:
    """A silent circuit, a wire that loses much; the queue has a watchdog of its own. Spec: LIV-12."""
    grid = FakeGrid()
    grid.enter()
    grid.run(1.0)
    well = Health.of(grid.session.statistics(), now=grid.now, unsent=0, web_requests=0, web_failures=0)
    assert well.sick == ()
    assert well.packets_in > 0
    assert well.links == 1
    later = Health.of(grid.session.statistics(), now=grid.now + 200, unsent=0, web_requests=0, web_failures=0)
    assert later.sick == ("circuit",)
    assert msgspec.structs.replace(well, packets_out=100, resent=30).sick == ("wire",)


def test_what_was_lost_long_ago_says_nothing_of_today() -> None:
    """Only what was sent since an earlier moment counts; a younger circuit counts from its beginning. Spec: LIV-12."""
    grid = FakeGrid()
    grid.enter()
    grid.run(1.0)
    now = Health.of(grid.session.statistics(), now=grid.now, unsent=0, web_requests=0, web_failures=0)
    stormy = msgspec.structs.replace(now, packets_out=1_000, resent=600)
    calm = msgspec.structs.replace(now, packets_out=1_200, resent=601)
    assert calm.sick == ("wire",)
    assert (calm.since(stormy).sick, calm.since(stormy).packets_out, calm.since(stormy).resent) == ((), 200, 1)
    month = msgspec.structs.replace(now, packets_out=10_000_000, resent=100)
    storm = msgspec.structs.replace(now, packets_out=10_000_100, resent=160)
    assert storm.sick == ()
    assert storm.since(month).sick == ("wire",)
    assert calm.since(month) == calm
