"""Claims about the audit trail in memory."""

import pytest

from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.service.audit import AuditTrail


def row(seq):
    """Build a row."""
    return AuditRecord(seq=seq, at=0.0, kind=AuditKind.DECISION, code="authorized")


def test_the_newest_rows_are_kept_and_all_are_counted():
    """Spec: BND-16 — memory ends at the ceiling; the oldest goes first, and the count goes on."""
    trail = AuditTrail(keep=3)
    for seq in range(5):
        trail.record("robin", row(seq))
    assert [record.seq for _, record in trail] == [2, 3, 4]
    assert (len(trail), trail.total) == (3, 5)


def test_nobody_can_ask_for_more_than_the_ceiling():
    """Spec: BND-16 — the ceiling holds whatever is asked for."""
    assert AuditTrail(keep=10**9)._ring.maxlen == 4096


def test_a_sink_that_fails_stops_the_decision_that_made_the_row():
    """An action that cannot be recorded is not authorised: the error reaches whoever decided."""

    def broken(avatar, record):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        AuditTrail(broken).record("robin", row(1))
