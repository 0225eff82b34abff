"""What budgets counted comes back after a restart, never less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.policy import BudgetScope, Meter
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.windows import Window
from gridagent.storage import budgets
from gridagent.storage.budgets import empty_after_us


def test_budgets_are_read_back_as_they_were_written(keep, snapshot, make) -> None:
    """Clock, high-water mark and windows survive; an avatar that was never charged has none. Spec: POL-6."""
    assert snapshot().budgets is None
    keep(make.generation(1))
    assert snapshot().budgets is None
    keep(make.reserved(budgets=make.held(make.window(7), clock_us=5_000)))
    assert snapshot().budgets == BudgetSnapshot(clock_us=5_000, wall_high_us=5_000, rows=(make.window(7),))


def test_a_charge_replaces_its_own_windows_and_leaves_others(keep, snapshot, make) -> None:
    """What a change does not name stays as it was; the last charged comes last. Spec: POL-6."""
    keep(make.reserved("a", budgets=make.held(make.window(1), make.window(2, key="somebody"))))
    keep(make.reserved("b", budgets=make.held(make.window(3), clock_us=2_000)))
    held = snapshot().budgets
    assert [(row.key, row.buckets) for row in held.rows] == [("somebody", ((1_000, 2),)), ("", ((1_000, 3),))]
    assert held.clock_us == 2_000


def test_clocks_only_go_forward(keep, snapshot, make) -> None:
    """A change that comes again with an older clock does not set it back. Fault: 30."""
    keep(make.reserved("a", budgets=make.held(make.window(1), clock_us=9_000)))
    keep(make.reserved("b", budgets=make.held(make.window(1), clock_us=1_000)))
    assert (snapshot().budgets.clock_us, snapshot().budgets.wall_high_us) == (9_000, 9_000)


def test_all_windows_can_be_replaced(keep, snapshot, make) -> None:
    """Another policy has other budgets; those of other avatars stay."""
    keep(make.reserved("a", budgets=make.held(make.window(1), make.window(2, key="somebody"))))
    keep(make.reserved("a"), avatar="wren")
    assert keep(make.replaced(make.held(make.window(4)))) == (True,)
    assert snapshot().budgets.rows == (make.window(4),)
    assert snapshot("wren").budgets.rows == (make.window(),)


def test_windows_that_can_hold_nothing_are_left_out_and_go(ledger, keep, snapshot, make) -> None:
    """A row goes when the clock has passed its last bucket by a window and a bucket, and not before. Spec: BND-16."""
    old = make.window(1, key="old", window_s=1)
    gone_at = empty_after_us(old)
    keep(make.reserved("a", budgets=make.held(old)))
    keep(make.reserved("b", budgets=make.held(make.window(1), clock_us=gone_at - 1)))
    assert {row.key for row in snapshot().budgets.rows} == {"", "old"}
    assert budgets.drop_empty(ledger.database.connection, 10) == 0
    keep(make.reserved("c", budgets=make.held(make.window(1), clock_us=gone_at)))
    assert {row.key for row in snapshot().budgets.rows} == {""}
    assert budgets.drop_empty(ledger.database.connection, 10) == 1
    assert empty_after_us(make.window(1, window_s=2)) > gone_at


def test_a_window_without_buckets_is_empty_at_once() -> None:
    """Nothing was ever in it."""
    bare = BudgetRow(meter=Meter.LINDEN, per=BudgetScope.GLOBAL, window_s=1, buckets=())
    assert empty_after_us(bare) == 0


@given(charged=st.integers(0, 10**9), window_s=st.integers(1, 100), passed=st.integers(0, 10**9))
def test_a_row_goes_exactly_when_its_window_is_empty(charged, window_s, passed) -> None:
    """While the window itself still counts something, so does its row, and no longer. Spec: POL-6."""
    window = Window(window_s)
    window.used(charged)
    window.add(1)
    row = BudgetRow(meter=Meter.LINDEN, per=BudgetScope.GLOBAL, window_s=window_s, buckets=tuple(window.buckets()))
    at = charged + passed
    assert (empty_after_us(row) > at) is (window.used(at) > 0)
