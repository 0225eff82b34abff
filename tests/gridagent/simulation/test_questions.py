"""Claims about approvals as the oracle sees them."""

from __future__ import annotations

import pytest

from gridagent import actions as wanted
from gridagent.simulation.account import digest_of

OWNER = "00000000-0000-4000-8000-000000000001"
SAY = wanted.Say(text="hello")
KEY = "e" * 64
NONCE = "4F7K-9QXM-2TBD"


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("allowed", [False, True])
def test_an_approval_is_for_this_action_in_time_and_once(a_court, *, late: bool, asked: bool, allowed: bool) -> None:
    """Only a yes in time to the very question counts. Spec: POL-7."""
    court = a_court()
    court.connect()
    court.propose()
    if asked:
        court.row("decision", "needs_approval", approval_id="a", effect=KEY, digest=digest_of(SAY))
    if allowed:
        court.account.on_allowed("a")
    court.now = 31.0 if late else 1.0
    court.allow(approval_id="a")
    if not asked:
        assert court.rules == ["an approval is for the very action asked"]
    elif late or not allowed:
        assert court.rules == ["an approval was given in time"]
    else:
        assert court.rules == []
        court.allow(approval_id="a")
        assert "an approval is used once" in court.rules


def test_the_session_asks_those_who_may_answer_and_hides_the_nonce(an_asking_court) -> None:
    """What is decided on has a mask where what is sent has the nonce, and nobody else reads it. Spec: POL-7."""
    court = an_asking_court()
    court.ask()
    assert not court.account.questions.keep_secrets
    court.send()
    assert court.rules == []
    assert court.account.questions.keep_secrets
    court.account.questions.on_text(b"all is well", "an audit row")
    assert court.rules == []
    court.account.questions.on_text(f"allow {NONCE}".encode(), "an audit row")
    assert court.rules == ["a nonce is for its receiver alone"]


def test_only_who_may_answer_is_asked(an_asking_court) -> None:
    """A question that goes to a stranger gives the nonce away."""
    court = an_asking_court(to="00000000-0000-4000-8000-0000000000ff")
    court.ask()
    court.send()
    assert court.rules == ["only who may answer is asked"]


@pytest.mark.parametrize("changed", [{"cause": "approval-b"}, {"cause": "1.answer-u9"}, {"origin": "goal"}, {}])
def test_the_session_writes_only_with_cause(an_asking_court, changed: dict) -> None:
    """About an approval that waits, or to answer somebody who wrote, at the operator's door, as an IM."""
    court = an_asking_court()
    if not changed:
        court.asked = wanted.Say(text="Yes?")
    court.ask(**changed)
    assert court.rules == ["somebody asked for it"]


def test_an_answer_to_an_answer_is_no_question(an_asking_court) -> None:
    """It has a cause of its own and carries no nonce."""
    court = an_asking_court()
    court.hear("allow nothing")
    court.asked = court.sent = wanted.SendIm(to=OWNER, text="Your answer did nothing.")
    court.ask(cause="1.answer-u9")
    court.send()
    assert court.rules == []


@pytest.mark.parametrize(
    ("text", "source", "given"),
    [
        (f"allow {NONCE}", OWNER, True),
        (f" ALLOW  {NONCE}\n", OWNER, True),
        (f"deny {NONCE}", OWNER, False),
        ("allow AAAA-BBBB-CCCC", OWNER, False),
        (f"please allow {NONCE}", OWNER, False),
        (f"allow {NONCE}", "00000000-0000-4000-8000-0000000000ff", False),
    ],
)
def test_a_yes_over_im_counts_with_the_nonce_from_who_may_give_it(
    an_asking_court, text: str, source: str, *, given: bool
) -> None:
    """The oracle reads the world's own word for it. Spec: POL-7; Fault: 27."""
    court = an_asking_court()
    court.ask()
    court.send()
    court.hear(text, source)
    court.allow(approval_id="a")
    assert court.rules == ([] if given else ["an approval was given in time"])


def test_nonces_are_remembered_within_a_bound(an_asking_court, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest goes first."""
    monkeypatch.setattr("gridagent.simulation.questions.NONCES_KEPT", 0)
    court = an_asking_court()
    court.ask()
    court.send()
    assert not court.account.questions.keep_secrets
