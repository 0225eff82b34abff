"""Budgets against a list of every charge ever made."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.policy import Instant
from gridagent.policy.budgets import BudgetBook, Payer, Short
from gridagent.policy.windows import BUCKETS

METERS = (Meter.LINDEN, Meter.ITEMS)
KEYS = ("owner", "front", "s1", "s2")
PEERS = ("p1", "p2", None)
WALL = 1_700_000_000.0

budgets = st.builds(
    Budget, per=st.sampled_from(BudgetScope), limit=st.integers(0, 30), window_s=st.sampled_from([1, 7, 60])
)
policies = st.dictionaries(st.sampled_from(METERS), st.lists(budgets, min_size=1, max_size=4).map(tuple), min_size=1)
charges = st.dictionaries(st.sampled_from(METERS), st.integers(1, 12), min_size=1).map(lambda d: tuple(d.items()))
# Steps of both clocks: mostly together, sometimes one runs away, stands still or goes back.
steps = st.one_of(
    st.floats(0, 20).map(lambda s: (s, s)),
    st.tuples(st.sampled_from([-86_400.0, -3.0, 0.0, 3_600.0, 86_400.0]), st.floats(0, 2)),
)
asks = st.tuples(steps, st.sampled_from(KEYS), st.sampled_from(PEERS), charges, st.booleans())


@dataclass
class Plain:
    """Keeps every charge with the time that passed by the slower of two clocks; adds up by looking at all."""

    policy: dict
    made: list = field(default_factory=list)
    at: float = 0.0

    def used(self, meter, line, key, peer, slack=0.0) -> float:
        """Add up what one budget has seen within its window."""
        chosen = {
            BudgetScope.PRINCIPAL: lambda who, _: who == key,
            BudgetScope.PEER: lambda _, whom: whom == peer,
            BudgetScope.STRANGERS: lambda who, _: who.startswith("s"),
            BudgetScope.GLOBAL: lambda *_: True,
        }[line.per]
        since = self.at - line.window_s - slack
        return sum(
            amount
            for when, who, whom, charged in self.made
            for of, amount in charged
            if of is meter and when > since and chosen(who, whom)
        )

    def over(self, key, peer, wanted, slack=0.0) -> bool:
        """Tell whether any budget would be overrun."""
        for meter, amount in wanted:
            lines = self.policy.get(meter)
            if lines is None:
                return True
            for line in lines:
                applies = (line.per is not BudgetScope.PEER or peer is not None) and (
                    line.per is not BudgetScope.STRANGERS or key.startswith("s")
                )
                bucket = line.window_s / BUCKETS + 0.001
                if applies and self.used(meter, line, key, peer, slack * bucket) + amount > line.limit:
                    return True
        return False


def pool_of(key: str) -> int:
    """Sort keys into pools."""
    return {"o": 0, "f": 1}.get(key[0], 2)


@settings(max_examples=300)
@given(policies, st.lists(asks, max_size=40))
def test_no_window_is_overrun_and_nothing_is_refused_without_need(policy, history) -> None:
    """Never more than a limit within a window, by either clock; refused only with a reason. Spec: POL-6. Fault: 30."""
    book, plain = BudgetBook(policy, pool_of=pool_of), Plain(policy)
    wall, monotonic = WALL, 50.0
    book.charge((), Instant(wall, monotonic), Payer("owner"))
    for (wall_step, monotonic_step), key, peer, wanted, restart in history:
        wall += wall_step
        monotonic += monotonic_step
        plain.at += max(0.0, min(wall_step, monotonic_step))
        if restart:
            book = book.under(policy)
        got = book.charge(wanted, Instant(wall, monotonic), Payer(key, key.startswith("s"), peer))
        if isinstance(got, Short):
            # after a restart a bucket counts from its end, so one more bucket may be held
            assert plain.over(key, peer, wanted, slack=3.0), got.denied.rule
        else:
            assert not plain.over(key, peer, wanted, slack=-0.0005)
            plain.made.append((plain.at, key, peer, wanted))
