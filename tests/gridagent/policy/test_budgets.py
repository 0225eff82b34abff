"""Meters over windows: charged all at once or not at all, bounded, and never forgotten too early."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.authority import DenialCode
from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.errors import LimitExceeded
from gridagent.limits import BUDGET_PRINCIPALS_MAX
from gridagent.policy import Instant
from gridagent.policy.budgets import (
    KNOWN_MAX,
    OTHERS_MAX,
    PEERS_MAX,
    BudgetBook,
    BudgetGauge,
    BudgetRow,
    BudgetSnapshot,
    Payer,
    Short,
)

WALL = 1_700_000_000.0
SAY, BYTES, IMS, PAY = Meter.CALLS_SPEAK, Meter.SPEECH_BYTES, Meter.IMS, Meter.LINDEN


def budget(per, limit, window_s=60) -> Budget:
    """Write one budget."""
    return Budget(per=BudgetScope(per), limit=limit, window_s=window_s)


def pool_of(key: str) -> int:
    """Sort keys into pools by their first letter: o for configured, f for fronts, anything else for strangers."""
    return {"o": 0, "f": 1}.get(key[:1], 2)


class Till:
    """A book and a clock."""

    def __init__(self, **budgets):
        self.at = 100.0
        self.book = BudgetBook(
            {Meter(name.replace("_dot_", ".")): lines for name, lines in budgets.items()}, pool_of=pool_of
        )

    @property
    def now(self) -> Instant:
        return Instant(WALL + self.at, self.at)

    def charge(self, *charges, key="stranger", stranger=None, peer=None, commit=True):
        return self.book.charge(
            charges,
            self.now,
            Payer(key, pool_of(key) == 2 if stranger is None else stranger, peer),
            commit=commit,
        )

    def fits(self, *charges, **fields) -> bool:
        return not isinstance(self.charge(*charges, **fields), Short)


def till(mapping) -> Till:
    """Make a till from meters."""
    made = Till()
    made.book = BudgetBook(mapping, pool_of=pool_of)
    return made


def test_a_budget_is_spent_to_its_limit_and_not_beyond() -> None:
    """The limit itself fits, one more does not, and the refusal names the budget. Spec: POL-6."""
    t = till({PAY: (budget("global", 10),)})
    assert t.charge((PAY, 10))[0].after == 10
    short = t.charge((PAY, 1))
    assert isinstance(short, Short)
    assert (short.denied.code, short.denied.rule) == (DenialCode.BUDGET_SPENT, "budget.linden.global.60s")
    assert (short.marks[0].before, short.marks[0].after, short.marks[0].limit) == (10, 10, 10)


def test_a_meter_without_a_budget_is_zero() -> None:
    """What nobody wrote a number for cannot be used, nor what an empty list was written for. Spec: BND-13."""
    t = till({SAY: (budget("global", 10),), BYTES: ()})
    for meter in (PAY, BYTES, Meter.METRES):
        short = t.charge((meter, 1))
        assert (short.denied.code, short.denied.rule) == (DenialCode.BUDGET_SPENT, f"budget.{meter.value}.unset")
        assert short.marks == ()


def test_a_charge_is_all_or_nothing() -> None:
    """When one meter is short, none is charged. Spec: POL-6."""
    t = till({SAY: (budget("principal", 10), budget("global", 10)), BYTES: (budget("global", 5),)})
    assert isinstance(t.charge((SAY, 1), (BYTES, 6)), Short)
    marks = t.charge((SAY, 10), (BYTES, 5))
    assert [(mark.meter, mark.per.value, mark.before, mark.after) for mark in marks] == [
        (SAY, "principal", 0, 10),
        (SAY, "global", 0, 10),
        (BYTES, "global", 0, 5),
    ]


def test_asking_whether_it_fits_charges_nothing() -> None:
    """A look changes no count and makes no account."""
    t = till({PAY: (budget("principal", 5), budget("global", 10))})
    for _ in range(9):
        assert t.charge((PAY, 5), commit=False) == ()
    assert t.book.principals() == 0
    assert isinstance(t.charge((PAY, 6), commit=False), Short)
    assert t.fits((PAY, 5))
    assert not t.fits((PAY, 5), commit=False)


def test_each_scope_adds_up_whom_it_says() -> None:
    """Principals apart, receivers apart, strangers together, everybody together. Spec: POL-6."""
    t = till({IMS: (budget("principal", 3), budget("peer", 2), budget("strangers", 5), budget("global", 6))})
    assert t.fits((IMS, 2), key="s1", peer="p1")
    assert not t.fits((IMS, 1), key="s2", peer="p1")  # the receiver has had enough, whoever asks
    assert not t.fits((IMS, 2), key="s1", peer="p2")  # this asker has
    assert t.fits((IMS, 2), key="s2", peer="p2")
    assert not t.fits((IMS, 2), key="s3", peer="p3")  # strangers together have
    assert t.fits((IMS, 2), key="owner", peer="p3")  # the owner has not
    assert not t.fits((IMS, 1), key="owner", peer="p4")  # everybody has
    assert t.book.principals() == 3


def test_a_budget_per_receiver_leaves_what_is_done_to_nobody_alone() -> None:
    """Only actions with a receiver are counted by receiver."""
    t = till({PAY: (budget("peer", 1), budget("global", 10))})
    assert t.fits((PAY, 5), peer=None)
    assert not t.fits((PAY, 5), peer="p")


def test_a_crowd_leaves_the_owner_their_share() -> None:
    """Five hundred accounts that ask without end cannot use up what the owner needs. Fault: 18."""
    t = till({SAY: (budget("principal", 10), budget("strangers", 50), budget("global", 60))})
    passed = sum(t.fits((SAY, 1), key=f"s{number % 500}") for number in range(5_000))
    assert passed == 50
    assert all(t.fits((SAY, 1), key="owner") for _ in range(10))


def test_a_window_slides() -> None:
    """What was used comes free after the window, not sooner, and at most a bucket later. Spec: POL-6."""
    t = till({PAY: (budget("global", 10, 160),)})
    assert t.fits((PAY, 6))
    t.at += 80
    assert t.fits((PAY, 4))
    t.at += 79.9
    assert not t.fits((PAY, 1))
    t.at += 10.2
    assert t.fits((PAY, 6))
    assert not t.fits((PAY, 1))


def test_two_windows_of_one_scope_both_hold() -> None:
    """A short and a long window bind together."""
    t = till({SAY: (budget("global", 2, 1), budget("global", 3, 100))})
    assert t.fits((SAY, 2))
    assert not t.fits((SAY, 1))
    t.at += 3
    assert t.fits((SAY, 1))
    t.at += 3
    assert not t.fits((SAY, 1))


def test_one_principal_too_many_is_refused_until_a_window_empties() -> None:
    """A full pool makes room for nobody while its windows hold something. Spec: BND-13."""
    t = till({SAY: (budget("principal", 5, 60),)})
    for number in range(OTHERS_MAX):
        assert t.fits((SAY, 1), key=f"s{number}")
    short = t.charge((SAY, 1), key="late")
    assert (short.denied.code, short.denied.rule) == (DenialCode.BUDGET_UNAVAILABLE, "budget.principals")
    assert t.fits((SAY, 1), key="s0")  # who has an account goes on
    assert t.fits((SAY, 1), key="front")  # fronts and configured people have room of their own
    assert t.fits((SAY, 1), key="owner")
    t.at += 121
    assert t.fits((SAY, 1), key="late")
    assert t.book.principals() == OTHERS_MAX + 2
    assert t.fits((SAY, 5), key="s1")  # the longest idle one left, and its window was empty
    assert KNOWN_MAX + 2 * OTHERS_MAX <= BUDGET_PRINCIPALS_MAX


def test_the_longest_idle_account_goes_first() -> None:
    """Who used it lately keeps what was counted."""
    t = till({SAY: (budget("principal", 2, 60),)})
    assert t.fits((SAY, 2), key="s-first")
    for number in range(OTHERS_MAX - 1):
        assert t.fits((SAY, 1), key=f"s{number}")
    t.at += 100
    assert t.fits((SAY, 2), key="s-first")
    t.at += 100
    assert t.fits((SAY, 1), key="late")
    assert t.fits((SAY, 1), key="later")
    assert t.book.snapshot().rows != ()
    assert {row.key for row in t.book.snapshot().rows} == {"late", "later"}


def test_one_receiver_too_many_is_refused() -> None:
    """Receivers are bounded too. Spec: BND-13."""
    t = till({IMS: (budget("peer", 5, 60),)})
    for number in range(PEERS_MAX):
        assert t.fits((IMS, 1), peer=f"p{number}")
    assert t.charge((IMS, 1), peer="late").denied.code is DenialCode.BUDGET_UNAVAILABLE
    assert t.fits((IMS, 1), peer="p0")


def test_gauges_show_what_is_added_up() -> None:
    """Status shows budgets of everybody and of strangers, with what is used."""
    t = till({SAY: (budget("principal", 5), budget("strangers", 6), budget("global", 7, 30))})
    t.charge((SAY, 2))
    t.charge((SAY, 1), key="owner")
    assert t.book.gauges() == (
        BudgetGauge(meter=SAY, per=BudgetScope.STRANGERS, window_s=60, used=2, limit=6),
        BudgetGauge(meter=SAY, per=BudgetScope.GLOBAL, window_s=30, used=3, limit=7),
    )


EVERY_SCOPE = {IMS: (budget("principal", 9), budget("peer", 9), budget("strangers", 9), budget("global", 9))}


def test_budgets_survive_a_restart() -> None:
    """A snapshot, through JSON and back, holds every count of every scope. Spec: POL-6."""
    t = till(EVERY_SCOPE)
    t.charge((IMS, 4), peer="p")
    t.at += 10
    t.charge((IMS, 3), peer="p")
    stored = msgspec.json.decode(msgspec.json.encode(t.book.snapshot()), type=BudgetSnapshot)
    assert len(stored.rows) == 4
    for key, peer in (("stranger", "q"), ("s2", "p"), ("s3", "q"), ("owner", "q")):
        again = Till()
        again.book = BudgetBook.restore(EVERY_SCOPE, stored, pool_of=pool_of)
        again.at = 110.0
        assert not again.fits((IMS, 3), key=key, peer=peer)
        assert again.fits((IMS, 2), key=key, peer=peer)


def test_a_restart_with_the_clock_set_back_reopens_nothing() -> None:
    """After a restart time counts only above the highest wall clock ever seen. Spec: POL-6. Fault: 30."""
    t = till({PAY: (budget("global", 10),)})
    t.charge((PAY, 10))
    again = BudgetBook.restore({PAY: (budget("global", 10),)}, t.book.snapshot(), pool_of=pool_of)
    for wall, monotonic in ((WALL - 86_400, 1.0), (WALL + 90, 2.0), (WALL + 150, 2.5)):
        short = again.charge(((PAY, 1),), Instant(wall, monotonic), Payer("k", stranger=True))
        assert isinstance(short, Short)
    free = again.charge(((PAY, 1),), Instant(WALL + 300, 80.0), Payer("k", stranger=True))
    assert not isinstance(free, Short)


def test_a_snapshot_with_too_many_principals_is_refused() -> None:
    """What could never have been stored is not half loaded. Spec: BND-13."""
    at = int(WALL * 1e6)
    rows = tuple(
        BudgetRow(meter=SAY, per=BudgetScope.PRINCIPAL, window_s=60, key=f"s{number}", buckets=((at, 1),))
        for number in range(OTHERS_MAX + 1)
    )
    stored = BudgetSnapshot(clock_us=at, wall_high_us=at, rows=rows)
    with pytest.raises(LimitExceeded):
        BudgetBook.restore({SAY: (budget("principal", 5),)}, stored, pool_of=pool_of)


def test_another_policy_goes_on_counting() -> None:
    """A new limit binds what was used already; a meter that goes takes its count along. Spec: POL-6."""
    t = till({PAY: (budget("global", 10), budget("principal", 10)), SAY: (budget("global", 5),)})
    t.charge((PAY, 6), (SAY, 5))
    t.book = t.book.under({PAY: (budget("global", 8), budget("principal", 20))})
    assert not t.fits((PAY, 3))
    assert t.fits((PAY, 2))
    assert t.charge((SAY, 1)).denied.rule == "budget.calls.speak.unset"


@pytest.mark.parametrize(
    ("old", "new", "free_after"),
    [
        ((60,), 30, 30),
        ((60,), 120, 120),
        ((30, 600), 60, 60),
        ((60, 600), 60, 60),
    ],
)
def test_a_window_of_another_length_never_forgets_too_early(old, new, free_after) -> None:
    """A changed window starts with what the fitting old one held, each bucket at its latest moment. Spec: POL-6."""
    t = till({PAY: tuple(budget("global", 10, window_s) for window_s in old)})
    t.charge((PAY, 10))
    t.book = t.book.under({PAY: (budget("global", 10, new),)})
    t.at += free_after - 0.1
    assert not t.fits((PAY, 1))
    # later by at most one bucket of the old window and one of the new
    t.at += 0.1 + (max(old) + new) / 16
    assert t.fits((PAY, 10))


def test_the_places_are_shared_out_as_they_are_stated() -> None:
    """Every configured avatar and the operator, and two rooms of one size beside them; no more. Spec: BND-13."""
    assert (KNOWN_MAX, OTHERS_MAX, PEERS_MAX) == (1_025, 1_535, 4_096)
    assert KNOWN_MAX + 2 * OTHERS_MAX <= BUDGET_PRINCIPALS_MAX


def test_what_is_left_out_of_a_row_or_a_payer_is_nothing() -> None:
    """Everybody's row has no key; a payer is no stranger and has no receiver unless it is said."""
    row = BudgetRow(meter=SAY, per=BudgetScope.GLOBAL, window_s=1, buckets=())
    assert (row.key, Payer("k").stranger, Payer("k").peer) == ("", False, None)


