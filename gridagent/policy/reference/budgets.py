"""The budgets of the reference gateway: every charge in a list, added up anew for every question.

Owns a second reading of "never short, hardly long": a window is sixteen buckets and the one that is being
filled. Only this folder calls it; it shares nothing with `gridagent.policy.budgets` but the
structs of rows. Its invariant: a charge counts for as long as its bucket is one of the last seventeen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent.authority import DenialCode
from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.policy.audit import BudgetMark
from gridagent.policy.decisions import Denied, Instant

__all__ = ("Clock", "Line", "ReferenceBudgets")

SECOND: Final = 1_000_000
BUCKETS: Final = 16


class Clock:
    """Microseconds: the lesser of what both clocks say; across a restart, what the wall clock is above its highest."""

    def __init__(self) -> None:
        self.at = 0
        self.wall_high = 0
        self.last: tuple[int, int] | None = None
        self.kept = (0, 0)
        """As of the last charge: all that is left after a crash."""

    def advance(self, now: Instant) -> int:
        """Take both clocks in."""
        wall, monotonic = int(now.wall * SECOND), int(now.monotonic * SECOND)
        if self.last is None:
            self.at += max(0, wall - self.wall_high)
        else:
            self.at += max(0, min(wall - self.last[0], monotonic - self.last[1]))
        self.last = (wall, monotonic)
        self.wall_high = max(self.wall_high, wall)
        return self.at

    def keep(self) -> None:
        """Say that this moment will be known after a crash."""
        self.kept = (self.at, self.wall_high)

    def restart(self, *, crashed: bool) -> None:
        """Forget what a restart forgets."""
        if crashed:
            self.at, self.wall_high = self.kept
        self.last = None


class Line:
    """One window length and everything that was charged to it."""

    def __init__(self, window_s: int) -> None:
        self.window_s = window_s
        self.charges: list[tuple[str, int, int]] = []
        """Whose, when, how much."""

    def _bucket(self, at: int) -> int:
        return at // -(-self.window_s * SECOND // BUCKETS)

    def used(self, key: str, at: int) -> int:
        """Add up what counts now."""
        return sum(amount for whose, when, amount in self.charges if whose == key and self._counts(when, at))

    def _counts(self, when: int, at: int) -> bool:
        return self._bucket(at) - self._bucket(when) <= BUCKETS

    def forget(self, at: int) -> None:
        """Let go what counts no longer."""
        self.charges = [each for each in self.charges if self._counts(each[1], at)]

    def last_moments(self, key: str, at: int) -> list[tuple[int, int]]:
        """Return each charge that counts, at the last moment of its bucket."""
        width = -(-self.window_s * SECOND // BUCKETS)
        return [
            (min((self._bucket(when) + 1) * width - 1, at), amount)
            for whose, when, amount in self.charges
            if whose == key and self._counts(when, at)
        ]


class Account:
    """One principal or peer that has charges of its own; ``pool`` is 3 for peers."""

    def __init__(self, key: str, pool: int, last: int) -> None:
        self.key = key
        self.pool = pool
        self.last = last


class ReferenceBudgets:
    """All budgets.

    Args:
        budgets: of each meter, as they are written.
        pool_of: 0 for configured avatars and the operator, 1 for fronts, 2 for everybody else.
        sizes: how many accounts each pool has, peers last.
    """

    def __init__(
        self, budgets: dict[Meter, tuple[Budget, ...]], pool_of: Callable[[str], int], sizes: tuple[int, ...]
    ) -> None:
        self._pool_of = pool_of
        self._sizes = sizes
        self.clock = Clock()
        self._accounts: list[Account] = []  # the longest idle first
        self._set(budgets)

    def _set(self, budgets: dict[Meter, tuple[Budget, ...]]) -> None:
        self.lines = [(meter, budget, Line(budget.window_s)) for meter, each in budgets.items() for budget in each]
        longest = max([1, *(budget.window_s for _, budget, _ in self.lines)])
        self._idle_after = 2 * longest * SECOND

    def _of(self, meter: Meter, *scopes: BudgetScope) -> list[tuple[Budget, Line]]:
        return [(budget, line) for own, budget, line in self.lines if own is meter and budget.per in scopes]

    def _account(self, key: str, pool: int) -> Account | None:
        return next((each for each in self._accounts if (each.key, each.pool) == (key, pool)), None)

    def _has_room(self, key: str, pool: int, at: int) -> bool:
        mine = [each for each in self._accounts if each.pool == pool]
        known = any(each.key == key for each in mine)
        return known or len(mine) < self._sizes[pool] or mine[0].last + self._idle_after < at

    def _touch(self, key: str, pool: int, at: int) -> None:
        found = self._account(key, pool)
        if found is not None:
            self._accounts.remove(found)
        else:
            mine = [each for each in self._accounts if each.pool == pool]
            if len(mine) >= self._sizes[pool]:
                self._accounts.remove(mine[0])
        self._accounts.append(Account(key, pool, at))

    def charge(  # noqa: C901, PLR0911 - one step a scope
        self,
        drawn: list[tuple[Meter, int]],
        now: Instant,
        *,
        key: str,
        stranger: bool,
        peer: str | None,
        commit: bool,
    ) -> tuple[BudgetMark, ...] | tuple[Denied, tuple[BudgetMark, ...]]:
        """Charge every meter or none; a refusal comes with the budget that was short."""
        at = self.clock.advance(now)
        pool = self._pool_of(key)
        bill: list[tuple[Meter, Budget, Line, str, int, int]] = []
        for meter, amount in drawn:
            if not any(own is meter for own, _, _ in self.lines):
                return Denied(code=DenialCode.BUDGET_SPENT, rule=f"budget.{meter.value}.unset"), ()
            own = [(budget, line, key) for budget, line in self._of(meter, BudgetScope.PRINCIPAL)]
            if own and not self._has_room(key, pool, at):
                return Denied(code=DenialCode.BUDGET_UNAVAILABLE, rule="budget.principals"), ()
            short = self._reckon(bill, meter, own, amount, at)
            if short is not None:
                return short
            received = [] if peer is None else [(b, line, peer) for b, line in self._of(meter, BudgetScope.PEER)]
            if received and peer is not None and not self._has_room(peer, 3, at):
                return Denied(code=DenialCode.BUDGET_UNAVAILABLE, rule="budget.principals"), ()
            crowd = [(b, line, "") for b, line in self._of(meter, BudgetScope.STRANGERS)] if stranger else []
            everybody = [(b, line, "") for b, line in self._of(meter, BudgetScope.GLOBAL)]
            short = self._reckon(bill, meter, [*received, *crowd, *everybody], amount, at)
            if short is not None:
                return short
        if not commit:
            return ()
        marks = []
        for meter, budget, line, whose, used, amount in bill:
            if budget.per is BudgetScope.PRINCIPAL:
                self._touch(key, pool, at)
            elif budget.per is BudgetScope.PEER:
                self._touch(whose, 3, at)
            line.charges.append((whose, at, amount))
            marks.append(BudgetMark(meter, budget.per, budget.window_s, used, used + amount, budget.limit))
        self.clock.keep()
        for _, _, line in self.lines:
            line.forget(at)
        return tuple(marks)

    def _reckon(
        self,
        bill: list[tuple[Meter, Budget, Line, str, int, int]],
        meter: Meter,
        lines: list[tuple[Budget, Line, str]],
        amount: int,
        at: int,
    ) -> tuple[Denied, tuple[BudgetMark, ...]] | None:
        for budget, line, whose in lines:
            used = line.used(whose, at)
            if used + amount > budget.limit:
                rule = f"budget.{meter.value}.{budget.per.value}.{budget.window_s}s"
                mark = BudgetMark(meter, budget.per, budget.window_s, used, used, budget.limit)
                return Denied(code=DenialCode.BUDGET_SPENT, rule=rule), (mark,)
            bill.append((meter, budget, line, whose, used, amount))
        return None

    def replace(self, budgets: dict[Meter, tuple[Budget, ...]]) -> None:
        """Go on counting under other budgets, or the same ones after a restart.

        A window takes over from the shortest earlier one that is at least as long, else from the longest.
        """
        at, before, accounts = self.clock.at, self.lines, self._accounts
        self._set(budgets)
        self._accounts = []
        keys = [("", -1), *((each.key, each.pool) for each in accounts)]
        for key, pool in keys:
            for meter, budget, line in self.lines:
                if (pool == -1) != (budget.per in {BudgetScope.GLOBAL, BudgetScope.STRANGERS}):
                    continue
                if pool != -1 and (pool == 3) != (budget.per is BudgetScope.PEER):  # noqa: PLR2004 - peers
                    continue
                held = [
                    (old.window_s, old.last_moments(key, at))
                    for own, old_budget, old in before
                    if own is meter and old_budget.per is budget.per and old.used(key, at)
                ]
                enough = [each for each in held if each[0] >= budget.window_s]
                if held:
                    _, moments = min(enough) if enough else max(held)
                    line.charges += [(key, when, amount) for when, amount in moments]
                    if pool != -1:
                        self._touch(key, pool, at)
        self.clock.keep()

    def restart(self, budgets: dict[Meter, tuple[Budget, ...]], now: Instant, *, crashed: bool) -> None:
        """Go on after a restart."""
        self.clock.restart(crashed=crashed)
        self.replace(budgets)
        self.clock.advance(now)
        self.clock.keep()

    def gauges(self) -> dict[tuple[Meter, BudgetScope, int], int]:
        """Return what each budget that adds everybody up has used."""
        return {
            (meter, budget.per, budget.window_s): line.used("", self.clock.at)
            for meter, budget, line in self.lines
            if budget.per in {BudgetScope.GLOBAL, BudgetScope.STRANGERS}
        }

    def principals(self) -> int:
        """Return how many principals have an account."""
        return sum(each.pool != 3 for each in self._accounts)  # noqa: PLR2004 - peers
