"""Claims about what a database must still know after an end of the service, and what a crash may lose."""

from __future__ import annotations

import pytest

from gridagent.actions import PayAvatar, Say, SendIm
from gridagent.simulation import history as history_module
from gridagent.simulation.account import Account
from gridagent.simulation.examination import FoundAvatar
from gridagent.simulation.views import AuditView

EFFECT = "e" * 64
OWNER = "00000000-0000-4000-8000-000000000001"


def paid(a_court):
    """Return a court in which L$ 3 were paid and nobody knows yet; and the payment."""
    court = a_court()
    court.do(PayAvatar(to=OWNER, amount=3), balance=-3)
    return court, court.account._past


def found(state: str | None = None, **more: object) -> FoundAvatar:
    """Return what an examiner found of the effect."""
    return FoundAvatar(effects={} if state is None else {EFFECT: state}, **more)


@pytest.mark.parametrize("state", ["sent", "confirmed", "in_doubt"])
def test_a_payment_that_a_crash_left_behind_is_known(a_court, state: str) -> None:
    """Sent, confirmed or in doubt: all of these say that it may have happened. Spec: EFX-2. Fault: 38."""
    court, history = paid(a_court)
    rows = list(history.rows)
    reckoning = history.confront(found(state, rows=rows), crashed=True)
    assert court.rules == []
    assert (reckoning.lost, reckoning.sent, reckoning.rows_lost) == (0, int(state == "sent"), 0)
    assert history.grants[EFFECT].cut_off == ("sent" if state == "sent" else "")


@pytest.mark.parametrize(
    ("state", "rules"),
    [
        (None, {"what may have cost something is remembered", "what was paid is known"}),
        ("reserved", {"what may have cost something is remembered", "what was paid is known"}),
        ("refused", {"what was paid is known"}),
    ],
)
def test_a_payment_is_never_missing_unsent_or_refused(a_court, state: str | None, rules: set[str]) -> None:
    """The world has the money. Spec: EFX-2, POL-6."""
    court, history = paid(a_court)
    history.confront(found(state, rows=list(history.rows)), crashed=True)
    assert set(court.rules) == rules


def test_who_said_by_hand_that_it_was_not_paid_may_be_wrong(a_court) -> None:
    """An operator's word is taken, also by the oracle. Spec: EFX-2."""
    court, history = paid(a_court)
    court.account.on_order(1, "settle_effect", effect=EFFECT)
    history.confront(found("refused", rows=list(history.rows)), crashed=True)
    assert court.rules == []


def test_words_may_be_lost_in_a_crash_with_what_they_cost(a_court) -> None:
    """What costs nothing is not waited for; its key is free again. Spec: EFX-2."""
    court = a_court()
    court.do(Say(text="hello"))
    history = court.account._past
    assert history.confront(found(), crashed=True).lost == 1
    assert (court.rules, history.grants, history.by_reference) == ([], {}, {})
    assert all(not entries for entries in history.sums._used.values())


def test_an_orderly_end_loses_nothing(a_court) -> None:
    """No effect, no end of one, no row and no approval. Spec: EFX-2, POL-10."""
    court = a_court()
    court.do(Say(text="hello"))
    court.settle("confirmed")
    history = court.account._past
    history.confront(found(rows=history.rows[:1]), crashed=False)
    assert court.rules == ["an orderly end loses nothing"] * 2
    again = a_court()
    again.do(Say(text="hello"))
    again.account._past.confront(found("in_doubt", rows=list(again.account._past.rows)), crashed=False)
    assert again.rules == ["an orderly end loses nothing"]


def test_what_was_recorded_is_what_was_said(a_court) -> None:
    """An end that was told is not another one on the disk. Spec: EFX-1."""
    court, history = paid(a_court)
    history.grants[EFFECT].outcome = "confirmed"
    history.confront(found("refused", rows=list(history.rows)), crashed=True)
    assert court.rules == ["what was recorded is what was said", "what was paid is known"]


def test_rows_are_a_stretch_of_what_happened(a_court) -> None:
    """A crash cuts the newest off, retention the oldest; another row is a breach. Spec: POL-10."""
    court = a_court()
    for _ in range(4):
        court.row("policy", "reloaded")
    history = court.account._past
    rows = list(history.rows)
    for kept in (rows, rows[:2], rows[1:3], []):
        history.confront(FoundAvatar(rows=kept), crashed=True)
    assert court.rules == []
    history.confront(FoundAvatar(rows=[rows[0], rows[2]]), crashed=True)
    assert court.rules == ["the audit trail is what happened"]
    history.confront(FoundAvatar(rows=rows[:3]), crashed=False)
    assert court.rules[1:] == ["an orderly end loses nothing"]


