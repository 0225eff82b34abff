"""Whole segments verify, go and leave the building with their proof."""

from __future__ import annotations

import pytest

from gridagent.storage.audit_chain import (
    ChainReport,
    check_export,
    check_segment,
    drop_segment,
    export_segment,
    segment_heads,
)


@pytest.fixture
def filled(ledger, make):
    """Three segments: two sealed of 16 rows, one open of 8."""
    ledger.write([[make.audited(seq) for seq in range(1, 41)]])
    return ledger


def _verify(ledger) -> ChainReport:
    report, after = ChainReport(), 0
    while after is not None:
        after = check_segment(ledger.database.connection, ledger.database.ledger, after, report)
    return report


def test_an_untouched_trail_verifies(filled, ledger) -> None:
    """Every row is read, and the newest digest is told. Spec: POL-10."""
    report = _verify(filled)
    assert (report.segments, report.rows, report.missing, report.problem) == (3, 40, 0, "")
    assert report.head == segment_heads(ledger.database.connection)[-1].digest


def test_an_empty_trail_verifies(ledger) -> None:
    """Nothing is not damaged."""
    assert _verify(ledger) == ChainReport()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            "UPDATE audit SET body = cast(replace(body, 'authorized', 'denied') AS BLOB) WHERE row = 3",
            "a row of segment 1 was",
        ),
        ("UPDATE audit SET body = x'00' WHERE row = 3", "row 3 of segment 1 cannot be read"),
        ("DELETE FROM audit WHERE row = 3", "row 3 of segment 1 is missing"),
        ("DELETE FROM audit WHERE row = 16", "segment 1 has 15 of 16 rows"),
        ("DELETE FROM segment WHERE number = 2", "segment 2 is missing"),
        ("DELETE FROM segment WHERE number = 3", "rows from 33 on belong to no segment"),
        ("DELETE FROM segment WHERE number = 1", "segment 2 does not follow"),
        ("UPDATE segment SET digest = zeroblob(32) WHERE number = 1", "a row of segment 1 was changed"),
        ("UPDATE segment SET previous = zeroblob(32) WHERE number = 2", "segment 2 does not follow"),
    ],
)
def test_whatever_was_changed_is_named(filled, damage, said) -> None:
    """The first thing that doesn't fit ends the check. Spec: POL-10. Fault: 41."""
    filled.database.connection.execute(damage)
    assert said in _verify(filled).problem


def test_a_trail_whose_end_was_cut_off_shows(filled) -> None:
    """Taking rows and their segment leaves the last sealed one without an open one behind it. Spec: POL-10."""
    filled.database.connection.execute("DELETE FROM audit WHERE row >= 33")
    filled.database.connection.execute("DELETE FROM segment WHERE number = 3")
    assert _verify(filled).problem == "the open segment is missing"


def test_numbers_that_were_never_stored_are_counted(ledger, make) -> None:
    """A gap within a run is told and no damage; each avatar and each run has numbers of its own. Spec: POL-10."""
    ledger.write([[make.audited(seq) for seq in (1, 2, 5, 6)]])
    ledger.write([[make.audited(1, run=2), make.audited(3, run=2), make.audited(1, avatar="wren")]])
    report = _verify(ledger)
    assert (report.missing, report.problem) == (3, "")


def test_only_old_sealed_segments_go_and_the_rest_verifies(filled) -> None:
    """The oldest goes when its last row is old enough, or when there are too many rows. Spec: POL-10, BND-16."""
    connection = filled.database.connection
    assert drop_segment(connection, before=116.0, keep_rows=1_000) == 0
    assert drop_segment(connection, before=116.1, keep_rows=1_000) == 16
    assert _verify(filled).problem == ""
    assert drop_segment(connection, before=0.0, keep_rows=24) == 0
    assert drop_segment(connection, before=0.0, keep_rows=23) == 16
    assert drop_segment(connection, before=1e9, keep_rows=0) == 0
    report = _verify(filled)
    assert (report.segments, report.rows, report.problem) == (1, 8, "")


def test_taking_the_oldest_segment_out_by_hand_shows(filled) -> None:
    """What retention let go is remembered by its digest; what somebody else took is not."""
    connection = filled.database.connection
    assert drop_segment(connection, before=116.1, keep_rows=1_000) == 16
    connection.execute("DELETE FROM audit WHERE row < 33")
    connection.execute("DELETE FROM segment WHERE number = 2")
    assert _verify(filled).problem == "segment 3 does not follow the one before it"


def _exports(ledger):
    connection = ledger.database.connection
    return [export_segment(connection, head.segment) for head in segment_heads(connection)]


def test_an_export_verifies_anywhere(filled) -> None:
    """Exported segments prove themselves and their order, without the database. Spec: POL-10."""
    report = ChainReport()
    for text in _exports(filled):
        check_export(text, report)
        assert report.problem == ""
    assert (report.segments, report.rows, report.head) == (3, 40, _verify(filled).head)
    with pytest.raises(KeyError):
        export_segment(filled.database.connection, 9)


def test_an_export_that_was_changed_shows(filled) -> None:
    """A changed word, a missing line, a missing file and another file are all found. Spec: POL-10."""
    first, second, _ = _exports(filled)
    lines = second.splitlines()
    for text, said in (
        (first.replace(b"authorized", b"denied", 1), "was changed"),
        (b"\n".join(first.splitlines()[:-1]), "15 of 16"),
        (b"", "no exported segment"),
        (b'{"a": 1}', "no exported segment"),
        (lines[0] + b"\nnonsense", "no exported segment"),
    ):
        report = ChainReport()
        check_export(text, report)
        assert said in report.problem
    report = ChainReport()
    check_export(first, report)
    check_export(_exports(filled)[2], report)
    assert "segment 3 does not follow" in report.problem
