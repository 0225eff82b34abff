"""The budget clock never goes back, and a window never counts short."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.policy import Instant
from gridagent.policy.windows import BUCKETS, MICROSECONDS, BudgetClock, Window

DAY = 86_400.0


def run(clock, *instants) -> list[int]:
    """Feed instants to a clock and list what it says, from its first answer on."""
    said = [clock.advance(Instant(wall, monotonic)) for wall, monotonic in instants]
    return [each - said[0] for each in said]


def test_it_follows_two_clocks_that_agree() -> None:
    """Ordinary time passes as it is."""
    assert run(BudgetClock(), (1000.0, 5.0), (1010.0, 15.0), (1010.5, 15.5)) == [0, 10_000_000, 10_500_000]


@pytest.mark.parametrize(
    "steps",
    [
        # a day back, and forward again
        [(1000.0, 5.0), (1000.0 - DAY, 6.0), (1000.0, 7.0)],
        # a day ahead (daylight saving, a leap, a bad time server)
        [(1000.0, 5.0), (1000.0 + DAY, 6.0), (1001.0 + DAY, 7.0)],
        # the monotonic clock of a machine that slept
        [(1000.0, 5.0), (1000.0 + DAY, 5.0)],
        # a wall clock that stands still while the monotonic one runs
        [(1000.0, 5.0), (1000.0, 5.0 + DAY)],
        # both nonsense
        [(1000.0, 5.0), (0.0, 0.0), (-5.0, -5.0)],
    ],
)
def test_no_clock_alone_makes_time_pass(steps) -> None:
    """Time passes only as fast as the slower of both clocks says. Spec: POL-6. Fault: 30."""
    said = run(BudgetClock(), *steps)
    assert said == sorted(said)
    assert said[-1] <= 2_000_000


@given(st.lists(st.tuples(st.floats(-1e9, 1e10), st.floats(0, 1e9)), min_size=1, max_size=30))
def test_it_is_never_ahead_of_the_monotonic_clock_and_never_goes_back(steps) -> None:
    """Whatever the clocks say, progress is at most the monotonic one's. Spec: POL-6."""
    ordered = sorted(monotonic for _, monotonic in steps)
    said = run(BudgetClock(), *((wall, at) for (wall, _), at in zip(steps, ordered, strict=True)))
    assert said == sorted(said)
    assert said[-1] <= int(ordered[-1] * MICROSECONDS) - int(ordered[0] * MICROSECONDS)


@pytest.mark.parametrize(("wall", "passed"), [(2000.0, 1_000.0), (1000.0, 0.0), (500.0, 0.0), (1000.5, 0.5)])
def test_across_a_restart_only_time_above_the_high_mark_counts(wall, passed) -> None:
    """A wall clock set back before a restart makes no time pass until it is beyond what was seen. Spec: POL-6."""
    before = BudgetClock()
    before.advance(Instant(1000.0, 50.0))
    before.advance(Instant(900.0, 60.0))
    after = BudgetClock(at_us=before.at_us, wall_high_us=before.wall_high_us)
    assert after.advance(Instant(wall, 3.0)) - before.at_us == passed * MICROSECONDS


def test_after_a_restart_below_the_mark_time_passes_as_it_runs() -> None:
    """The mark holds back only the jump; what runs after it counts."""
    after = BudgetClock(at_us=7, wall_high_us=int(1000 * MICROSECONDS))
    assert run(after, (500.0, 3.0), (510.0, 13.0)) == [0, 10_000_000]
    assert after.wall_high_us == 1000 * MICROSECONDS


class Exact:
    """Keeps every charge: the slow and simple way to count over a window."""

    def __init__(self, window_us: int) -> None:
        self._window_us = window_us
        self._charges: list[tuple[int, int]] = []

    def add(self, at: int, amount: int) -> None:
        self._charges.append((at, amount))

    def within(self, at: int, slack: int = 0) -> int:
        return sum(amount for when, amount in self._charges if when > at - self._window_us - slack)


def moments(draw) -> Iterator[int]:
    """Draw moments that only go forward, some of them on the edges of buckets."""
    at = draw(st.integers(0, 10**16))
    while True:
        at += draw(st.one_of(st.integers(0, 3), st.integers(0, 70_000_000), st.sampled_from([3_750_000, 60_000_000])))
        yield at


@given(st.integers(1, 3_600), st.integers(1, 40), st.data())
def test_a_window_never_counts_short_and_at_most_a_bucket_too_long(window_s, charges, data) -> None:
    """Against a list of every charge: never less, and nothing older than a window and one bucket. Spec: POL-6."""
    window, exact = Window(window_s), Exact(window_s * MICROSECONDS)
    bucket = -(-window_s * MICROSECONDS // BUCKETS)
    times = moments(data.draw)
    for _ in range(charges):
        at = next(times)
        used = window.used(at)
        assert exact.within(at) <= used <= exact.within(at, slack=bucket + BUCKETS)
        assert used == sum(amount for _, amount in window.buckets())
        amount = data.draw(st.integers(1, 10**6))
        window.add(amount)
        exact.add(at, amount)
    assert window.used(at) >= amount


def test_a_window_empties_and_starts_again() -> None:
    """After its length and a bucket nothing of it is left, however far time jumped."""
    window = Window(16)
    window.used(5)
    window.add(3)
    assert window.used(16 * MICROSECONDS) == 3
    assert window.used(17 * MICROSECONDS + 5) == 0
    window.add(4)
    assert window.used(10**15) == 0
    assert list(window.buckets()) == []


def test_a_new_clock_stands_at_nothing_and_takes_the_first_wall_clock_whole() -> None:
    """Without a past everything above zero is progress; a clock that stands makes none. Spec: POL-6."""
    clock = BudgetClock()
    assert (clock.at_us, clock.wall_high_us) == (0, 0)
    assert clock.advance(Instant(3.0, 9.0)) == 3_000_000
    assert clock.advance(Instant(3.0, 9.0)) == 3_000_000
    assert clock.wall_high_us == 3_000_000
    assert clock.advance(Instant(3.000001, 9.000001)) == 3_000_001
    assert BudgetClock(at_us=5, wall_high_us=4_000_000).advance(Instant(3.0, 1.0)) == 5


def test_what_is_added_before_anybody_looked_is_added_at_the_beginning() -> None:
    """A window that was never asked stands at nothing."""
    window = Window(16)
    window.add(3)
    assert list(window.buckets()) == [(MICROSECONDS - 1, 3)]
    assert len(window._counts) == BUCKETS + 1


def test_a_full_window_names_each_bucket_once() -> None:
    """Seventeen buckets in a row, the oldest first, and together what is used. Spec: POL-6."""
    window = Window(16)
    for second in range(40):
        window.used(second * MICROSECONDS)
        window.add(second + 1)
    held = list(window.buckets())
    assert [end for end, _ in held] == [(second + 1) * MICROSECONDS - 1 for second in range(23, 40)]
    assert sum(amount for _, amount in held) == window.used(39 * MICROSECONDS)
