"""The gateway and its reference agree, and the comparison bites."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import ACTIONS, PayAvatar
from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.policy import Instant
from gridagent.policy.budgets import BudgetBook, Payer, Short
from gridagent.policy.gateway import Gateway
from gridagent.policy.ledger import Ledger
from gridagent.policy.reference.budgets import ReferenceBudgets
from gridagent.policy.windows import Window
from tests.gridagent.policy.twins import GOOD, STEPS, Disagreement, Twins, cramp, policies


def test_the_histories_know_every_verb() -> None:
    """No action of the catalogue is left out of the comparison. Spec: POL-13."""
    assert {type(action) for action in GOOD} == set(ACTIONS)


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 12))
def test_both_agree_on_any_history(seed, steps) -> None:
    """Whatever happens in whatever order, both answer and record the same. Spec: POL-13, POL-2."""
    twins = Twins(seed, policies(16))
    twins.run(steps)
    assert twins.told or steps


def test_both_agree_when_everything_is_full(monkeypatch) -> None:
    """Under ceilings of two or three, long histories fill every book, and both refuse alike. Spec: POL-13, BND-12."""
    cramp(monkeypatch)
    seen: Counter = Counter()
    patient = tuple(each for each in policies(48) if each.approval_ttl_s >= 60 and each.handle_ttl_s >= 10)
    for seed in range(SEEDS):
        Twins(f"full-{seed}", patient, cramped=True, seen=seen).run(30)
    for what in (
        "denied ledger_full",
        "denied approvals_full",
        "denied budget_unavailable",
        "grant full",
        "crashed",
        "doubt settled",
    ):
        assert seen[what], what


SEEDS = 150


@pytest.mark.parametrize(
    "only", [{Twins.decide, Twins.redeem, Twins.settle, Twins.wait}, {Twins.give, Twins.wait, Twins.restart}]
)
def test_both_agree_when_one_book_is_full(monkeypatch, only) -> None:
    """Accounts of principals and peers, and grants, come and go alike at their ceilings. Spec: POL-13, BND-13."""
    cramp(monkeypatch)
    seen: Counter = Counter()
    for seed in range(100):
        Twins(f"book-{seed}", policies(48), cramped=True, seen=seen).run(60, without=set(STEPS) - only)
    assert seen["denied budget_unavailable"] or seen["grant full"]


BUDGETS = {
    Meter.IMS: (
        Budget(per=BudgetScope.PEER, limit=3, window_s=4),
        Budget(per=BudgetScope.PRINCIPAL, limit=5, window_s=2),
        Budget(per=BudgetScope.STRANGERS, limit=9, window_s=10),
    ),
    Meter.LINDEN: (Budget(per=BudgetScope.PEER, limit=30, window_s=1),),
}


def test_both_count_alike_when_accounts_come_and_go(monkeypatch) -> None:
    """With two accounts a pool and short windows, both refuse, forget and charge alike. Spec: POL-13, BND-13, POL-6."""
    monkeypatch.setattr("gridagent.policy.budgets.POOL_SIZES", (2, 2, 2))
    monkeypatch.setattr("gridagent.policy.budgets.PEERS_MAX", 2)
    rng, seen = random.Random("books"), Counter()
    real = BudgetBook(BUDGETS, pool_of=lambda _: 2)
    twin = ReferenceBudgets(BUDGETS, lambda _: 2, (2, 2, 2, 2))
    at = 10.0
    for _ in range(4_000):
        at += rng.choice((0.0, 0.25, 1.0, 1.0, 30.0))
        charges = tuple((meter, rng.randint(1, 3)) for meter in rng.sample(list(BUDGETS), rng.randint(1, 2)))
        payer = Payer(rng.choice("abc"), rng.random() < 0.5, rng.choice((None, "x", "y", "z")))
        commit, now = rng.random() < 0.9, Instant(1e9 + at, at)
        got = real.charge(charges, now, payer, commit=commit)
        expected = twin.charge(
            list(charges), now, key=payer.key, stranger=payer.stranger, peer=payer.peer, commit=commit
        )  # fmt: skip
        assert ((got.denied, got.marks) if isinstance(got, Short) else got) == expected
        seen[got.denied.code.value if isinstance(got, Short) else "charged"] += 1
        assert real.principals() == twin.principals()
    assert set(seen) == {"charged", "budget_spent", "budget_unavailable"}


def _twice(self, request, now, busy, approved, by="") -> object:
    return DECIDE(self, request, now, busy, approved, by) and DECIDE(self, request, now, busy, approved, by)


def _forgetful(self, effect) -> bool:
    return False


def _short(self, at) -> int:
    return 0


DECIDE = Gateway._decide
BREAKS = {
    "decides twice": (Gateway, "_decide", _twice),
    "knows no effect": (Ledger, "knows", _forgetful),
    "counts short": (Window, "used", _short),
}


@pytest.mark.parametrize("how", BREAKS)
def test_the_comparison_finds_a_broken_gateway(monkeypatch, how) -> None:
    """A gateway that is wrong in one point is found within some hundred histories. Spec: POL-13."""
    where, name, broken = BREAKS[how]
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(Disagreement, match="seed"):
        for seed in range(600):
            Twins(f"broken-{seed}", policies(16)).run(12)


def test_a_disagreement_tells_the_whole_story(monkeypatch) -> None:
    """The seed, the step, both answers and every step before are in it."""
    monkeypatch.setattr(Gateway, "cancel_cause", lambda *_: ())
    with pytest.raises(Disagreement) as found:
        for seed in range(600):
            Twins(f"story-{seed}", policies(16)).run(14)
    text = str(found.value)
    assert "seed 'story-" in text
    assert "at cancel" in text
    assert "cancel cause-" in text
    assert PayAvatar.__name__ in text or "connect 1" in text
