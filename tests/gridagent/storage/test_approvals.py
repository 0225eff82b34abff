"""Approvals move along their table, an answer counts once, and what waits survives."""

from __future__ import annotations

import itertools

import pytest

from gridagent.limits import APPROVAL_RECORDS_MAX
from gridagent.policy.approvals import APPROVAL, ApprovalInput, ApprovalState
from gridagent.policy.changes import StoredApproval
from gridagent.storage import approvals


def test_an_approval_is_read_back_as_it_was_written(keep, snapshot, make) -> None:
    """Arguments, request, hash and expiry survive a restart. Spec: POL-7."""
    change = make.opened()
    assert keep(change, change) == (True, False)
    assert snapshot().approvals == (StoredApproval(opened=change, state=ApprovalState.PENDING),)
    assert snapshot("wren").approvals == ()


def test_an_answer_counts_once(keep, snapshot, make) -> None:
    """A yes is recorded, then claimed by the effect it leads to; neither another yes nor a no moves it. Spec: POL-7."""
    keep(make.opened())
    assert keep(make.moved(ApprovalInput.ALLOW), make.moved(ApprovalInput.ALLOW)) == (True, False)
    assert snapshot().approvals[0].state is ApprovalState.ALLOWED
    keep(make.reserved(approval="approval-1"))
    assert keep(make.moved(ApprovalInput.REFUSE, by="late"), make.moved(ApprovalInput.CLAIM)) == (False, False)
    (found,) = snapshot().approvals
    assert (found.state, found.by) == (ApprovalState.CLAIMED, "operator")


def test_a_claim_without_a_yes_is_none(keep, snapshot, make) -> None:
    """An effect that names an approval nobody allowed, or nobody knows, moves none."""
    keep(make.opened())
    keep(make.reserved("a", approval="approval-1"), make.reserved("b", approval="unknown"))
    assert snapshot().approvals[0].state is ApprovalState.PENDING


@pytest.mark.parametrize(("state", "given"), list(itertools.product(ApprovalState, ApprovalInput)))
def test_approvals_move_along_their_table_only(keep, snapshot, make, state, given) -> None:
    """Each state × input is applied exactly when the table lists it. Spec: POL-7."""
    way = {
        ApprovalState.PENDING: (),
        ApprovalState.ALLOWED: (ApprovalInput.ALLOW,),
        ApprovalState.CLAIMED: (ApprovalInput.ALLOW, ApprovalInput.CLAIM),
        ApprovalState.DENIED: (ApprovalInput.REFUSE,),
        ApprovalState.EXPIRED: (ApprovalInput.EXPIRE,),
        ApprovalState.CANCELLED: (ApprovalInput.CANCEL,),
        ApprovalState.SUPERSEDED: (ApprovalInput.SUPERSEDE,),
    }[state]
    keep(make.opened(), make.moved(*way))
    allowed = APPROVAL.allows(state, given)
    assert keep(make.moved(given)) == (allowed,)
    assert snapshot().approvals[0].state is (APPROVAL.step(state, given) if allowed else state)


def test_steps_that_are_not_all_listed_move_nothing(keep, snapshot, make) -> None:
    """A yes twice in one change changes nothing, and an unknown approval neither."""
    keep(make.opened())
    twice = make.moved(ApprovalInput.ALLOW, ApprovalInput.ALLOW)
    assert keep(twice, make.moved(ApprovalInput.ALLOW, key="x")) == (False, False)
    assert snapshot().approvals[0].state is ApprovalState.PENDING


def test_wrong_nonces_are_counted_across_restarts(keep, snapshot, make) -> None:
    """The count only grows, so a restart gives no new attempts. Spec: POL-7."""
    keep(make.opened())
    assert keep(make.tried(1), make.tried(3), make.tried(2)) == (True, True, False)
    assert snapshot().approvals[0].wrong_nonces == 3


def test_waiting_ones_come_behind_ended_ones(keep, snapshot, make) -> None:
    """Each the oldest first: ended ones in the order they ended."""
    keep(*(make.opened(key) for key in "abcd"))
    keep(make.moved(ApprovalInput.REFUSE, key="c"), make.moved(ApprovalInput.EXPIRE, key="a"))
    assert [each.opened.approval_id for each in snapshot().approvals] == ["c", "a", "b", "d"]


def test_as_many_come_back_as_the_gateway_has_room_for(ledger, keep, snapshot, make, monkeypatch) -> None:
    """Waiting ones all; of the ended ones the newest. Spec: BND-12."""
    monkeypatch.setattr(approvals, "APPROVAL_RECORDS_MAX", 3)
    keep(*(make.opened(key) for key in "abcd"))
    keep(*(make.moved(ApprovalInput.REFUSE, key=key) for key in "abc"))
    assert [each.opened.approval_id for each in snapshot().approvals] == ["b", "c", "d"]
    assert APPROVAL_RECORDS_MAX >= 3


def test_ended_approvals_go_and_waiting_ones_never(ledger, keep, snapshot, make) -> None:
    """Age lets ended approvals go. Spec: BND-16."""
    keep(make.opened("a"), make.opened("b"), make.opened("c"), make.moved(ApprovalInput.ALLOW, key="c", at=1.0))
    keep(
        make.moved(ApprovalInput.REFUSE, key="a", at=10.0),
        make.moved(ApprovalInput.REFUSE, key="b", at=20.0),
    )
    connection = ledger.database.connection
    assert approvals.drop_ended(connection, before=20.0, most=10) == 1
    assert approvals.drop_ended(connection, before=1e9, most=10) == 1
    assert [each.opened.approval_id for each in snapshot().approvals] == ["c"]
