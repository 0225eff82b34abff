"""How much of what may still be done: meters over sliding windows, charged all at once or not at all.

Owns the counts; knows no rule and no action. The gateway asks it last, when everything else has said
yes. Its invariants (Spec: POL-6, BND-13):

* What was charged within a window is never counted short; at most one bucket too much is counted.
* Time only goes forward here (`BudgetClock`), so no clock can reopen a window (Fault: 30).
* A charge is never given back, whatever became of the action (Fault: 28).
* A meter without a budget is zero; the number of principals counted apart is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from gridagent.authority import DenialCode
from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.errors import LimitExceeded
from gridagent.limits import AUTHORISED_AVATARS_MAX, BUDGET_PRINCIPALS_MAX
from gridagent.policy.audit import BudgetMark
from gridagent.policy.decisions import Denied, Instant
from gridagent.policy.verbs import Charges
from gridagent.policy.windows import MICROSECONDS, BudgetClock, Window

__all__ = ("BudgetBook", "BudgetGauge", "BudgetRow", "BudgetSnapshot", "Payer", "Short")

KNOWN_MAX: Final = AUTHORISED_AVATARS_MAX + 1
"""The configured avatars and the operator always have a place; the rest is shared by two pools."""
OTHERS_MAX: Final = (BUDGET_PRINCIPALS_MAX - KNOWN_MAX) // 2
POOL_SIZES: Final = (KNOWN_MAX, OTHERS_MAX, OTHERS_MAX)
PEERS_MAX: Final = BUDGET_PRINCIPALS_MAX

_FULL: Final = Denied(code=DenialCode.BUDGET_UNAVAILABLE, rule="budget.principals")
_UNSET: Final = {meter: Denied(code=DenialCode.BUDGET_SPENT, rule=f"budget.{meter.value}.unset") for meter in Meter}


class BudgetRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one window holds, as it is stored."""

    meter: Meter
    per: BudgetScope
    window_s: int
    key: str = ""
    """Principal or peer; empty where everybody is added up."""
    buckets: tuple[tuple[int, int], ...]
    """Last microsecond of each bucket, and what was charged in it."""


class BudgetSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All that a restart must not forget."""

    clock_us: int
    """The budget clock, in microseconds."""
    wall_high_us: int
    """The highest wall clock ever seen, in microseconds: below it, no time has passed."""
    rows: tuple[BudgetRow, ...] = ()


class BudgetGauge(msgspec.Struct, frozen=True, kw_only=True):
    """One budget that adds everybody up, as status shows it."""

    meter: Meter
    per: BudgetScope
    window_s: int
    used: int
    limit: int


class Payer(msgspec.Struct, frozen=True, gc=False):
    """Whose budgets an action draws on."""

    key: str
    """The principal's."""
    stranger: bool = False
    """The principal ranks below trusted."""
    peer: str | None = None
    """Whom it is done to, where there is one."""


class Short(msgspec.Struct, frozen=True):
    """A refusal, and the budget that was short."""

    denied: Denied
    marks: tuple[BudgetMark, ...] = ()


@lru_cache(maxsize=1_024)
def _spent(meter: Meter, per: BudgetScope, window_s: int) -> Denied:
    """Return the refusal of one budget; avatars under one policy share it."""
    return Denied(code=DenialCode.BUDGET_SPENT, rule=f"budget.{meter.value}.{per.value}.{window_s}s")


class _Line:
    """One budget of the policy; ``window`` counts where everybody is added up."""

    __slots__ = ("budget", "denied", "index", "limit", "meter", "per", "window", "window_s")

    def __init__(self, meter: Meter, budget: Budget, index: int) -> None:
        self.meter = meter
        self.per = budget.per
        self.limit = budget.limit
        self.window_s = budget.window_s
        self.index = index
        self.window = Window(budget.window_s)
        self.denied = _spent(meter, budget.per, budget.window_s)

    def mark(self, before: int, after: int) -> BudgetMark:
        return BudgetMark(self.meter, self.per, self.window_s, before, after, self.limit)


