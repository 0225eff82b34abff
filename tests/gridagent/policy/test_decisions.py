"""Decisions are values with stable codes."""

from __future__ import annotations

import pytest

from gridagent.actions import Say
from gridagent.authority import DenialCode
from gridagent.config.policy import BudgetScope, Meter
from gridagent.limits import Label
from gridagent.policy import Denied, RedeemRefusal
from gridagent.policy.decisions import AnswerCode, ApprovalAnswer, Ended, GrantAnswer, GrantCode

STABLE = {
    DenialCode: """origin_may_not role_too_low tainted target_not_authorised pattern_denied budget_spent
        budget_unavailable invalid_arguments unknown_action not_ready stale_generation held duplicate ledger_full
        approvals_full approval_denied approval_expired approval_cancelled resource_busy
        grant_refused grant_spent safe_mode""",
    RedeemRefusal: """forged unknown replayed expired stale_generation held cancelled superseded dry_run settled
        safe_mode not_intended""",
    AnswerCode: """allowed denied refused not_now unknown wrong_person wrong_nonce nonce_locked already_answered
        expired cancelled superseded""",
    GrantCode: """given revoked wrong_person invalid denied full unknown ended""",
}


@pytest.mark.parametrize("codes", list(STABLE))
def test_codes_are_stable(codes) -> None:
    """A code that people and programs rely on is not renamed by accident. Spec: POL-3, POL-7."""
    assert [code.value for code in codes] == STABLE[codes].split()


def test_decisions_cannot_be_changed() -> None:
    """A decision is frozen, and equal to one that says the same."""
    denied = Denied(code=DenialCode.HELD, rule="hold")
    with pytest.raises(AttributeError):
        denied.rule = "other"
    assert denied == Denied(code=DenialCode.HELD, rule="hold")


def test_every_rule_name_fits_where_it_is_shown(wide) -> None:
    """The longest names of rules fit a label."""
    patterns = {"n" * 48: {"action": "say", "argument": "text", "contains": ["x"], "then": "deny"}}
    policy = wide(patterns=patterns)
    names = [rule for row in policy.cells.values() for _, rule in row.values()]
    names += [pattern.denied.rule for group in policy.patterns.values() for pattern in group]
    names += [f"budget.{meter.value}.{per.value}.2678400s" for meter in Meter for per in BudgetScope]
    allowed = Label.__metadata__[0].max_length
    assert max(map(len, names)) <= allowed


def test_what_is_left_out_of_an_answer_is_nothing() -> None:
    """No correlation, no decision, no acceptance is made up."""
    ended = Ended(how="expired", action=Say(text="x"))
    assert (ended.correlation, ended.approval_id, ended.effect, ended.grant_id, ended.outcome) == ("",) + (None,) * 4
    answer = ApprovalAnswer(approval_id="a", code=AnswerCode.UNKNOWN)
    assert (answer.accepted, answer.decision, answer.request) == (False, None, None)
    given = GrantAnswer(code=GrantCode.FULL)
    assert (given.grant_id, given.denied, given.problem) == (None, None, "")
