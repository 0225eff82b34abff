"""Claims about `gridagent.runtime.restart`."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded
from gridagent.runtime.restart import (
    CHILD_TABLE,
    RESTARTS_MAX,
    Backoff,
    ChildInput,
    ChildState,
    RestartClass,
    RestartDecision,
    RestartIntensity,
    RestartWindow,
    restarts_after,
)


@pytest.mark.parametrize(
    ("restart", "after_failure", "after_return"),
    [
        (RestartClass.PERMANENT, True, True),
        (RestartClass.TRANSIENT, True, False),
        (RestartClass.TEMPORARY, False, False),
    ],
)
def test_the_class_decides_which_ends_are_followed_by_a_restart(restart, after_failure, after_return):
    """Permanent children always run again, transient ones after a failure, temporary ones never. Spec: SUP-7."""
    assert restarts_after(restart, failed=True) is after_failure
    assert restarts_after(restart, failed=False) is after_return


def test_one_restart_too_many_in_the_window_escalates():
    """Beyond the intensity the failure goes up. Spec: SUP-7."""
    window = RestartWindow(RestartIntensity(max_restarts=2, window_s=10))
    assert [window.record(now) for now in (0.0, 1.0, 9.9)] == [
        RestartDecision.RESTART,
        RestartDecision.RESTART,
        RestartDecision.ESCALATE,
    ]


def test_restarts_leave_the_window_when_it_slides():
    """Failures that are far apart are unrelated. Spec: SUP-7."""
    window = RestartWindow(RestartIntensity(max_restarts=1, window_s=10))
    assert [window.record(now) for now in (0.0, 10.0, 20.0, 29.9)] == [
        RestartDecision.RESTART,
        RestartDecision.RESTART,
        RestartDecision.RESTART,
        RestartDecision.ESCALATE,
    ]


def test_an_intensity_of_zero_escalates_at_once():
    """No restart is a legal choice."""
    window = RestartWindow(RestartIntensity(max_restarts=0, window_s=1))
    assert window.record(5.0) is RestartDecision.ESCALATE


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ({"max_restarts": RESTARTS_MAX + 1}, LimitExceeded),
        ({"max_restarts": -1}, ValueError),
        ({"window_s": 0.0}, ValueError),
        ({"window_s": math.inf}, ValueError),
        ({"window_s": math.nan}, ValueError),
    ],
)
def test_an_impossible_intensity_is_refused(numbers, error):
    """What a window remembers is bounded, and a window has a length."""
    with pytest.raises(error):
        RestartIntensity(**numbers)


@given(
    most=st.integers(0, 6),
    window_s=st.floats(0.5, 20),
    gaps=st.lists(st.floats(0, 10), max_size=60),
)
def test_no_window_ever_holds_more_restarts_than_its_intensity(most, window_s, gaps):
    """At any moment at most ``max_restarts`` were granted in the ``window_s`` before it. Spec: SUP-7."""
    window = RestartWindow(RestartIntensity(max_restarts=most, window_s=window_s))
    now = 0.0
    granted: list[float] = []
    for gap in gaps:
        now += gap
        recent = [moment for moment in granted if now - moment < window_s]
        if window.record(now) is RestartDecision.RESTART:
            assert len(recent) < most
            granted.append(now)
        else:
            assert len(recent) == most


def test_the_ceiling_doubles_up_to_its_cap():
    """Waits grow exponentially and are never longer than the cap. Spec: SUP-6."""
    backoff = Backoff(1.0, 5.0, 60.0)
    ceilings = []
    for _ in range(5):
        ceilings.append(backoff.ceiling_s)
        assert 0 <= backoff.next_delay(Random(1)) <= ceilings[-1]
    assert ceilings == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_the_ceiling_falls_only_after_a_proved_healthy_time():
    """A child that comes up and falls over keeps climbing. Spec: SUP-6."""
    backoff = Backoff(1.0, 64.0, 30.0)
    rng = Random(1)
    backoff.next_delay(rng)
    backoff.next_delay(rng)
    backoff.note_up(100.0)
    backoff.note_up(120.0)
    backoff.note_down(129.9)
    assert backoff.ceiling_s == 4.0
    backoff.note_up(200.0)
    backoff.note_up(220.0)
    backoff.note_down(230.0)
    assert backoff.ceiling_s == 1.0


def test_going_down_without_having_been_up_changes_nothing():
    """A try that never worked proves no health. Spec: SUP-6."""
    backoff = Backoff(1.0, 64.0, 0.0)
    backoff.next_delay(Random(1))
    backoff.note_down(1_000.0)
    assert backoff.ceiling_s == 2.0
    backoff.note_up(1_001.0)
    backoff.note_down(1_002.0)
    backoff.next_delay(Random(1))
    backoff.note_down(2_000.0)
    assert backoff.ceiling_s == 2.0


def test_a_fresh_backoff_has_the_times_and_no_history():
    """Children share times, never history."""
    backoff = Backoff(1.0, 8.0, 3.0)
    backoff.next_delay(Random(1))
    fresh = backoff.fresh()
    assert (fresh.base_s, fresh.cap_s, fresh.healthy_after_s, fresh.ceiling_s) == (1.0, 8.0, 3.0, 1.0)


@pytest.mark.parametrize(
    "times", [(0, 1, 1), (2, 1, 1), (1, math.inf, 1), (math.nan, 1, 1), (1, 1, -1), (1, 1, math.inf)]
)
def test_impossible_times_are_refused(times):
    """Every wait has an end."""
    with pytest.raises(ValueError, match=r"back-off|healthy"):
        Backoff(*times)


@given(
    base=st.floats(0.001, 10),
    factor=st.floats(1, 1_000),
    ops=st.lists(st.sampled_from(["delay", "up", "down"]), max_size=80),
    gap=st.floats(0, 100),
    seed=st.integers(0, 2**32),
)
def test_every_wait_is_within_its_ceiling_and_the_cap(base, factor, ops, gap, seed):
    """No order of ups, downs and waits leads out of the bounds. Spec: SUP-6."""
    backoff = Backoff(base, base * factor, 30.0)
    rng = Random(seed)
    now = 0.0
    for op in ops:
        now += gap
        if op == "delay":
            ceiling = backoff.ceiling_s
            assert 0 <= backoff.next_delay(rng) <= ceiling
        elif op == "up":
            backoff.note_up(now)
        else:
            backoff.note_down(now)
        assert base <= backoff.ceiling_s <= base * factor


def test_a_child_that_was_asked_to_stop_can_only_stop():
    """From STOPPING the one way leads to STOPPED: it never runs again. Spec: SUP-2, SUP-7."""
    assert [row[1:] for row in CHILD_TABLE.rows() if row[0] is ChildState.STOPPING] == [
        (ChildInput.GONE, ChildState.STOPPED)
    ]