class _MeterLines:
    """The budgets of one meter, by what they add up."""

    __slots__ = ("all", "everybody", "peer", "principal", "strangers")

    def __init__(self, lines: tuple[_Line, ...]) -> None:
        self.all = lines
        self.principal = tuple(line for line in lines if line.per is BudgetScope.PRINCIPAL)
        self.peer = tuple(line for line in lines if line.per is BudgetScope.PEER)
        self.everybody = tuple(line for line in lines if line.per is BudgetScope.GLOBAL)
        self.strangers = (*(line for line in lines if line.per is BudgetScope.STRANGERS), *self.everybody)
        """What counts for a stranger: strangers together, and everybody."""


class _Account:
    """The windows of one principal or peer, by the index of their line."""

    __slots__ = ("last", "windows")

    def __init__(self, last: int) -> None:
        self.windows: dict[int, Window] = {}
        self.last = last


class _Pool:
    """A bounded number of accounts, the longest idle first.

    Bounds: ``size`` accounts. At the limit the longest idle one makes room once all its windows are
    empty; before that, one more is refused.
    """

    __slots__ = ("_forget_after_us", "_size", "accounts")

    def __init__(self, size: int, forget_after_us: int) -> None:
        self._size = size
        self._forget_after_us = forget_after_us
        self.accounts: OrderedDict[str, _Account] = OrderedDict()

    def has_room(self, at: int) -> bool:
        """Tell whether one more account fits now."""
        if len(self.accounts) < self._size:
            return True
        oldest = next(iter(self.accounts.values()))
        return oldest.last + self._forget_after_us < at

    def touch(self, key: str, at: int) -> _Account:
        """Return the account of ``key``, made where there was none and room for it."""
        account = self.accounts.get(key)
        if account is None:
            if len(self.accounts) >= self._size:
                self.accounts.popitem(last=False)
            account = self.accounts[key] = _Account(at)
        else:
            self.accounts.move_to_end(key)
            account.last = at
        return account


_Item: TypeAlias = tuple[_Line, int, int, "Window | None"]
"""One budget, what is charged to it, what it held before, and its window where there is one already."""


def _reckon_own(
    bill: list[_Item], lines: tuple[_Line, ...], amount: int, at: int, pool: _Pool, key: str
) -> Short | None:
    """Put the budgets of one principal or peer on the bill, or say which is short."""
    account = pool.accounts.get(key)
    if account is None and not pool.has_room(at):
        return Short(_FULL)
    for line in lines:
        window = None if account is None else account.windows.get(line.index)
        used = 0 if window is None else window.used(at)
        if used + amount > line.limit:
            return Short(line.denied, (line.mark(used, used),))
        bill.append((line, amount, used, window))
    return None


def _reckon_shared(bill: list[_Item], lines: tuple[_Line, ...], amount: int, at: int) -> Short | None:
    """Put the budgets that add people up on the bill, or say which is short."""
    for line in lines:
        used = line.window.used(at)
        if used + amount > line.limit:
            return Short(line.denied, (line.mark(used, used),))
        bill.append((line, amount, used, line.window))
    return None