def test_rows_of_an_earlier_run_are_no_rows_of_this_one(a_court) -> None:
    """Before the first row of a run is on the disk, the newest ones there are older. Spec: POL-10."""
    court = a_court()
    court.now = 100.0
    court.row("policy", "reloaded")
    old = AuditView(seq=7, at=5.0, kind="policy", code="reloaded")
    reckoning = court.account._past.confront(FoundAvatar(rows=[old]), crashed=True)
    assert (court.rules, reckoning.rows_lost) == ([], 1)


def test_a_generation_that_went_on_its_way_is_on_the_disk(a_court) -> None:
    """One that had only a backend may come again. Spec: SUP-5."""
    court = a_court()
    history = court.account._past
    court.connect(1)
    court.account.on_connecting(1)
    court.connect(2)
    history.confront(FoundAvatar(generation=1), crashed=True)
    court.connect(2)
    assert (court.rules, history.generation) == ([], 2)
    court.account.on_connecting(2)
    history.confront(FoundAvatar(generation=1), crashed=True)
    assert court.rules == ["a generation is never used again"]


def test_who_was_told_of_a_hold_is_not_deceived(a_court) -> None:
    """Told is what was replied; a later order to release makes it open again. Spec: POL-12."""
    court = a_court()
    account, history = court.account, court.account._past
    account.on_order(1, "hold")
    history.confront(FoundAvatar(), crashed=True)
    account.on_reply(1, "ok")
    history.confront(FoundAvatar(held=True), crashed=True)
    assert (court.rules, history.held) == ([], True)
    account.on_order(2, "release")
    history.confront(FoundAvatar(), crashed=True)
    assert court.rules == []
    account.on_order(3, "hold")
    account.on_reply(3, "ok")  # the release may have been carried out later
    history.confront(FoundAvatar(), crashed=True)
    account.on_reply(2, "ok")
    account.on_order(4, "hold")
    account.on_reply(4, "ok")
    assert court.rules == []
    history.confront(FoundAvatar(), crashed=True)
    history.confront(FoundAvatar(), crashed=True)
    assert court.rules == ["who was told of a hold is not deceived"]


def test_a_restart_guesses_nothing(a_court) -> None:
    """What was sent comes into doubt, what was not is refused; neither the other way round. Spec: EFX-2."""
    for state, code, rules in (
        ("sent", "in_doubt", []),
        ("reserved", "refused", []),
        ("sent", "refused", ["a restart guesses nothing"]),
        ("reserved", "confirmed", ["a restart guesses nothing", "confirmed means happened"]),
    ):
        court = a_court()
        court.connect()
        court.propose()
        court.allow()
        history = court.account._past
        history.confront(found(state, rows=list(history.rows)), crashed=True)
        court.account = Account(history, "robin")
        court.rows = 0
        court.settle(code)
        assert court.rules == rules


def test_the_past_is_remembered_by_its_keys(a_court, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended long ago is not looked up any more, and not allowed again either; payments are bounded."""
    monkeypatch.setattr(history_module, "_PAID_KEPT", 2)
    court = a_court()
    court.do(Say(text="hello"))
    court.settle("confirmed")
    history = court.account._past
    court.now = 4_000.0
    history.confront(found("confirmed", rows=list(history.rows)), crashed=False)
    assert (court.rules, history.grants) == ([], {})
    court.propose()
    court.allow()
    assert court.rules == ["one authorisation an effect"]
    for number in range(4):
        history.note_paid(str(number), 1)
    assert list(history.paid) == ["2", "3"]
    monkeypatch.setattr(history_module, "_ORDERS_KEPT", 1)
    history.ordered.update(first=1, second=0, third=2)
    history.settling |= {"1", "2"}
    history.by_hand |= {"1", "2"}
    history._let_go()
    assert (history.ordered, history.settling, history.by_hand) == ({"third": 2}, set(), {"2"})
    Account(history, "robin")
    assert history.books == {}


@pytest.mark.parametrize(
    ("action", "kept"), [(Say(text="hello"), False), (PayAvatar(to=OWNER, amount=1), True)], ids=["light", "costly"]
)
def test_only_a_doubt_that_may_have_cost_something_is_never_let_go(a_court, action, *, kept: bool) -> None:
    """Retention drops old doubts of what costs nothing; one about money stays. Spec: BND-16, EFX-2."""
    court = a_court()
    court.do(action)
    court.settle("in_doubt")
    history = court.account._past
    court.now = 4_000.0
    history._let_go()
    assert bool(history.grants) is kept


def test_the_dead_speak_to_nobody(a_court) -> None:
    """What is still said of a process that is gone changes nothing and breaks nothing."""
    court = a_court()
    history, account = court.account._past, court.account
    account.die(court.oracle.deaf())
    account.breach("x", "y")
    court.row("decision", "authorized", action="say", effect=EFFECT)
    account.on_backend(7)
    account.on_told(SendIm(to=OWNER, text="x"))
    assert (court.rules, history.rows, history.grants, history.generation) == ([], [], {}, 0)
