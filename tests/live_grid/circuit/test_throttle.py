"""The token bucket."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_grid.circuit.throttle import TokenBucket


def test_a_burst_leaves_at_once_and_then_waits() -> None:
    """The last packet may overdraw; the debt is paid before the next. Spec: LIV-2."""
    bucket = TokenBucket(rate=100.0, burst=50.0, now=0.0)
    assert bucket.open(0.0)
    assert bucket.open_at() == 0.0
    bucket.charge(70)
    assert not bucket.open(0.0)
    assert bucket.open_at() == 0.21
    assert not bucket.open(0.2)
    assert bucket.open(bucket.open_at())


def test_time_that_stands_still_or_runs_back_fills_nothing() -> None:
    """Only time that passed fills the bucket, and not above its rim."""
    bucket = TokenBucket(rate=100.0, burst=50.0, now=10.0)
    bucket.charge(60)
    assert not bucket.open(5.0)
    assert bucket.open(100.0)
    bucket.charge(50)
    assert not bucket.open(100.0)


@given(st.lists(st.tuples(st.floats(0.0, 2.0), st.integers(1, 1200)), max_size=60))
def test_no_more_leaves_than_rate_and_burst_allow(steps) -> None:
    """In any pattern of asking, the sum stays within rate times time plus burst plus one packet."""
    bucket = TokenBucket(rate=1000.0, burst=2000.0, now=0.0)
    now, out = 0.0, 0
    for wait, size in steps:
        now += wait
        if bucket.open(now):
            bucket.charge(size)
            out += size
        assert out <= 1000.0 * now + 2000.0 + 1200
        assert bucket.open(max(now, bucket.open_at()))
        now = max(now, bucket.open_at())
