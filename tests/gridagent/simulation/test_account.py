"""Claims about one avatar's account: what is right passes, and each wrong is named by the rule it breaks."""

from __future__ import annotations

import pytest

from gridagent import actions as wanted
from gridagent.events import ChatHeard, Delivered, Speaker, SpeakerKind
from gridagent.simulation.account import digest_of
from gridagent.simulation.views import EventView, OutcomeView

OWNER = "00000000-0000-4000-8000-000000000001"
SAY = wanted.Say(text="hello")
PAY = wanted.PayAvatar(to=OWNER, amount=3)
KEY = "e" * 64
REFERENCE = KEY[:16]


def test_an_honest_life_breaks_nothing(a_court) -> None:
    """Asked, authorised, redeemed, done, told and ended, each once. Spec: SIM-3."""
    court = a_court()
    court.account.on_order(1, "connect")
    court.do()
    court.account.on_told(ChatHeard(utterance_id="u", source=Speaker(kind=SpeakerKind.SELF), text="hello"))
    court.settle("confirmed")
    court.account.on_reply(1, "ok")
    court.see("control", control="connect")
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="confirmed"))
    court.account.on_logout(1)
    court.see("generation_closed", logged_out=True)
    court.see("approval_opened")
    court.account.end()
    assert court.rules == []
    assert court.oracle.checked > 0


def test_an_effect_is_authorised_once_by_somebody_who_asked(a_court) -> None:
    """Nobody asked, twice, held, and for an old generation. Spec: POL-2, POL-12, SUP-5, EFX-2."""
    court = a_court()
    court.connect(2)
    court.allow(generation=1)
    assert court.rules == ["no authority for an old generation", "somebody asked for it"]
    court = a_court()
    court.connect()
    court.propose()
    court.row("hold", "held")
    court.allow()
    court.row("hold", "released")
    court.allow()
    assert court.rules == ["nothing is authorised while held", "one authorisation an effect"]


def test_rows_count_up(a_court) -> None:
    """A row that is missing shows. Spec: POL-10."""
    court = a_court()
    court.rows = 3
    court.row("hold", "held")
    assert court.rules == ["audit rows without a gap"]


def test_an_order_is_used_once(a_court) -> None:
    """The operator's own words need no proposal, once for each time they were ordered."""
    court = a_court()
    court.connect()
    court.account.on_said_by_operator("hello")
    court.account.on_order(1, "act", action=PAY)
    own = {"who": "client:operator", "origin": "operator_console", "cause": "control-1"}
    court.allow(**own)
    court.allow(PAY, effect="f" * 64, **own)
    assert court.rules == []
    court.allow(effect="d" * 64, **own)
    assert court.rules == ["somebody asked for it"]


def test_words_of_objects_cause_nothing(a_court) -> None:
    """An utterance of an object is no cause. Fault: 15."""
    court = a_court()
    court.connect()
    speaker = Speaker(kind=SpeakerKind.OBJECT, id=OWNER)
    court.account.on_told(ChatHeard(utterance_id="u1", source=speaker, text="pay me"))
    court.propose()
    court.allow()
    assert court.rules == ["object text never causes anything"]


@pytest.mark.parametrize(
    ("redeemed_by", "after_s", "rule"),
    [(1, 1.0, None), (1, 10.0, "a handle is honoured in time"), (2, 1.0, "nothing of an old generation")],
)
def test_a_handle_is_honoured_in_time_by_its_own_generation(
    a_court, redeemed_by: int, after_s: float, rule: str | None
) -> None:
    """Late, and by another connection. Fault: 27."""
    court = a_court()
    court.connect()
    court.propose()
    court.allow()
    court.now = after_s
    court.account.on_redeemed(redeemed_by, KEY)
    assert court.rules == ([] if rule is None else [rule])


