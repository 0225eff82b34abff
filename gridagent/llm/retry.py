"""When a request to a model is tried again, and after how long: the one retry layer.

Owns the decision as a pure function of what failed, how often, and how much time is left, and the small loop
around it. Only requests to a model go through it: repeating one causes nothing in the world. Nobody above or
below retries (the HTTP layer is told not to).

Invariant: a pause is never shorter than what the provider asked for, and never begins when the deadline would
pass in it (Spec: MND-2, Fault: 21).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from random import Random
from typing import Annotated, Final, TypeVar

import msgspec
import trio
from msgspec import Meta

from gridagent.language import LlmFailure

__all__ = ("RetryPolicy", "pause_before_retry", "retrying")

RETRIES_MAX: Final = 10

T = TypeVar("T")


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How patient we are."""

    retries_max: Annotated[int, Meta(ge=0, le=RETRIES_MAX)] = 3
    """Tries after the first."""
    base_s: Annotated[float, Meta(gt=0.0, le=60.0)] = 0.5
    """Ceiling of the first pause; it doubles with each."""
    cap_s: Annotated[float, Meta(gt=0.0, le=300.0)] = 20.0
    """Highest ceiling, before what the provider asked for."""

    def __post_init__(self) -> None:
        """Hold the ceiling whoever builds it."""
        if not 0 <= self.retries_max <= RETRIES_MAX:
            raise ValueError(f"retries_max is from 0 to {RETRIES_MAX}, not {self.retries_max}")


def pause_before_retry(
    failure: LlmFailure, *, tried: int, remaining_s: float, policy: RetryPolicy, rng: Random
) -> float | None:
    """Return how many seconds to wait before the next try; None when there is none.

    Full jitter spreads many that failed together. What the provider asked for comes before it, not instead of it:
    otherwise all would come back in the same moment.

    Args:
        failure: of the last try.
        tried: tries so far, from 1.
        remaining_s: until the deadline.
        policy: how patient we are.
        rng: where the jitter comes from.
    """
    if not failure.retryable or tried > policy.retries_max:
        return None
    ceiling = min(policy.cap_s, policy.base_s * 2 ** (tried - 1))
    floor = failure.retry_after_s or 0.0
    if not math.isfinite(floor):
        return None
    pause = max(0.0, floor) + rng.uniform(0.0, ceiling)
    return pause if pause < remaining_s else None


async def retrying(
    attempt: Callable[[], Awaitable[T]],
    *,
    deadline: float,
    policy: RetryPolicy,
    rng: Random,
    on_retry: Callable[[LlmFailure, float], object],
) -> T:
    """Await ``attempt`` until it returns, or until trying again is of no use.

    Args:
        attempt: one try; starts from nothing each time.
        deadline: on the trio clock.
        policy: how patient we are.
        rng: where the jitter comes from.
        on_retry: told of each failure that is tried again, and of the pause before it.

    Raises:
        LlmFailure: of the last try.

    Cancellation: as ``attempt``; safe in the pauses.
    """
    tried = 0
    while True:
        tried += 1
        try:
            return await attempt()
        except LlmFailure as error:
            failure = error
        pause = pause_before_retry(
            failure, tried=tried, remaining_s=deadline - trio.current_time(), policy=policy, rng=rng
        )
        if pause is None:
            raise failure
        on_retry(failure, pause)
        await trio.sleep(pause)
