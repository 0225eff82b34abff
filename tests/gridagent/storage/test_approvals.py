"""Approvals move along their table, an answer counts once, and what waits survives."""

from __future__ import annotations

import itertools

import pytest

from gridagent.ids import ApprovalId
from gridagent.policy.approvals import APPROVAL, ApprovalInput, ApprovalState
from gridagent.storage import approvals
from gridagent.storage.approvals import after_steps, hash_nonce
from gridagent.storage.records import ApprovalMoved, ApprovalTried

ALLOWED_AND_CLAIMED = (ApprovalInput.ALLOW, ApprovalInput.CLAIM)


def _moved(*steps, key="approval-1", at=200.0):
    return ApprovalMoved(approval_id=ApprovalId(key), steps=steps, at=at, by="operator")


def _find(ledger, key="approval-1"):
    return ledger.read(lambda connection: approvals.find(connection, ApprovalId(key)))


def test_an_approval_is_read_back_as_it_was_written(ledger, make) -> None:
    """Arguments, request and expiry survive a restart; the nonce itself is nowhere. Spec: POL-7."""
    record = make.opened()
    assert ledger.write([(record, record)]) == [(True, False)]
    row = _find(ledger)
    assert (row.opened, row.state, row.wrong_nonces, row.moved_at, row.by) == (
        record,
        ApprovalState.PENDING,
        0,
        None,
        "",
    )
    assert ledger.open_avatar(make.robin, 150.0).approvals == (row,)
    assert hash_nonce("abc") != hash_nonce("abd")
    assert len(hash_nonce("abc")) == 32


def test_an_answer_counts_once(ledger, make) -> None:
    """A yes is allowed and claimed in one step, and neither a second yes nor a no moves it. Spec: POL-7."""
    ledger.write([(make.opened(),)])
    answers = (_moved(*ALLOWED_AND_CLAIMED), _moved(*ALLOWED_AND_CLAIMED), _moved(ApprovalInput.REFUSE))
    assert ledger.write([answers]) == [(True, False, False)]
    row = _find(ledger)
    assert (row.state, row.by, row.moved_at) == (ApprovalState.CLAIMED, "operator", 200.0)
    assert ledger.open_avatar(make.robin, 201.0).approvals == ()


def test_a_yes_that_was_not_used_yet_is_kept(ledger, make) -> None:
    """Allowed and not claimed waits on after a restart: the answer isn't lost. Spec: POL-7."""
    ledger.write([(make.opened(), _moved(ApprovalInput.ALLOW))])
    (row,) = ledger.open_avatar(make.robin, 201.0).approvals
    assert row.state is ApprovalState.ALLOWED


@pytest.mark.parametrize(("state", "given"), list(itertools.product(ApprovalState, ApprovalInput)))
def test_approvals_move_along_their_table_only(ledger, make, state, given) -> None:
    """Each state × input is applied exactly when the table lists it. Spec: POL-7."""
    way = {
        ApprovalState.PENDING: (),
        ApprovalState.ALLOWED: (ApprovalInput.ALLOW,),
        ApprovalState.CLAIMED: ALLOWED_AND_CLAIMED,
        ApprovalState.DENIED: (ApprovalInput.REFUSE,),
        ApprovalState.EXPIRED: (ApprovalInput.EXPIRE,),
        ApprovalState.CANCELLED: (ApprovalInput.CANCEL,),
        ApprovalState.SUPERSEDED: (ApprovalInput.SUPERSEDE,),
    }[state]
    ledger.write([(make.opened(), _moved(*way))])
    allowed = APPROVAL.allows(state, given)
    assert ledger.write([(_moved(given),)]) == [(allowed,)]
    assert _find(ledger).state is (APPROVAL.step(state, given) if allowed else state)


def test_steps_that_are_not_all_listed_move_nothing(ledger, make) -> None:
    """A claim without a yes changes nothing, and an unknown approval neither."""
    ledger.write([(make.opened(),)])
    assert after_steps(ApprovalState.PENDING, (ApprovalInput.CLAIM,)) is None
    assert ledger.write([(_moved(ApprovalInput.ALLOW, ApprovalInput.ALLOW), _moved(key="x"))]) == [(False, False)]
    assert _find(ledger).state is ApprovalState.PENDING


def test_wrong_nonces_are_counted_across_restarts(ledger, make) -> None:
    """The count only grows, so a restart gives no new attempts. Spec: POL-7."""
    ledger.write([(make.opened(),)])
    tries = [ApprovalTried(approval_id=ApprovalId("approval-1"), wrong_nonces=number) for number in (1, 3, 2)]
    assert ledger.write([tries]) == [(True, True, False)]
    assert ledger.open_avatar(make.robin, 101.0).approvals[0].wrong_nonces == 3


def test_what_ran_out_of_time_while_nobody_ran_has_expired(ledger, make) -> None:
    """At start the due ones expire and are named; the others wait, the first to expire first. Spec: POL-7."""
    ledger.write(
        [
            (
                make.opened("late", expires_at=900.0),
                make.opened("soon", expires_at=500.0),
                make.opened("due", expires_at=300.0),
                make.opened("hers", expires_at=200.0, avatar="wren"),
            )
        ]
    )
    recovered = ledger.open_avatar(make.robin, 300.0)
    assert recovered.expired == ("due",)
    assert [row.approval_id for row in recovered.approvals] == ["soon", "late"]
    assert _find(ledger, "due").state is ApprovalState.EXPIRED
    assert _find(ledger, "hers").state is ApprovalState.PENDING
    soon = recovered.approvals[0]
    assert (soon.remaining_s(300.0), soon.remaining_s(900.0), soon.remaining_s(-1e9)) == (200.0, 0.0, 400.0)


def test_ended_approvals_go_and_waiting_ones_never(ledger, make) -> None:
    """Age lets ended approvals go. Spec: BND-16."""
    ledger.write([(make.opened("a"), make.opened("b"), make.opened("c"))])
    ledger.write([(_moved(ApprovalInput.REFUSE, key="a", at=10.0), _moved(ApprovalInput.REFUSE, key="b", at=20.0))])
    connection = ledger.database.connection
    assert approvals.drop_ended(connection, before=20.0, most=10) == 1
    assert approvals.drop_ended(connection, before=1e9, most=10) == 1
    assert (_find(ledger, "a"), _find(ledger, "b")) == (None, None)
    assert _find(ledger, "c") is not None
