"""Claims about approvals as the oracle sees them."""

from __future__ import annotations

import pytest

from gridagent import actions as wanted
from gridagent.simulation import questions as questions_module
from gridagent.simulation.account import digest_of
from gridagent.simulation.questions import Parked

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


def parked(court) -> Parked:
    """Return the account of the one request."""
    return court.account.questions._parked["a"]


def test_a_yes_that_was_lost_is_no_yes(an_asking_court) -> None:
    """What the disk does not know of it must be given again; the request itself waits on. Spec: POL-7. Fault: 38."""
    court = an_asking_court()
    court.account.on_allowed("a")
    court.account.questions.confront({"a": "pending"}, set(), crashed=True)
    assert (court.rules, parked(court).allowed_at, parked(court).survived) == ([], None, True)
    court.allow(approval_id="a")
    assert court.rules == ["an approval was given in time"]


def test_a_yes_that_was_kept_counts_once_in_a_later_life(an_asking_court) -> None:
    """It is used after the restart, and then used up. Spec: POL-7."""
    court = an_asking_court()
    questions = court.account.questions
    court.account.on_allowed("a")
    questions.confront({"a": "allowed"}, set(), crashed=True)
    court.allow(approval_id="a")
    assert (court.rules, questions.used_later) == ([], 1)
    questions.confront({"a": "claimed"}, {KEY}, crashed=True)
    del court.account._past.grants[KEY]
    court.propose()
    court.allow(approval_id="a")
    assert court.rules == ["an approval is used once"]


@pytest.mark.parametrize("state", ["pending", "allowed", "expired"])
def test_a_yes_that_was_used_is_used_up(an_asking_court, state: str) -> None:
    """Where the effect is on the disk, its claim is as well. Spec: POL-7."""
    court = an_asking_court()
    court.account.on_allowed("a")
    court.allow(approval_id="a")
    court.account.questions.confront({"a": state}, {KEY}, crashed=True)
    assert court.rules == ["a yes that was used is used up"]


def test_a_yes_that_nobody_gave_is_not_found(an_asking_court) -> None:
    """Nobody said so, and the disk does. Spec: POL-7."""
    court = an_asking_court()
    court.account.questions.confront({"a": "allowed"}, set(), crashed=True)
    assert court.rules == ["an approval was given in time"]


@pytest.mark.parametrize("crashed", [True, False])
def test_a_request_may_be_lost_in_a_crash_alone(an_asking_court, monkeypatch, *, crashed: bool) -> None:
    """An orderly end keeps it; what is over is remembered, up to a bound. Spec: POL-7."""
    monkeypatch.setattr(questions_module, "OVER_KEPT", 0)
    court = an_asking_court()
    court.account.questions.confront({}, set(), crashed=crashed)
    assert court.rules == ([] if crashed else ["an orderly end loses nothing"])
    assert court.account.questions._over == {}
