"""Slots: so many at one time, the others first come, first served, and a cancelled waiter holds nothing."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from gridagent.language import FailureKind, LlmFailure
from gridagent.limits import LLM_REQUESTS_MAX
from gridagent.llm import slots as module
from gridagent.llm.slots import Slots, SlotStatistics
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint


@pytest.mark.parametrize("limit", [0, -1, LLM_REQUESTS_MAX + 1])
def test_the_number_has_a_ceiling(limit: int) -> None:
    """Configuration lowers it, and nothing raises it. Spec: BND-10."""
    with pytest.raises(ValueError, match="slots"):
        Slots(limit)


async def test_first_come_first_served(autojump_clock) -> None:
    """Nobody is overtaken, and never are there more than the limit. Spec: BND-10, MND-15."""
    slots, order, most = Slots(2), [], 0

    async def use(number: int) -> None:
        nonlocal most
        async with slots.hold():
            order.append(number)
            most = max(most, slots.statistics().used)
            await trio.sleep(1 + number / 100)  # no two end in the same moment

    async with trio.open_nursery() as nursery:
        for number in range(9):
            nursery.start_soon(use, number)
            await trio.testing.wait_all_tasks_blocked()
    assert order == list(range(9))
    assert most == 2
    assert slots.statistics() == SlotStatistics(limit=2, used=0, waiting=0, peak_used=2, peak_waiting=7, refused=0)


async def test_a_freed_slot_is_the_first_waiters_at_once(autojump_clock) -> None:
    """Somebody who comes between release and wake-up waits his turn."""
    slots, order = Slots(1), []

    async def use(name: str) -> None:
        async with slots.hold():
            order.append(name)

    async with trio.open_nursery() as nursery:
        async with slots.hold():
            nursery.start_soon(use, "first")
            await trio.testing.wait_all_tasks_blocked()
        await use("late")
    assert order == ["first", "late"]


async def test_the_queue_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One waiter too many is told at once. Spec: BND-10."""
    monkeypatch.setattr(module, "WAITING_MAX", 1)
    slots = Slots(1)
    async with trio.open_nursery() as nursery:
        await slots.acquire()
        nursery.start_soon(slots.acquire)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(LlmFailure) as caught:
            await slots.acquire()
        nursery.cancel_scope.cancel()
    assert caught.value.kind is FailureKind.OVERLOADED
    assert slots.statistics().refused == 1


def test_cancelling_anywhere_loses_no_slot() -> None:
    """Waiting, holding and between: everything is free again. Spec: BND-10."""

    async def scenario(point: CancelPoint) -> None:
        slots = Slots(1)

        async def use() -> None:
            async with slots.hold():
                await trio.sleep(1)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(use)
            nursery.start_soon(point.guard, use)
            nursery.start_soon(use)
        assert slots.statistics().used == slots.statistics().waiting == 0
        with trio.fail_after(2):
            await use()

    assert cancel_at_every_checkpoint(scenario) >= 3


async def test_a_failing_block_gives_its_slot_back() -> None:
    """However it ends."""
    slots = Slots(1)
    with pytest.raises(ZeroDivisionError):
        async with slots.hold():
            raise ZeroDivisionError
    assert slots.statistics().used == 0