class BudgetBook:
    """All budgets of one avatar.

    Args:
        budgets: the budgets of each meter; a meter with none is zero.
        pool_of: which pool a principal's key belongs to: 0 configured, 1 fronts, 2 everybody else.
        clock: the clock to go on with; a new one when there is none.
        rows: what earlier windows hold, from `rows` or a `BudgetSnapshot`.

    Raises:
        LimitExceeded: the rows name more principals than there may be.
    """

    __slots__ = ("_clock", "_lines", "_peers", "_pool_of", "_pools")

    def __init__(
        self,
        budgets: Mapping[Meter, tuple[Budget, ...]],
        *,
        pool_of: Callable[[str], int],
        clock: BudgetClock | None = None,
        rows: Iterable[BudgetRow] = (),
    ) -> None:
        self._pool_of = pool_of
        self._clock = BudgetClock() if clock is None else clock
        self._lines: dict[Meter, _MeterLines] = {}
        count, longest = 0, 1
        for meter, of_meter in budgets.items():
            if of_meter:
                self._lines[meter] = _MeterLines(
                    tuple(_Line(meter, budget, count + i) for i, budget in enumerate(of_meter))
                )
                count += len(of_meter)
                longest = max(longest, *(budget.window_s for budget in of_meter))
        # A window holds nothing after its length and a bucket; twice its length is well beyond that.
        forget_after_us = 2 * longest * MICROSECONDS
        self._pools = tuple(_Pool(size, forget_after_us) for size in POOL_SIZES)
        self._peers = _Pool(PEERS_MAX, forget_after_us)
        self._pour(rows)

    @classmethod
    def restore(
        cls,
        budgets: Mapping[Meter, tuple[Budget, ...]],
        snapshot: BudgetSnapshot,
        *,
        pool_of: Callable[[str], int],
    ) -> BudgetBook:
        """Return a book that goes on where a snapshot was taken.

        Raises:
            LimitExceeded: the snapshot names more principals than there may be.
        """
        clock = BudgetClock(at_us=snapshot.clock_us, wall_high_us=snapshot.wall_high_us)
        return cls(budgets, pool_of=pool_of, clock=clock, rows=snapshot.rows)

    def under(self, budgets: Mapping[Meter, tuple[Budget, ...]]) -> BudgetBook:
        """Return a book for other budgets that remembers what this one counted.

        A window that grows longer knows only what the shorter one still held.
        """
        return BudgetBook(budgets, pool_of=self._pool_of, clock=self._clock, rows=tuple(self._rows()))

    def snapshot(self) -> BudgetSnapshot:
        """Return all that a restart must not forget."""
        return BudgetSnapshot(
            clock_us=self._clock.at_us, wall_high_us=self._clock.wall_high_us, rows=tuple(self._rows())
        )

    def charge(
        self, charges: Charges, now: Instant, payer: Payer, *, commit: bool = True
    ) -> tuple[BudgetMark, ...] | Short:
        """Charge every meter, or none.

        Args:
            charges: how much of which meter; each meter at most once.
            now: both clocks.
            payer: on whose account.
            commit: False only asks whether it would fit.

        Returns:
            Each budget before and after; or the one that was short, and then nothing was charged.
        """
        key, peer = payer.key, payer.peer
        at = self._clock.advance(now)
        pool = self._pools[self._pool_of(key)]
        bill: list[_Item] = []
        own = received = False
        for meter, amount in charges:
            lines = self._lines.get(meter)
            if lines is None:
                return Short(_UNSET[meter])
            short = None
            if lines.principal:
                own = True
                short = _reckon_own(bill, lines.principal, amount, at, pool, key)
            if short is None and lines.peer and peer is not None:
                received = True
                short = _reckon_own(bill, lines.peer, amount, at, self._peers, peer)
            if short is None:
                short = _reckon_shared(bill, lines.strangers if payer.stranger else lines.everybody, amount, at)
            if short is not None:
                return short
        if not commit:
            return ()
        # It was reckoned at this very moment, so nothing below can fail.
        account = pool.touch(key, at) if own else _NOBODY
        receiver = self._peers.touch(peer, at) if received and peer is not None else _NOBODY
        marks = []
        for line, amount, used, window in bill:
            if window is None:
                window = _open_window(account if line.per is BudgetScope.PRINCIPAL else receiver, line, at)  # noqa: PLW2901
            window.add(amount)
            marks.append(line.mark(used, used + amount))
        return tuple(marks)

    @property
    def clock(self) -> BudgetClock:
        """The clock that windows are read by; it outlives a change of policy."""
        return self._clock

    def charged(self, charges: Charges, payer: Payer) -> BudgetSnapshot:
        """Return the windows that a charge just made went to, as they stand now."""
        rows: list[BudgetRow] = []
        at, peer = self._clock.at_us, payer.peer
        own = self._pools[self._pool_of(payer.key)].accounts.get(payer.key, _NOBODY)
        for meter, _ in charges:
            lines = self._lines[meter]
            for line in lines.strangers if payer.stranger else lines.everybody:
                rows += _row(line, "", line.window, at)
            for line in lines.principal:
                rows += _row(line, payer.key, own.windows[line.index], at)
            if peer is not None:
                for line in lines.peer:
                    rows += _row(line, peer, self._peers.accounts[peer].windows[line.index], at)
        return BudgetSnapshot(clock_us=at, wall_high_us=self._clock.wall_high_us, rows=tuple(rows))

    def gauges(self) -> tuple[BudgetGauge, ...]:
        """Return the budgets that add everybody up, as they stood at the last charge."""
        at = self._clock.at_us
        return tuple(
            BudgetGauge(
                meter=line.meter, per=line.per, window_s=line.window_s, used=line.window.used(at), limit=line.limit
            )
            for lines in self._lines.values()
            for line in lines.strangers
        )

    def principals(self) -> int:
        """Return how many principals have an account."""
        return sum(len(pool.accounts) for pool in self._pools)

    # --- keeping ----------------------------------------------------------------------------------

    def _rows(self) -> Iterator[BudgetRow]:
        at = self._clock.at_us
        by_index = {line.index: line for lines in self._lines.values() for line in lines.all}
        for line in by_index.values():
            if line.per in _ADDED_UP:
                yield from _row(line, "", line.window, at)
        for pool in (*self._pools, self._peers):
            for key, account in pool.accounts.items():
                for index, window in account.windows.items():
                    yield from _row(by_index[index], key, window, at)

    def _pour(self, rows: Iterable[BudgetRow]) -> None:
        """Count again what earlier windows hold, each bucket at its last moment: never short."""
        at = self._clock.at_us
        kept: dict[tuple[Meter, BudgetScope, str], list[BudgetRow]] = {}
        for row in rows:
            kept.setdefault((row.meter, row.per, row.key), []).append(row)
        for (meter, per, key), found in kept.items():
            for line in self._lines[meter].all if meter in self._lines else ():
                if line.per is per:
                    enough = [row for row in found if row.window_s >= line.window_s]
                    row = min(enough, key=_length) if enough else max(found, key=_length)
                    window = self._window_for(line, key, at)
                    for end, amount in row.buckets:
                        window.used(min(end, at))
                        window.add(amount)

    def _window_for(self, line: _Line, key: str, at: int) -> Window:
        if line.per in _ADDED_UP:
            return line.window
        pool = self._peers if line.per is BudgetScope.PEER else self._pools[self._pool_of(key)]
        if key not in pool.accounts and not pool.has_room(at):
            raise LimitExceeded("principals in stored budgets", allowed=BUDGET_PRINCIPALS_MAX)
        return _open_window(pool.touch(key, at), line, 0)


_NOBODY: Final = _Account(0)
_ADDED_UP: Final = frozenset({BudgetScope.GLOBAL, BudgetScope.STRANGERS})


def _open_window(account: _Account, line: _Line, at: int) -> Window:
    window = account.windows[line.index] = Window(line.window_s)
    window.used(at)
    return window


def _row(line: _Line, key: str, window: Window, at: int) -> Iterator[BudgetRow]:
    window.used(at)
    if buckets := tuple(window.buckets()):
        yield BudgetRow(meter=line.meter, per=line.per, window_s=line.window_s, key=key, buckets=buckets)


def _length(row: BudgetRow) -> int:
    return row.window_s
