"""Cancel a call at each of its checkpoints in turn: the test that its ``Cancellation:`` line is true.

Owns an instrument that cancels one guarded call at its n-th checkpoint, and the loop over n. Knows
nothing of what is called. Used by tests; a scenario that holds for every n loses nothing when it is
cancelled anywhere, which no number of random time-outs shows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

import trio
import trio.testing

from gridagent.errors import LimitExceeded
from gridagent.runtime.deterministic import Seed, schedule_seed

__all__ = ("CancelPoint", "cancel_at_every_checkpoint")

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class CancelPoint(trio.abc.Instrument):
    """Cancels the call it guards at checkpoint ``number``; 0 is before the call begins.

    Args:
        number: which checkpoint, counted from 1.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.reached = number == 0
        """Whether the call came as far as this checkpoint."""
        self.cancelled = False
        """Whether the call ended by the cancellation."""
        self._scope = trio.CancelScope()
        self._task: trio.lowlevel.Task | None = None
        self._seen = 0

    async def guard(self, async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> T | None:
        """Await ``async_fn(*args)``; return its result, or None if the cancellation ended it. Use it once."""
        self._task = trio.lowlevel.current_task()
        if self.reached:
            self._scope.cancel()
        result: T | None = None
        with self._scope:
            result = await async_fn(*args)
        self._task = None
        self.cancelled = self._scope.cancelled_caught
        return result

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        """Count the checkpoints of the guarded call and cancel it at the one that was asked for."""
        if task is self._task:
            self._seen += 1
            if self._seen == self.number:
                self.reached = True
                self._scope.cancel()


def cancel_at_every_checkpoint(
    scenario: Callable[[CancelPoint], Awaitable[object]], *, seed: Seed = 0, most: int = 1_000
) -> int:
    """Run ``scenario`` once for each checkpoint of the call it guards, and once without cancelling.

    Args:
        scenario: builds what it needs, awaits the call through `CancelPoint.guard` and asserts.
        seed: of the schedule, the same in every run.
        most: runs allowed.

    Returns:
        How many checkpoints the call has, the one before it included.

    Raises:
        LimitExceeded: the call has more checkpoints than ``most``.
        BaseException: whatever the scenario raises.
    """
    for number in range(most):
        point = CancelPoint(number)
        with schedule_seed(seed):
            trio.run(scenario, point, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[point])
        if not point.reached:
            return number
    raise LimitExceeded("checkpoints of a call", allowed=most)
