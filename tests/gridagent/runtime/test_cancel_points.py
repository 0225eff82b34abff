"""Claims about `gridagent.runtime.cancel_points`."""

from __future__ import annotations

import pytest
import trio

from gridagent.errors import LimitExceeded
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint


def test_a_call_is_cancelled_at_each_of_its_checkpoints_in_turn():
    """Checkpoint 0 is before the call; the last run is not cancelled."""
    progress: list[int] = []

    async def victim(record: list[int]) -> str:
        for step in range(3):
            await trio.sleep(1)
            record.append(step)
        return "done"

    async def scenario(point: CancelPoint) -> None:
        record: list[int] = []
        result = await point.guard(victim, record)
        progress.append(len(record))
        assert (result == "done") is not point.cancelled

    assert cancel_at_every_checkpoint(scenario) == 4
    assert progress == [0, 0, 1, 2, 3]


def test_a_checkpoint_that_cannot_be_cancelled_lets_the_call_end():
    """A shielded call is reached but not cancelled, and its result arrives."""
    results: list[tuple[int | None, bool]] = []

    async def victim() -> int:
        with trio.CancelScope(shield=True):
            await trio.sleep(1)
        return 7

    async def scenario(point: CancelPoint) -> None:
        results.append((await point.guard(victim), point.cancelled))

    assert cancel_at_every_checkpoint(scenario) == 2
    assert results == [(7, False)] * 3


def test_a_scenario_that_never_ends_its_checkpoints_is_reported():
    """A call that grows with each run cannot hang the test."""

    async def endless(point: CancelPoint) -> None:
        async def spin() -> None:
            while True:
                await trio.lowlevel.checkpoint()

        await point.guard(spin)

    with pytest.raises(LimitExceeded):
        cancel_at_every_checkpoint(endless, most=20)


def test_what_a_scenario_raises_comes_out():
    """A failed assertion of a scenario fails the test."""

    async def scenario(point: CancelPoint) -> None:
        await trio.lowlevel.checkpoint()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cancel_at_every_checkpoint(scenario)
