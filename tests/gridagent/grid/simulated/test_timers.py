"""Timers in order, bounded, and cheap to cancel."""

from __future__ import annotations

import pytest

from gridagent.errors import LimitExceeded
from gridagent.grid.simulated.timers import Timers


def run(timers: Timers, now: float) -> None:
    """Let everything due happen."""
    while (due := timers.pop_due(now)) is not None:
        due[1]()


def test_timers_happen_in_order_and_equal_ones_as_they_were_set() -> None:
    """Order is by time, then by age.

    Spec: SIM-2
    """
    timers, happened = Timers(), []
    for due, name in ((2.0, "late"), (1.0, "first"), (1.0, "second"), (3.0, "never")):
        timers.at(due, lambda name=name: happened.append(name))
    run(timers, 2.0)
    assert happened == ["first", "second", "late"]
    assert timers.next_due() == 3.0


def test_a_timer_a_rounding_error_away_is_due() -> None:
    """A sleep that ends a nanosecond early does not make the pump spin."""
    timers, happened = Timers(), []
    timers.at(1.0, lambda: happened.append(1))
    run(timers, 1.0 - 1e-10)
    assert happened == [1]


def test_a_cancelled_timer_never_happens_and_is_forgotten() -> None:
    """Cancelling is idempotent, allowed afterwards, and leaves nothing behind.

    Spec: BND-1
    """
    timers, happened = Timers(), []
    kept = timers.at(1.0, lambda: happened.append("kept"))
    cancelled = [timers.at(2.0, lambda: happened.append("cancelled")) for _ in range(1_000)]
    for timer in (*cancelled, *cancelled):
        timer.cancel()
    assert len(timers) == 1
    assert len(timers._heap) < 200
    run(timers, 5.0)
    kept.cancel()
    assert happened == ["kept"]
    assert len(timers) == 0
    assert timers.next_due() is None


def test_one_timer_too_many_is_refused() -> None:
    """The heap has a ceiling.

    Spec: BND-1
    """
    timers = Timers(limit=2)
    timers.at(1.0, lambda: None)
    timers.at(2.0, lambda: None).cancel()
    timers.at(2.0, lambda: None)
    with pytest.raises(LimitExceeded):
        timers.at(3.0, lambda: None)


def test_only_a_sooner_timer_wakes_the_shell() -> None:
    """The pump is woken when it would sleep too long, and not otherwise."""
    timers, woken = Timers(), []
    timers.on_sooner = lambda: woken.append(1)
    for due in (5.0, 6.0, 4.0, 4.0):
        timers.at(due, lambda: None)
    assert len(woken) == 2
