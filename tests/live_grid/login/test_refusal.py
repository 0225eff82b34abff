"""Refusals, sorted by what to do next."""

from __future__ import annotations

import pytest

from live_grid.login.refusal import NextStep, classify, unavailable

GHOST = "You appear to be already logged in. If this is not the case please wait for your session to timeout."


@pytest.mark.parametrize(
    ("reason", "message", "step"),
    [
        ("presence", GHOST, NextStep.RETRY_SOON),
        ("presence", "Logins are currently restricted. Please try again later.", NextStep.WAIT),
        (
            "key",
            "Could not authenticate your avatar. Please check your username and password.",
            NextStep.FIX_CREDENTIALS,
        ),
        ("key", "Error connecting to the desired location. Try connecting to another region.", NextStep.WAIT),
        ("key", "Logins to this region are disabled", NextStep.WAIT),
        ("key", "The region is full", NextStep.WAIT),
        ("key", "No suitable landing point found", NextStep.WAIT),
        ("key", "Failed to verify user presence in the grid for Ada Actor, access denied to Annex.", NextStep.WAIT),
        ("key", "Communications failure", NextStep.WAIT),
        ("key", "The operation has timed out.", NextStep.WAIT),
        ("key", "Unable to connect to the remote server", NextStep.WAIT),
        ("key", "We couldn't log you in. Check the region, your username and your password.", NextStep.FIX_CREDENTIALS),
        ("key", "", NextStep.FIX_CREDENTIALS),
        ("key", "You have been banned.", NextStep.ASK_OPERATOR),
        ("key", "You are banned from the region.", NextStep.ASK_OPERATOR),
        ("tos", "", NextStep.ACCEPT_TERMS),
        ("critical", "", NextStep.READ_CRITICAL),
        ("mfa_challenge", "", NextStep.GIVE_TOKEN),
        ("update", "", NextStep.UPDATE),
        ("Internal Error", "Error generating Login Response", NextStep.WAIT),
        ("something new", "", NextStep.ASK_OPERATOR),
        ("", "", NextStep.ASK_OPERATOR),
    ],
)
def test_each_reason_has_its_next_step(reason: str, message: str, step: NextStep) -> None:
    """The same word can mean two things; the text tells them apart. Spec: LIV-1, Fault: 13."""
    refused = classify(reason, message)
    assert (refused.next, refused.reason, refused.message) == (step, reason, message)


def test_only_two_steps_are_worth_another_try() -> None:
    """Everything else needs somebody to change something. Fault: 13."""
    assert [step for step in NextStep if not step.permanent] == [NextStep.RETRY_SOON, NextStep.WAIT]


def test_pages_that_are_no_reply_are_refusals_too() -> None:
    """Maintenance waits; a wrong address is the operator's."""
    assert unavailable(503).next is unavailable(200).next is NextStep.WAIT
    assert unavailable(404).next is NextStep.ASK_OPERATOR
    assert classify("x" * 100, "y" * 2000).message == "y" * 1024
    assert len(classify("x" * 100).reason) == 64