@pytest.mark.parametrize(("late_us", "room"), [(0, False), (1, True)])
def test_the_longest_idle_one_makes_room_after_twice_the_longest_window(monkeypatch, late_us, room) -> None:
    """Not a microsecond earlier. Spec: BND-13."""
    monkeypatch.setattr("gridagent.policy.budgets.POOL_SIZES", (1, 1, 1))
    t = till({SAY: (budget("principal", 5, 10),), PAY: (budget("global", 5, 30),)})
    assert t.fits((SAY, 1), key="s1")
    assert not t.fits((SAY, 1), key="s2")
    t.at += 60 + late_us / 1_000_000
    assert t.fits((SAY, 1), key="s2") is room


def test_a_receiver_has_an_account_only_where_one_is_counted(monkeypatch) -> None:
    """Naming somebody for a meter without a budget per receiver takes nobody's place. Spec: BND-13."""
    monkeypatch.setattr("gridagent.policy.budgets.PEERS_MAX", 1)
    t = till({IMS: (budget("peer", 3),), PAY: (budget("global", 9),)})
    assert t.fits((IMS, 3), peer="friend")
    assert t.fits((PAY, 1), peer="somebody")
    assert t.charge((IMS, 1), peer="friend").denied.code is DenialCode.BUDGET_SPENT


