"""Claims about `gridagent.runtime.broadcast`."""

from __future__ import annotations

import contextlib

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded, ResourceBusy, ResourceClosed
from gridagent.runtime.broadcast import Broadcast
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint
from gridagent.runtime.channels import Lagged
from gridagent.runtime.deterministic import ScheduleTrace, schedule_seed


async def test_each_subscriber_gets_every_item_from_its_subscription_on():
    """Subscribers share nothing but the publisher. Spec: BND-3."""
    broadcast: Broadcast[int] = Broadcast()
    early = broadcast.subscribe(8, "early")
    broadcast.publish(1)
    late = broadcast.subscribe(8, "late")
    broadcast.publish_many([2, 3])
    assert await early.receive_batch() == [1, 2, 3]
    assert await late.receive_batch() == [2, 3]


async def test_publishing_without_subscribers_is_free():
    """Items nobody reads are counted and not kept."""
    broadcast: Broadcast[int] = Broadcast()
    broadcast.publish(1)
    assert broadcast.statistics().published == 1
    assert broadcast.subscribe(1, "late").drain_nowait() == []


async def test_only_the_slow_subscriber_lags():
    """A slow reader gets `Lagged(n)`; the publisher never waits and the fast reader misses nothing. Spec: BND-3."""
    broadcast: Broadcast[int] = Broadcast()
    slow = broadcast.subscribe(2, "slow")
    fast = broadcast.subscribe(8, "fast")
    for item in range(5):
        broadcast.publish(item)
    assert await fast.receive_batch() == [0, 1, 2, 3, 4]
    assert await slow.receive_batch() == [Lagged(3), 3, 4]
    assert (slow.statistics().dropped, fast.statistics().dropped) == (3, 0)


async def test_closing_ends_subscribers_after_they_drained():
    """Nothing published is lost by closing, and iteration ends by itself. Spec: SUP-2."""
    with Broadcast[int]() as broadcast:
        reader = broadcast.subscribe(2, "reader")
        broadcast.publish_many([1, 2, 3])
    assert [item async for item in reader] == [Lagged(1), 2, 3]
    with pytest.raises(trio.EndOfChannel):
        await reader.receive_batch()
    assert broadcast.statistics().subscribers == ()


async def test_a_closed_broadcast_takes_nothing_more():
    """After `Broadcast.close` publishing and subscribing are our own fault."""
    broadcast: Broadcast[int] = Broadcast(name="b")
    broadcast.close()
    broadcast.close()
    for call in (
        lambda: broadcast.publish(1),
        lambda: broadcast.publish_many([1]),
        lambda: broadcast.subscribe(1, "x"),
    ):
        with pytest.raises(ResourceClosed) as caught:
            call()
        assert caught.value.resource == "b"


async def test_one_subscriber_too_many_is_refused_until_another_leaves():
    """There are at most 64 subscribers; leaving frees the place at once. Spec: BND-3."""
    broadcast: Broadcast[int] = Broadcast(name="b")
    subscriptions = [broadcast.subscribe(1, str(number)) for number in range(64)]
    with pytest.raises(ResourceBusy):
        broadcast.subscribe(1, "more")
    assert broadcast.statistics().refused == 1
    with subscriptions[7] as leaving:
        assert repr(leaving) == "<Subscription b.7>"
    leaving.close()
    assert "7" not in [row.name.removeprefix("b.") for row in broadcast.statistics().subscribers]
    broadcast.subscribe(1, "more")
    assert repr(broadcast) == "<Broadcast b: 64 of 64 subscribers>"


async def test_a_closed_subscription_reads_nothing_more():
    """Closing under a waiting reader ends its wait; the publisher goes on. Spec: SUP-2."""
    broadcast: Broadcast[int] = Broadcast()
    reader = broadcast.subscribe(1, "reader")
    with pytest.RaisesGroup(ResourceClosed):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.receive_batch)
            await trio.testing.wait_all_tasks_blocked()
            reader.close()
    broadcast.publish(1)
    with pytest.raises(ResourceClosed):
        reader.drain_nowait()


@pytest.mark.parametrize(("limit", "error"), [(65, LimitExceeded), (0, ValueError)])
def test_the_number_of_subscribers_is_bounded(limit, error):
    """A broadcast cannot be made for more than 64 subscribers, nor for none. Spec: BND-3."""
    with pytest.raises(error):
        Broadcast(limit)


def test_a_subscriber_cancelled_anywhere_has_taken_nothing():
    """`Subscription.receive_batch` loses nothing at any of its checkpoints. Spec: BND-3."""

    async def scenario(point: CancelPoint) -> None:
        broadcast: Broadcast[int] = Broadcast()
        reader = broadcast.subscribe(4, "reader")
        got: list[int | Lagged] = []

        async def read() -> None:
            got.extend(await point.guard(reader.receive_batch) or [])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            broadcast.publish_many([1, 2])
            await trio.testing.wait_all_tasks_blocked()
        assert got + reader.drain_nowait() == [1, 2]

    assert cancel_at_every_checkpoint(scenario) == 2


class _Audience:
    """Readers of different speeds and limits, each accounting for what it got and what it missed."""

    def __init__(self, limits: list[int], bursts: list[int], pauses: int) -> None:
        self.broadcast: Broadcast[int] = Broadcast()
        self.limits = limits
        self.bursts = bursts
        self.pauses = pauses
        self.totals: list[int] = []

    @staticmethod
    def account(expected: int, item: int | Lagged) -> int:
        if isinstance(item, Lagged):
            assert item.missed > 0
            return expected + item.missed
        assert item == expected
        return expected + 1

    async def read(self, number: int) -> None:
        expected = 0
        with self.broadcast.subscribe(self.limits[number], str(number)) as reader:
            with contextlib.suppress(trio.EndOfChannel):
                while True:
                    for item in await reader.receive_batch(1 + number):
                        expected = self.account(expected, item)
                    for _ in range(number * self.pauses):
                        await trio.lowlevel.checkpoint()
            assert reader.statistics().peak <= self.limits[number]
        self.totals.append(expected)

    async def run(self) -> None:
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                for number in range(len(self.limits)):
                    nursery.start_soon(self.read, number)
                await trio.testing.wait_all_tasks_blocked()
                serial = 0
                for burst in self.bursts:
                    self.broadcast.publish_many(range(serial, serial + burst))
                    serial += burst
                    assert all(row.used <= row.limit for row in self.broadcast.statistics().subscribers)
                    await trio.lowlevel.checkpoint()
                self.broadcast.close()


def test_each_reader_accounts_for_everything_published_while_it_was_there():
    """Items plus `Lagged` counts are exactly what was published, in order, for each reader. Spec: BND-3.

    Memory stays within the readers' limits and no reader changes what another sees, under any schedule.
    """
    schedules: set[str] = set()

    @given(
        limits=st.lists(st.integers(1, 5), min_size=1, max_size=4),
        bursts=st.lists(st.integers(0, 8), max_size=10),
        pauses=st.integers(1, 4),
        seed=st.integers(0, 2**32),
    )
    def explore(limits: list[int], bursts: list[int], pauses: int, seed: int) -> None:
        audience = _Audience(limits, bursts, pauses)
        trace = ScheduleTrace()
        with schedule_seed(seed):
            trio.run(audience.run, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[trace])
        schedules.add(trace.digest)
        assert audience.totals == [sum(bursts)] * len(limits)

    explore()
    assert len(schedules) > 1
