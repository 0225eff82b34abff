"""The books of a service: reserved before anything is awaited, settled once, never overspent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import InternalError
from gridagent.language import FailureKind
from gridagent.limits import BUDGET_PRINCIPALS_MAX
from gridagent.llm import accounting
from gridagent.llm.accounting import (
    DAY_S,
    Accounts,
    Limit,
    Meter,
    Reservation,
    Scope,
    SpendLimits,
    Spent,
)
from gridagent.llm.prices import Spend

WIDE = Limit(tokens=10**9, micros=10**9)


def limits(**narrow: Limit) -> SpendLimits:
    """Limits that only bite where they are given."""
    return SpendLimits(**{"turn": WIDE, "person": WIDE, "day": WIDE, "fleet": WIDE, **narrow})


def reserve(accounts: Accounts, tokens: int, *, turn="t", person="p", avatar="a", micros=0, now=0.0):
    """Ask for an amount."""
    return accounts.reserve(turn=turn, person=person, avatar=avatar, most=Spend(tokens=tokens, micros=micros), now=now)


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "field"),
    [(Scope.TURN, "turn"), (Scope.PERSON, "person"), (Scope.DAY, "day"), (Scope.FLEET, "fleet")],
)
def test_each_scope_has_its_limit(scope: Scope, field: str) -> None:
    """Whichever is used up first is named, for tokens and for money. Spec: MND-12."""
    accounts = Accounts(limits(**{field: Limit(tokens=100, micros=50)}))
    assert isinstance(reserve(accounts, 100, micros=50), Reservation)
    assert reserve(accounts, 1) == Spent(scope=scope, meter=Meter.TOKENS, allowed=100, used=100)
    accounts = Accounts(limits(**{field: Limit(tokens=100, micros=50)}))
    spent = reserve(accounts, 1, micros=51)
    assert spent == Spent(scope=scope, meter=Meter.MONEY, allowed=50, used=0)
    assert spent.failure().kind is FailureKind.SPENT
    assert accounts.used(scope, {"person": "p", "day": "a", "turn": "t"}.get(field, ""), now=0.0) == Spend()


def test_scopes_are_apart() -> None:
    """Another turn, person or avatar has a limit of its own; the fleet's is common. Spec: MND-12."""
    narrow = Limit(tokens=100, micros=100)
    accounts = Accounts(limits(turn=narrow, person=narrow, day=narrow))
    assert isinstance(reserve(accounts, 100), Reservation)
    assert reserve(accounts, 1, turn="u", avatar="b").scope is Scope.PERSON
    assert reserve(accounts, 1, turn="u", person="q").scope is Scope.DAY
    assert reserve(accounts, 1, person="q", avatar="b").scope is Scope.TURN
    assert isinstance(reserve(accounts, 100, turn="u", person="q", avatar="b"), Reservation)
    nobodys = reserve(accounts, 100, turn="v", person="", avatar="")
    accounts.settle(nobodys, Spend(tokens=90), now=0.0)
    assert accounts.used(Scope.FLEET, now=0.0).tokens == 290


def test_requests_at_one_time_cannot_overspend_together() -> None:
    """What is reserved counts until it is settled. Spec: MND-12."""
    accounts = Accounts(limits(person=Limit(tokens=100, micros=0)))
    first = reserve(accounts, 60)
    assert isinstance(reserve(accounts, 60, turn="u"), Spent)
    accounts.settle(first, Spend(tokens=10), now=0.0)
    assert isinstance(reserve(accounts, 60, turn="u"), Reservation)
    assert accounts.used(Scope.PERSON, "p", now=0.0) == Spend(tokens=70)


def test_settling_puts_the_truth_in_place_of_the_most() -> None:
    """Once, and with whatever it was, more than was told included."""
    accounts = Accounts(limits())
    held = reserve(accounts, 60)
    accounts.settle(held, Spend(tokens=75, micros=3), now=0.0)
    for scope, who in ((Scope.TURN, "t"), (Scope.PERSON, "p"), (Scope.DAY, "a"), (Scope.FLEET, "")):
        assert accounts.used(scope, who, now=0.0) == Spend(tokens=75, micros=3)
    with pytest.raises(InternalError, match="once"):
        accounts.settle(held, Spend(), now=0.0)
    assert accounts.end_turn("t") == Spend(tokens=75, micros=3)
    assert accounts.end_turn("t") == Spend()
    assert accounts.used(Scope.TURN, "t", now=0.0) == Spend()


