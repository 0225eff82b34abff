"""Audit rows are kept in order, once, inside segments that tell when something is missing."""

from __future__ import annotations

import apsw
import pytest

from gridagent.config.policy import BudgetScope, Meter
from gridagent.errors import LimitExceeded
from gridagent.policy.audit import AuditKind, BudgetMark
from gridagent.storage import audit
from gridagent.storage.audit import AuditBatch, TailDamaged, load_tail, query
from gridagent.storage.base import LedgerRefused
from gridagent.storage.records import AuditQuery
from gridagent.storage.settings import DAY_S, StorageSettings
from gridagent.storage.transactions import Ledger


def _fill(ledger, make, count: int, **more) -> None:
    ledger.write([[make.audited(seq, **more) for seq in range(1, count + 1)]])


def _page(ledger, **wanted):
    return ledger.read(lambda connection: query(connection, AuditQuery(**wanted)))


def _segments(ledger):
    return ledger.database.connection.execute("SELECT number, sealed, first_row, rows FROM segment").fetchall()


def test_a_row_is_read_back_as_it_was_written(ledger, make) -> None:
    """Nothing of a record is lost. Spec: POL-10."""
    mark = BudgetMark(Meter.LINDEN, BudgetScope.GLOBAL, 60, 0, 5, 10)
    row = make.audited(1, rule="cells", who="somebody", tainted=True, budgets=(mark,), ordinal=3)
    assert ledger.write([(row,)]) == [(True,)]
    (found,) = _page(ledger)
    assert (found.row, found.avatar, found.run, found.record) == (1, "robin", 1, row.record)
    assert found.cursor == (101.0, 1)


def test_a_row_is_taken_once(ledger, make) -> None:
    """The same number of the same run does not come twice, also after the database was opened anew. Spec: POL-10."""
    assert ledger.write([(make.audited(1), make.audited(1), make.audited(2))]) == [(True, False, True)]
    assert ledger.write([(make.audited(1), make.audited(2))]) == [(False, False)]  # a whole batch again
    assert ledger.write([(make.audited(2), make.audited(1, run=2), make.audited(1, avatar="wren"))]) == [
        (False, True, True)
    ]
    again = Ledger(ledger.database, StorageSettings(audit_segment_rows=16))
    assert again.write([(make.audited(1, run=2), make.audited(2, run=2))]) == [(False, True)]
    assert len(_page(again)) == 5


def test_segments_are_sealed_by_rows_and_by_age(ledger, make) -> None:
    """A full one and an old one are closed, also in the middle of a batch. Spec: POL-10."""
    _fill(ledger, make, 40, at=100.0)
    assert _segments(ledger) == [(1, 1, 1, 16), (2, 1, 17, 16), (3, 0, 33, 8)]
    ledger.write([(make.audited(41, at=100.0 + DAY_S),)])
    assert _segments(ledger)[2:] == [(3, 1, 33, 8), (4, 0, 41, 1)]


def test_a_batch_that_failed_leaves_no_trace(ledger, make) -> None:
    """The tail goes on where the last durable transaction left it."""
    _fill(ledger, make, 3)
    with pytest.raises(ZeroDivisionError):
        ledger.write([(make.audited(4), _Explodes())])
    assert ledger.write([(make.audited(4),)]) == [(True,)]
    assert [row.record.seq for row in _page(ledger)] == [1, 2, 3, 4]
    load_tail(ledger.database.connection, "ledger-1")


class _Explodes:
    """Nothing that a ledger knows; looking at it fails."""

    @property
    def __class__(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM audit WHERE row = 20", "20 of 20"),
        ("DELETE FROM audit WHERE row > 18", "rows are left"),
        ("DELETE FROM audit WHERE row = 18", "row 18 is missing"),
        ("UPDATE audit SET body = cast(replace(body, 'authorized', 'denied') AS BLOB) WHERE row = 19", "was changed"),
        ("UPDATE audit SET at = at + 1 WHERE row = 19", "was changed"),
        ("UPDATE audit SET avatar = 'wren' WHERE row = 19", "was changed"),
        ("DELETE FROM segment WHERE number = 2", "the open segment behind segment 1 is missing"),
        ("DELETE FROM segment", "there are rows, but no segment"),
    ],
)
def test_a_tail_that_was_tampered_with_refuses_the_start(ledger, make, damage, said) -> None:
    """Rows cut off, taken out or changed show at the next start. Spec: POL-10. Fault: 41."""
    _fill(ledger, make, 20)
    connection = ledger.database.connection
    connection.execute(damage)
    if damage.endswith("row = 20"):
        said = "3 of 4 rows are left"
    with pytest.raises(TailDamaged, match=said):
        load_tail(connection, "ledger-1")
    with pytest.raises(LedgerRefused, match="restore a backup"):
        Ledger(ledger.database, StorageSettings())


def _seqs(rows):
    return [row.record.seq for row in rows]


def test_pages_follow_each_other(ledger, make) -> None:
    """Of one avatar by time, of all as they were written; the cursor goes on where a page ended. Spec: POL-10."""
    _fill(ledger, make, 30)
    ledger.write([[make.audited(seq, avatar="wren", at=90.0 + seq) for seq in range(1, 11)]])
    first = _page(ledger, avatar="robin", limit=20)
    second = _page(ledger, avatar="robin", limit=20, after=first[-1].cursor)
    assert _seqs(first) + _seqs(second) == list(range(1, 31))
    everybody = _page(ledger, limit=35)
    rest = _page(ledger, limit=35, after=everybody[-1].cursor)
    assert [row.row for row in (*everybody, *rest)] == list(range(1, 41))
    assert _page(ledger, limit=35, after=rest[-1].cursor) == ()


def test_rows_are_found_by_time_kind_and_avatar(ledger, make) -> None:
    """The earlier moment is included and the later one isn't; clocks that jump hide nothing. Spec: POL-10."""
    _fill(ledger, make, 20)
    ledger.write([(make.audited(21, at=105.5, kind=AuditKind.HOLD), make.audited(22, at=500.0))])
    assert _seqs(_page(ledger, avatar="robin", since=104.0, until=106.0)) == [4, 5, 21]
    assert _seqs(_page(ledger, since=104.0, until=106.0)) == [4, 5, 21]
    assert _seqs(_page(ledger, kind=AuditKind.HOLD)) == [21]
    assert _seqs(_page(ledger, avatar="robin", kind=AuditKind.HOLD)) == [21]
    assert _page(ledger, avatar="wren") == ()
    assert _page(ledger, since=1_000.0) == ()
    with pytest.raises(ValueError, match="1 to 1000"):
        AuditQuery(limit=1_001)


def test_a_search_that_takes_too_long_is_given_up(ledger, make, monkeypatch) -> None:
    """Commits wait while a page is looked for, so looking is bounded; afterwards everything works. Spec: BND-16."""
    _fill(ledger, make, 200)
    with monkeypatch.context() as patch:
        patch.setattr(audit, "QUERY_STEPS_MAX", 200)
        with pytest.raises(LimitExceeded, match="name an avatar"):
            _page(ledger, kind=AuditKind.HOLD)
    assert _page(ledger, kind=AuditKind.HOLD) == ()


def test_an_empty_batch_writes_nothing(ledger) -> None:
    """Most transactions hold no row of every kind."""
    connection = ledger.database.connection
    before = connection.total_changes()
    AuditBatch(load_tail(connection, "ledger-1"), StorageSettings()).write(connection)
    assert connection.total_changes() == before
    assert isinstance(connection, apsw.Connection)
