"""What budgets counted comes back after a restart, never less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.policy.budgets import BudgetBook, BudgetRow, BudgetSnapshot
from gridagent.policy.decisions import Instant
from gridagent.storage import budgets
from gridagent.storage.budgets import BudgetTracker, empty_after_us


def _load(ledger, make):
    return ledger.read(lambda connection: budgets.load(connection, make.robin))


def test_budgets_are_read_back_as_they_were_written(ledger, make) -> None:
    """Clock, high-water mark and windows survive; an avatar that was never charged has none. Spec: POL-6."""
    assert _load(ledger, make) is None
    ledger.open_avatar(make.robin, 1.0)
    assert _load(ledger, make) is None
    saved = make.spent(5_000, 7)
    assert ledger.write([(saved,)]) == [(True,)]
    assert _load(ledger, make) == BudgetSnapshot(clock_us=5_000, wall_high_us=5_000, rows=saved.rows)
    assert ledger.open_avatar(make.robin, 2.0).budgets == _load(ledger, make)


def test_a_row_replaces_its_own_and_leaves_others(ledger, make) -> None:
    """Writing what changed keeps what did not."""
    ledger.write([(make.spent(1_000, 1), make.spent(1_000, 2, key="somebody"))])
    ledger.write([(make.spent(2_000, 3),)])
    rows = {row.key: row.buckets for row in _load(ledger, make).rows}
    assert rows == {"": ((2_000, 3),), "somebody": ((1_000, 2),)}


def test_an_older_account_changes_nothing(ledger, make) -> None:
    """The budget clock never goes back, so a book that forgot does not overwrite one that remembers. Fault: 30."""
    ledger.write([(make.spent(2_000, 3),)])
    before = _load(ledger, make)
    assert ledger.write([(make.spent(1_000, 1),)]) == [(False,)]
    assert _load(ledger, make) == before


def test_windows_that_can_hold_nothing_are_left_out_and_go(ledger, make) -> None:
    """A row goes when the clock has passed its last bucket by a window and a bucket, and not before. Spec: BND-16."""
    ledger.write([(make.spent(1_000, 1, key="old", window_s=1),)])
    gone_at = empty_after_us(make.spent(1_000, 1, key="old", window_s=1).rows[0])
    ledger.write([(make.spent(gone_at - 1, 1),)])
    assert {row.key for row in _load(ledger, make).rows} == {"", "old"}
    assert budgets.drop_empty(ledger.database.connection, 10) == 0
    ledger.write([(make.spent(gone_at, 1),)])
    assert {row.key for row in _load(ledger, make).rows} == {""}
    assert budgets.drop_empty(ledger.database.connection, 10) == 1
    assert empty_after_us(BudgetRow(meter=Meter.LINDEN, per=BudgetScope.GLOBAL, window_s=1, buckets=())) > 0


def test_the_tracker_tells_only_what_changed(make) -> None:
    """A row that stayed as it was is not written again; one that came back is."""
    tracker = BudgetTracker(make.robin)
    one, two = make.spent(1_000, 1).rows[0], make.spent(1_000, 1, key="somebody").rows[0]
    assert tracker.changes(BudgetSnapshot(clock_us=1, wall_high_us=2, rows=(one, two))).rows == (one, two)
    assert tracker.changes(BudgetSnapshot(clock_us=3, wall_high_us=4, rows=(one, two))).rows == ()
    assert tracker.changes(BudgetSnapshot(clock_us=3, wall_high_us=4, rows=(one,))).rows == ()
    again = tracker.changes(BudgetSnapshot(clock_us=5, wall_high_us=6, rows=(one, two)))
    assert (again.rows, again.clock_us, again.wall_high_us) == ((two,), 5, 6)
    stored = BudgetSnapshot(clock_us=5, wall_high_us=6, rows=(one,))
    assert BudgetTracker(make.robin, stored).changes(stored).rows == ()


_PAYMENTS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 5_000), st.booleans()), max_size=25)


@given(payments=_PAYMENTS)
def test_a_crash_after_any_payment_never_counts_short(payments) -> None:
    """However charges and crashes are mixed, what is left of a window is never more than it was. Spec: POL-6, BND-13."""
    from random import Random  # noqa: PLC0415 - one disk an example

    from gridagent.ids import AvatarKey  # noqa: PLC0415
    from gridagent.storage.database import Holder, open_database  # noqa: PLC0415
    from gridagent.storage.settings import StorageSettings  # noqa: PLC0415
    from gridagent.storage.simulated_disk import SimulatedDisk  # noqa: PLC0415
    from gridagent.storage.transactions import Ledger  # noqa: PLC0415

    robin = AvatarKey("robin")
    lines = {
        Meter.LINDEN: (
            Budget(limit=300, window_s=3_600, per=BudgetScope.GLOBAL),
            Budget(limit=200, window_s=60, per=BudgetScope.PRINCIPAL),
        )
    }
    disk = SimulatedDisk(Random(0), name="budget-disk")
    ledger = Ledger(
        open_database("/b.db", files=disk, holder=Holder(pid=1, since=""), new_ledger="l"), StorageSettings()
    )
    # The same history in a book that never crashes, and in one that is stored and read back.
    steady, wall = BudgetBook(lines, pool_of=lambda _: 0), 1_000.0
    book, tracker = BudgetBook(lines, pool_of=lambda _: 0), BudgetTracker(robin)
    for amount, passed, crash in payments:
        wall += passed
        for each in (steady, book):
            each.charge(((Meter.LINDEN, amount),), Instant(wall, wall), key="p", stranger=False, peer=None)
        ledger.write([(tracker.changes(book.snapshot()),)])
        if crash:
            stored = ledger.open_avatar(robin, wall).budgets
            book, tracker = BudgetBook.restore(lines, stored, pool_of=lambda _: 0), BudgetTracker(robin, stored)
        ((now,), (then,)) = (book.gauges(), steady.gauges())
        assert now.used >= then.used or now.used >= 300 - 50
    ledger.database.close()
    disk.close()