def test_a_request_may_outlive_its_turn() -> None:
    """A cancelled turn's request still counts in the day."""
    accounts = Accounts(limits())
    held = reserve(accounts, 60)
    accounts.end_turn("t")
    accounts.settle(held, held.most, now=0.0)
    assert accounts.used(Scope.DAY, "a", now=0.0) == Spend(tokens=60)


def test_a_day_slides_and_never_goes_back() -> None:
    """What was spent a day ago no longer counts; a clock that goes back reopens nothing. Spec: MND-12. Fault: 30."""
    accounts = Accounts(limits(fleet=Limit(tokens=100, micros=0)))
    accounts.settle(reserve(accounts, 100), Spend(tokens=100), now=DAY_S * 2.0)
    assert isinstance(reserve(accounts, 1, now=0.0), Spent)
    assert isinstance(reserve(accounts, 1, now=DAY_S * 2.9), Spent)
    assert isinstance(reserve(accounts, 1, now=DAY_S * 3.2), Reservation)


# --- bounds ---------------------------------------------------------------------------------------


def test_books_are_bounded_and_nobody_is_forgotten_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person too many waits until somebody's window is empty. Spec: BND-13, MND-12."""
    assert accounting.BUDGET_PRINCIPALS_MAX == BUDGET_PRINCIPALS_MAX
    monkeypatch.setattr(accounting, "BUDGET_PRINCIPALS_MAX", 2)
    accounts = Accounts(limits())
    for person in ("p", "q"):
        accounts.settle(reserve(accounts, 5, person=person), Spend(tokens=5), now=0.0)
    assert reserve(accounts, 1, person="r") == Spent(scope=Scope.PERSON, meter=Meter.TOKENS, allowed=0, used=0)
    reserve(accounts, 1, person="p", now=DAY_S * 1.2)
    assert isinstance(reserve(accounts, 1, person="r", now=DAY_S * 1.2), Reservation)
    assert accounts.used(Scope.PERSON, "q", now=DAY_S * 1.2) == Spend()
    assert isinstance(reserve(accounts, 1, person="s", now=DAY_S * 1.2), Spent)


def test_open_turns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One open turn too many gets nothing until one ends. Spec: MND-12."""
    monkeypatch.setattr(accounting, "_TURNS_MAX", 1)
    accounts = Accounts(limits())
    reserve(accounts, 1, turn="t")
    assert reserve(accounts, 1, turn="u").scope is Scope.TURN
    accounts.end_turn("t")
    assert isinstance(reserve(accounts, 1, turn="u"), Reservation)


def test_a_forgotten_person_leaves_no_window() -> None:
    """Their window goes, what they cost stays in the day; while a request is under way it stays. Spec: MEM-5."""
    accounts = Accounts(limits())
    held = reserve(accounts, 5)
    accounts.forget("p")
    assert accounts.used(Scope.PERSON, "p", now=0.0) == Spend(tokens=5)
    accounts.settle(held, Spend(tokens=5), now=0.0)
    accounts.forget("p")
    accounts.forget("nobody")
    assert accounts.used(Scope.PERSON, "p", now=0.0) == Spend()
    assert accounts.used(Scope.DAY, "a", now=0.0) == Spend(tokens=5)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("rs"), st.integers(0, 40), st.sampled_from("pq"), st.sampled_from("ab"), st.integers(0, 9)
        ),
        max_size=40,
    )
)
def test_no_order_of_requests_overspends(steps: list) -> None:
    """Whatever is reserved and settled (with at most what was reserved), no limit is passed. Spec: MND-12."""
    narrow = limits(
        person=Limit(tokens=100, micros=0), day=Limit(tokens=120, micros=0), fleet=Limit(tokens=150, micros=0)
    )
    accounts, held, now = Accounts(narrow), [], 0.0
    for what, tokens, person, avatar, wait in steps:
        now += wait
        if what == "r":
            found = reserve(accounts, tokens, turn=f"t{len(held)}", person=person, avatar=avatar, now=now)
            held += [found] if isinstance(found, Reservation) else []
        elif held:
            one = held.pop()
            accounts.settle(one, Spend(tokens=min(tokens, one.most.tokens)), now=now)
        for scope, who, most in (
            (Scope.PERSON, "p", 100),
            (Scope.PERSON, "q", 100),
            (Scope.DAY, "a", 120),
            (Scope.FLEET, "", 150),
        ):
            assert 0 <= accounts.used(scope, who, now=now).tokens <= most
