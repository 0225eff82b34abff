"""Claims about what is printed of records; against a running and a stopped service see the tests of both."""

from __future__ import annotations

import argparse
import io
import json

import pytest

from gridagent.cli import records
from gridagent.cli.parser import AUDIT_KINDS, Moment, moment
from gridagent.cli.wording import fault_in_words
from gridagent.fronts.control.words import ApprovalRow, AuditChecked, DoubtRow, StorageRow
from gridagent.policy.audit import AuditKind


class Stopped:
    """What a stopped database says."""

    def __init__(self, *, checked=None, approvals=(), doubts=()):
        self._checked = checked
        self._approvals = approvals
        self._doubts = doubts

    def verify(self):
        return self._checked

    def approvals(self, now):
        return self._approvals

    def in_doubt(self):
        return self._doubts


def printed(command, database, **named):
    """Perform a command; return its code and what it printed."""
    out = io.StringIO()
    code = command(database, out=out, **{"json": False} | named)
    return code, out.getvalue()


def test_the_kinds_of_help_are_those_of_the_audit_trail():
    """Help imports no policy, so the words stand twice. Spec: POL-10."""
    assert tuple(kind.value for kind in AuditKind) == AUDIT_KINDS


def test_records_that_were_never_stored_are_no_change():
    """A crash leaves numbers out; a change is another matter. Spec: POL-10."""
    sound = AuditChecked(segments=2, rows=30, missing=3, head="abc")
    assert printed(records.check_audit, Stopped(checked=sound)) == (
        0,
        "30 records in 2 segments, 3 were never stored (safe mode, or a crash) fit together; newest digest abc\n",
    )
    empty = AuditChecked(segments=0, rows=0, missing=0, head="")
    assert printed(records.check_audit, Stopped(checked=empty))[1] == "0 records in 0 segments fit together\n"
    changed = AuditChecked(segments=2, rows=30, missing=0, head="abc", problem="segment 2 is missing\x1b")
    code, text = printed(records.check_audit, Stopped(checked=changed))
    assert code == 9
    assert "was changed: segment 2 is missing\\x1b; keep the file" in text


def test_stored_approvals_are_shown_and_cannot_be_answered():
    """Read-only, with how long they still wait. Spec: POL-7, OPS-6."""
    row = ApprovalRow(
        avatar="robin",
        approval_id="a1",
        action="pay_avatar",
        summary="pay_avatar amount=5",
        principal="p",
        rule="money",
        expires_in_s=61.4,
    )
    code, text = printed(records.stopped_approvals, Stopped(approvals=(row,)))
    assert code == 0
    assert text.splitlines() == [
        "a1  robin: pay_avatar amount=5 for p (rule money), 61 s left",
        "no service runs, so nothing can be answered; start it with: gridagent run",
    ]
    _, text = printed(records.stopped_approvals, Stopped(approvals=(row,)), json=True)
    assert json.loads(text)["approval_id"] == "a1"


def test_stored_doubt_is_shown_when_no_service_runs():
    """With the words that settle it, once a service runs. Spec: EFX-2, OPS-6."""
    row = DoubtRow(avatar="robin", effect="e" * 64, action="pay_avatar", summary="pay_avatar amount=5")
    code, text = printed(records.stopped_doubts, Stopped(doubts=(row,)))
    assert code == 4
    assert text.startswith("in doubt: pay_avatar amount=5 (avatar robin); it may have happened, and is not done again")
    assert f"settle {'e' * 64} happened, or: failed" in text


def test_a_fault_says_why_since_when_and_what_it_means():
    """Also one of a later version, and one that is not dated. Spec: EFX-4."""
    state = StorageRow(file="/d.db", fault="backlog", since=0.0, waiting=1, commits=2, records=3, lost=4)
    assert fault_in_words(state) == (
        "safe mode since 1970-01-01 00:00:00 UTC: the disk did not keep up (/d.db), so nothing that costs anything is "
        "done; 4 records found no room"
    )
    other = StorageRow(file="/d.db", fault="moths", waiting=0, commits=0, records=0, lost=0)
    assert fault_in_words(other) == "safe mode: moths (/d.db), so nothing that costs anything is done"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2h", 1e9 - 7200),
        ("2026-11-30", 1795996800.0),
        ("2026-11-30T19:00", 1796065200.0),
        ("2026-11-30T19:00+01:00", 1796061600.0),
    ],
)
def test_a_moment_is_a_span_ago_or_a_date_in_utc(text, at):
    """Whatever zone the machine is in. Spec: POL-10."""
    assert moment(text).at(1e9) == at


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "-2h"])
def test_anything_else_is_no_moment(text):
    """The sentence shows how to write one."""
    with pytest.raises(argparse.ArgumentTypeError, match="is no moment"):
        moment(text)


def test_what_is_wanted_is_told_in_wall_clock_seconds():
    """A span counts from now. Spec: POL-10."""
    wanted = records.wanted_records("robin", Moment(7200.0, ago=True), Moment(5.0, ago=False), "hold")
    assert (wanted.avatar, wanted.until, wanted.kind) == ("robin", 5.0, AuditKind.HOLD)
    assert wanted.since is not None
    nothing = records.wanted_records(None, None, None, None)
    assert (nothing.avatar, nothing.since, nothing.until, nothing.kind) == (None, None, None, None)