@pytest.mark.parametrize(
    ("window_s", "limit_left"),
    [(5, 9), (10, 9), (11, 7), (60, 7), (3_600, 7), (7_200, 7)],
)
def test_a_window_takes_over_from_the_shortest_that_is_long_enough(window_s, limit_left) -> None:
    """Else from the longest: never short of what is known, and no more than need be. Spec: POL-6, SUP-8."""
    t = till({PAY: (budget("global", 10, 10), budget("global", 10, 3_600))})
    t.charge((PAY, 2))
    t.at += 30
    t.charge((PAY, 1))
    book = t.book.under({PAY: (budget("global", 10, window_s),)})
    (gauge,) = book.gauges()
    assert 10 - gauge.used == limit_left


def test_what_a_charge_went_to_is_told_and_nothing_else() -> None:
    """The windows of this principal and receiver and of everybody, not those of others. Spec: POL-6."""
    t = till({**EVERY_SCOPE, PAY: (budget("global", 9),)})
    t.charge((IMS, 1), key="s1", peer="p1")
    t.charge((PAY, 2), key="s1")
    t.charge((IMS, 1), key="s2", peer="p2")
    rows = t.book.charged(((IMS, 1),), Payer("s2", stranger=True, peer="p2")).rows
    assert [(row.per.value, row.key, sum(amount for _, amount in row.buckets)) for row in rows] == [
        ("strangers", "", 2), ("global", "", 2), ("principal", "s2", 1), ("peer", "p2", 1),
    ]  # fmt: skip
    known = t.book.charged(((IMS, 1),), Payer("s2")).rows
    assert [row.per.value for row in known] == ["global", "principal"]
    assert t.book.clock.at_us == t.book.charged((), Payer("x")).clock_us
