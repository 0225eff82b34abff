"""Which logins a fault refuses, and why."""

from __future__ import annotations

from gridagent.events import DisconnectCause
from live_grid.simulator.faults import WireFaultKind, WireFaults
from live_grid.simulator.puppet import Table
from live_grid.simulator.refusals import Refusals


def test_what_was_ordered_comes_first_and_in_order(table: Table) -> None:
    """Each order refuses one login; then nobody is refused. Spec: LIV-15."""
    refusals = Refusals(table.stage)
    refusals.refuse_next(DisconnectCause.BANNED)
    refusals.refuse_next(DisconnectCause.MAINTENANCE)
    assert [refusals.draw() for _ in range(3)] == [DisconnectCause.BANNED, DisconnectCause.MAINTENANCE, None]
    assert table.stage.counts[WireFaultKind.LOGIN_REFUSED] == 2


def test_so_many_orders_are_kept(table: Table) -> None:
    """The oldest is forgotten. Spec: LIV-15."""
    refusals = Refusals(table.stage)
    refusals.refuse_next(DisconnectCause.BANNED)
    for _ in range(16):
        refusals.refuse_next(DisconnectCause.MAINTENANCE)
    drawn = [refusals.draw() for _ in range(17)]
    assert drawn == [DisconnectCause.MAINTENANCE] * 16 + [None]


def test_chance_refuses_for_the_causes_of_the_knob(table: Table) -> None:
    """And is counted. Spec: LIV-15."""
    table.core.set_faults(WireFaults(login_refused=1.0, login_causes=(DisconnectCause.MFA_REQUIRED,)))
    assert Refusals(table.stage).draw() is DisconnectCause.MFA_REQUIRED
    assert table.stage.counts[WireFaultKind.LOGIN_REFUSED] == 1
