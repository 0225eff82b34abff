"""What is shared: a place for later, and chance that is used only when asked for."""

from __future__ import annotations

from live_grid.simulator.faults import WireFaultKind
from live_grid.simulator.limits import DEFERRED_MAX
from live_grid.simulator.puppet import Table


def test_what_is_deferred_is_done_in_order_with_all_that_comes_of_it(table: Table) -> None:
    """First come first done, also what is put off while doing it; the shell is woken."""
    stage, done, woken = table.stage, [], []
    stage.wake = lambda: woken.append(1)
    stage.defer(lambda now: (done.append(("one", now)), stage.defer(lambda later: done.append(("three", later)))))
    stage.defer(lambda now: done.append(("two", now)))
    stage.do_deferred(4.0)
    assert done == [("one", 4.0), ("two", 4.0), ("three", 4.0)]
    assert len(woken) == 3


def test_there_is_room_for_so_much_and_the_rest_is_counted(table: Table) -> None:
    """One more is overlooked, and counted. Spec: LIV-15."""
    for _ in range(DEFERRED_MAX + 2):
        table.stage.defer(lambda now: None)
    assert table.stage.overlooked == 2


def test_a_fault_strikes_by_chance_and_is_counted(table: Table) -> None:
    """Never, always, and without a draw when the knob is off."""
    stage = table.stage
    before = stage.rng.getstate()
    assert not stage.strikes(0.0, WireFaultKind.DEAD_STREAM)
    assert stage.rng.getstate() == before
    assert stage.strikes(1.0, WireFaultKind.DEAD_STREAM)
    assert stage.counts[WireFaultKind.DEAD_STREAM] == 1