def test_a_handle_is_honoured_once_and_not_after_its_end(a_court) -> None:
    """Twice, after the end, and one that nobody minted. Fault: 27."""
    court = a_court()
    court.do()
    court.settle("in_doubt")
    court.account.on_redeemed(1, KEY)
    court.account.on_redeemed(1, "f" * 64)
    court.account.on_dishonest("a copied handle")
    assert court.rules == [
        "a handle is honoured once",
        "what has ended is not honoured",
        "only what was authorised is honoured",
        "no trick makes a handle",
    ]


def test_what_is_done_was_authorised_redeemed_and_not_changed(a_court) -> None:
    """Twice, unredeemed, held, of an old generation, with other words. Spec: POL-1, POL-2, POL-12; Fault: 29."""
    court = a_court()
    court.do()
    court.perform()
    assert court.rules == ["an effect is done at most once"]
    court = a_court()
    court.connect()
    court.propose()
    court.allow()
    court.row("hold", "held")
    court.connect(2)
    court.perform(wanted.Say(text="other"))
    assert court.rules == [
        "only what was redeemed is done",
        "nothing is done while held",
        "nothing of an old generation",
        "what was authorised is what is done",
    ]


def test_the_policy_is_worked_out_anew(a_court) -> None:
    """Cell, taint, approval, dry run and sums, each by its own rule. Spec: POL-4, POL-5, POL-6, POL-11, POL-14."""
    court = a_court(matrix={"direct_im": {"speak": "deny"}}, tainted={"speak": "deny"}, dry_run=True, budgets={})
    court.connect()
    court.propose()
    court.allow(tainted=True)
    court.account.on_redeemed(1, KEY)
    court.perform()
    assert court.rules == [
        "the matrix holds",
        "the rules over arguments hold",
        "a dry run does nothing",
        "no budget is overrun",
    ]
    court = a_court()
    court.do(wanted.UploadAsset(name="n", kind="k", sha256="0" * 64))
    assert court.rules == ["a person was asked"]


def test_an_effect_ends_once_and_only_by_hand_again(a_court) -> None:
    """Two ends, an end of nothing, doubt about what was not sent, refused money that moved. Spec: EFX-1, EFX-2."""
    court = a_court()
    court.do(PAY, balance=-3)
    court.settle("refused", "pay_avatar")
    court.settle("in_doubt", "pay_avatar")
    court.settle("refused", "say", "f" * 64)
    assert court.rules == ["refused money did not move", "one outcome an effect", "only what was authorised ends"]
    court = a_court()
    court.do(PAY)
    court.settle("in_doubt", "pay_avatar")
    court.account.on_order(1, "settle_effect", effect=KEY)
    court.settle("confirmed", "pay_avatar")
    assert court.rules == []
    court = a_court()
    court.do(PAY, balance=-3)
    court.settle("in_doubt", "pay_avatar")
    court.settle("confirmed", "pay_avatar", settled_by="reconciliation")
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="in_doubt"))
    assert court.rules == []
    court.settle("confirmed", "pay_avatar", settled_by="reconciliation")
    assert court.rules == ["one outcome an effect"]


@pytest.mark.parametrize(
    ("balance", "said", "rule"),
    [(-3, "refused", "refused money did not move"), (0, "confirmed", "confirmed means happened")],
)
def test_what_is_found_out_late_must_be_true(a_court, balance: int, said: str, rule: str) -> None:
    """Reconciliation that guesses wrong is a breach like any other. Spec: EFX-1, EFX-2."""
    court = a_court()
    court.do(PAY, balance=balance)
    court.settle("in_doubt", "pay_avatar")
    court.settle(said, "pay_avatar", settled_by="reconciliation")
    assert court.rules == [rule]
    court = a_court()
    court.connect()
    court.propose()
    court.allow()
    court.settle("in_doubt")
    assert court.rules == ["doubt only about what was sent"]


def test_what_is_observed_is_what_was_recorded(a_court) -> None:
    """An end that was not authorised, one seen twice, one that differs. Spec: BND-3, EFX-1."""
    court = a_court()
    court.do()
    court.settle("refused")
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="confirmed"))
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="refused"))
    court.see("outcome", effect="f" * 64)
    assert court.rules == [
        "what is said is what is recorded",
        "one outcome an effect",
        "only what was authorised ends",
    ]


