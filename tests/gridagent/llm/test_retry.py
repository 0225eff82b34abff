"""The one retry layer: what is tried again, after how long, and never past the deadline."""

from __future__ import annotations

import random

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import BadReply, FailureKind, LlmFailure
from gridagent.llm.retry import RetryPolicy, pause_before_retry, retrying

POLICY = RetryPolicy(retries_max=3, base_s=1.0, cap_s=4.0)
OVERLOADED = LlmFailure(FailureKind.OVERLOADED)


def pause(
    failure: LlmFailure = OVERLOADED, *, tried: int = 1, remaining_s: float = 100.0, seed: int = 0
) -> float | None:
    """Decide once."""
    return pause_before_retry(failure, tried=tried, remaining_s=remaining_s, policy=POLICY, rng=random.Random(seed))


@given(st.integers(1, 3), st.integers(0, 10**6), st.none() | st.floats(0, 50))
def test_a_pause_is_jitter_on_top_of_what_was_asked_for(tried: int, seed: int, floor: float | None) -> None:
    """Never shorter than the provider's wish, never longer than it and the doubling ceiling. Spec: MND-2."""
    found = pause(LlmFailure(FailureKind.RATE_LIMITED, retry_after_s=floor), tried=tried, seed=seed)
    assert found is not None
    assert (floor or 0.0) <= found <= (floor or 0.0) + min(4.0, 2 ** (tried - 1))


def test_many_that_failed_together_come_back_apart() -> None:
    """Full jitter spreads them over the whole ceiling, also behind a common wish. Spec: MND-2."""
    pauses = [pause(LlmFailure(FailureKind.RATE_LIMITED, retry_after_s=5.0), seed=seed) for seed in range(200)]
    assert min(pauses) < 5.1
    assert max(pauses) > 5.9


@pytest.mark.parametrize("floor", [1e9, 99.9999999, float("inf"), float("nan")])
def test_a_wish_beyond_the_deadline_ends_it(floor: float) -> None:
    """There is no use in waiting for what comes too late. Fault: 21."""
    assert pause(LlmFailure(FailureKind.RATE_LIMITED, retry_after_s=floor)) is None


def test_a_wish_of_the_past_is_none() -> None:
    """A negative wish shortens nothing."""
    assert pause(LlmFailure(FailureKind.RATE_LIMITED, retry_after_s=-5.0)) >= 0.0


def test_tries_and_time_are_counted() -> None:
    """The fourth failure is the last, and so is one without time. Spec: MND-2."""
    assert pause(tried=3) is not None
    assert pause(tried=4) is None
    assert pause(remaining_s=0.0) is None


@pytest.mark.parametrize(
    "failure", [LlmFailure(FailureKind.AUTH), LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TOO_MANY_CALLS)]
)
def test_what_no_second_try_cures_is_not_tried_again(failure: LlmFailure) -> None:
    """Refusals and hostile replies are asked for once."""
    assert pause(failure) is None


@pytest.mark.parametrize("retries", [-1, 11])
def test_patience_has_a_ceiling(retries: int) -> None:
    """Nobody retries for ever."""
    with pytest.raises(ValueError, match="retries_max"):
        RetryPolicy(retries_max=retries)


async def test_the_loop_tries_until_it_is_good(autojump_clock) -> None:
    """Each failure is told with its pause, and time passes as decided."""
    outcomes = [OVERLOADED, LlmFailure(FailureKind.TIMEOUT, retry_after_s=9.0), None]
    told: list[tuple[LlmFailure, float]] = []

    async def attempt() -> str:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return "good"

    deadline = trio.current_time() + 100
    started = trio.current_time()
    found = await retrying(
        attempt, deadline=deadline, policy=POLICY, rng=random.Random(1), on_retry=lambda *each: told.append(each)
    )
    assert found == "good"
    assert [failure.kind for failure, _ in told] == [FailureKind.OVERLOADED, FailureKind.TIMEOUT]
    assert trio.current_time() - started == pytest.approx(sum(pause_s for _, pause_s in told))


async def test_the_last_failure_is_the_one_that_is_told(autojump_clock) -> None:
    """Giving up raises what went wrong last, and nothing else goes through the loop."""
    kinds = [FailureKind.OVERLOADED, FailureKind.AUTH]

    async def attempt() -> None:
        raise LlmFailure(kinds.pop(0))

    with pytest.raises(LlmFailure) as caught:
        await retrying(attempt, deadline=1e9, policy=POLICY, rng=random.Random(1), on_retry=lambda *_: None)
    assert caught.value.kind is FailureKind.AUTH

    async def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await retrying(broken, deadline=1e9, policy=POLICY, rng=random.Random(1), on_retry=lambda *_: None)
