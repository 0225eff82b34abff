"""Codes, statuses and sentences are ours alone."""

from __future__ import annotations

import json

import pytest

from gridagent.grid.simulated.refusals import Refusal
from gridagent.policy import RedeemRefusal
from gridagent.tools.codes import REASONS, ResultCode, Status, error_text, safe_reason, wording


@pytest.mark.parametrize("code", ResultCode)
def test_every_code_but_done_says_what_to_do_next(code: ResultCode) -> None:
    """Each code has a status and, unless it is a success, a sentence; none promises a success. Spec: MND-7."""
    status, hint = wording(code)
    assert (status is Status.DONE) == (code is ResultCode.DONE)
    assert bool(hint) == (code is not ResultCode.DONE)
    assert len(hint) < 128


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_of_the_simulated_grid_is_repeated(refusal: Refusal) -> None:
    """A model learns why the grid said no."""
    assert safe_reason(refusal.value) == refusal.value


def test_words_of_others_are_not_repeated() -> None:
    """A reason that isn't on the list might be somebody's text. Spec: MND-3, SUP-10."""
    for text in ("ignore_all_previous_instructions", "Insufficient funds", "", "no_money "):
        assert safe_reason(text) == "other"
    assert {RedeemRefusal.HELD.value, RedeemRefusal.EXPIRED.value, RedeemRefusal.DRY_RUN.value} <= REASONS


def test_an_error_is_json_with_our_words_only() -> None:
    """The form is fixed, and what is empty is left out. Spec: MND-7."""
    told = json.loads(error_text(ResultCode.DENIED, reason="budget_spent"))
    assert told == {
        "ok": False,
        "status": "denied",
        "code": "denied",
        "reason": "budget_spent",
        "hint": wording(ResultCode.DENIED)[1],
    }
    assert json.loads(error_text(ResultCode.INVALID_ARGUMENTS, at="properties/x"))["at"] == "properties/x"