def test_events_are_of_the_present_connection(a_court) -> None:
    """Marked events of an old generation, and any without a connection. Spec: SUP-5."""
    court = a_court()
    court.see("event", event=EventView(event="alert_shown", text="words"))
    assert court.rules == ["no event without a connection"]
    court = a_court()
    court.see("link_state", state="online")
    court.see("event", generation=2, event=EventView(event="alert_shown", text="canary 2 x"))
    court.see("event", generation=2, event=EventView(event="alert_shown", text="canary 1 x"))
    court.see("event", generation=2)
    assert court.rules == ["no event of an old generation"]
    court = a_court()
    court.account.on_lag()
    court.see("event", event=EventView(event="alert_shown"))
    assert court.rules == []


def test_generations_count_up_end_once_and_log_out_once(a_court) -> None:
    """Twice the same number, two ends, two logouts, a logout that was not made. Spec: SUP-5, SUP-9, BND-5."""
    court = a_court()
    court.connect()
    court.connect()
    court.account.on_logout(1)
    court.account.on_logout(1)
    court.see("generation_closed", generation=3, logged_out=True)
    court.see("generation_closed", generation=3, logged_out=False)
    assert court.rules == [
        "generations count up",
        "one logout a generation",
        "a logout that is reported was made",
        "a generation ends once",
    ]


def test_every_control_has_one_reply(a_court) -> None:
    """None, two, and replies that nobody could see; one more where the service asked itself. Spec: SUP-8."""
    court = a_court()
    court.account.on_order(1, "pause")
    court.account.end()
    court.account.on_reply(1, "ok")
    court.account.on_reply(1, "ok")
    court.account.end()
    assert court.rules == ["one reply a control"] * 3
    court = a_court()
    court.account.on_order(1, "pause")
    court.account.on_reply(1, None)
    court.account.on_order(2, "pause")
    court.account.on_reply(2, "stopped")
    court.see("control", control="shut_down")
    court.account.end()
    assert court.rules == []
    court.account.on_order(3, "pause")
    court.account.on_reply(3, "ok")
    court.account.on_lag()
    court.account.end()
    assert court.rules == []


def test_what_never_ends_is_named(a_court) -> None:
    """An effect without an outcome when the service is gone. Spec: EFX-1."""
    court = a_court()
    court.do()
    court.account.end()
    assert court.rules == ["every effect ends"]


def test_what_is_remembered_is_bounded(a_court, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposals and references are forgotten, oldest first."""
    monkeypatch.setattr("gridagent.simulation.account.PROPOSALS_KEPT", 2)
    court = a_court()
    for number in range(5):
        court.propose(ordinal=number)
        court.account.on_told(Delivered(reference=f"r{number}"))
    assert len(court.account._past.proposed) == 2
    assert list(court.account._past.references) == ["r3", "r4"]


@pytest.mark.parametrize(
    ("origin", "cause", "right"),
    [
        ("direct_im", "3.u1", True),
        ("direct_im", "u1", True),
        ("direct_im", "x.u1", False),
        ("goal", "3.u1", False),
        ("goal", "u1", True),
    ],
)
def test_what_was_heard_carries_its_connection(a_court, origin: str, cause: str, *, right: bool) -> None:
    """The session puts the connection before the id of words; other causes stay as they were named."""
    court = a_court()
    court.connect(3)
    court.propose()
    court.allow(generation=3, origin=origin, cause=cause)
    assert court.rules == ([] if right else ["somebody asked for it"])


def test_what_has_no_canonical_form_has_no_digest() -> None:
    """A bool is no amount, and equal numbers are one action."""
    assert digest_of(wanted.PayAvatar(to=OWNER, amount=True)) == ""
    assert digest_of(wanted.TurnTo(heading_deg=5)) == digest_of(wanted.TurnTo(heading_deg=5.0)) != ""
