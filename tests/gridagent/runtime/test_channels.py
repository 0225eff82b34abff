"""Claims about `gridagent.runtime.channels`."""

from __future__ import annotations

import contextlib

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded, ResourceBroken, ResourceBusy, ResourceClosed
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint
from gridagent.runtime.channels import (
    CHANNEL_LIMIT_MAX,
    ChannelStatistics,
    Lagged,
    Overflow,
    Receiver,
    Sender,
    open_channel,
)
from gridagent.runtime.deterministic import ScheduleTrace, schedule_seed


def waiting(limit: int) -> tuple[Sender[int], Receiver[int]]:
    """Open a channel whose senders wait."""
    sender: Sender[int]
    receiver: Receiver[int]
    sender, receiver = open_channel(limit, overflow=Overflow.WAIT, name="w")
    return sender, receiver


def dropping(limit: int) -> tuple[Sender[int], Receiver[int | Lagged]]:
    """Open a channel that drops its oldest."""
    sender: Sender[int]
    receiver: Receiver[int | Lagged]
    sender, receiver = open_channel(limit, overflow=Overflow.DROP_OLDEST, name="d")
    return sender, receiver


def refusing(limit: int) -> tuple[Sender[int], Receiver[int]]:
    """Open a channel that refuses."""
    sender: Sender[int]
    receiver: Receiver[int]
    sender, receiver = open_channel(limit, overflow=Overflow.REFUSE, name="r")
    return sender, receiver


def assert_sane(stats: ChannelStatistics) -> None:
    """Assert the bound and that the counts add up."""
    assert 0 <= stats.used <= stats.peak <= stats.limit
    assert stats.sent == stats.received + stats.dropped + stats.used


# --- opening ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, CHANNEL_LIMIT_MAX])
def test_limits_within_the_ceiling_are_taken(limit):
    """A channel's limit is what was asked for, 1 to 8,192. Spec: BND-1, BND-3."""
    sender, receiver = waiting(limit)
    assert sender.statistics().limit == receiver.statistics().limit == limit


def test_a_limit_over_the_ceiling_is_refused():
    """No caller can open a channel above the hard ceiling. Spec: BND-1, BND-3."""
    with pytest.raises(LimitExceeded) as caught:
        waiting(CHANNEL_LIMIT_MAX + 1)
    assert (caught.value.allowed, caught.value.seen) == (CHANNEL_LIMIT_MAX, CHANNEL_LIMIT_MAX + 1)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_under_one_is_refused(limit):
    """A channel without a buffer would make every batch one item long."""
    with pytest.raises(ValueError, match="at least 1"):
        waiting(limit)


def test_the_ends_show_the_channels_name():
    """A repr names the channel, so that logs are readable."""
    sender, receiver = waiting(1)
    assert (repr(sender), repr(receiver)) == ("<Sender w>", "<Receiver w>")


# --- waiting ------------------------------------------------------------------------------------


async def test_a_sender_waits_for_room_and_nothing_is_lost(autojump_clock):
    """Back-pressure: a full queue makes its sender wait until the reader made room. Spec: BND-1."""
    sender, receiver = waiting(2)
    await sender.send_many([1, 2])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sender.send, 3)
        await trio.testing.wait_all_tasks_blocked()
        assert receiver.statistics().used == 2
        assert await receiver.receive() == 1
    assert await receiver.receive_batch() == [2, 3]
    assert_sane(receiver.statistics())


async def test_send_nowait_on_a_full_waiting_channel_would_block():
    """The synchronous twin of a wait is `trio.WouldBlock`, and puts nothing."""
    sender, receiver = waiting(1)
    sender.send_nowait(1)
    with pytest.raises(trio.WouldBlock):
        sender.send_nowait(2)
    assert receiver.drain_nowait() == [1]


async def test_send_many_beyond_the_limit_feeds_a_waiting_reader():
    """A batch longer than the queue passes through it whole and in order."""
    sender, receiver = waiting(3)
    got: list[int] = []

    async def read() -> None:
        async for item in receiver:
            got.append(item)  # noqa: PERF401 - one at a time is what is tested

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        await sender.send_many(list(range(20)))
        sender.close()
    assert got == list(range(20))
    assert_sane(receiver.statistics())


async def test_send_many_of_nothing_is_one_checkpoint():
    """An empty batch is no special case for its caller."""
    sender, receiver = waiting(1)
    with trio.testing.assert_checkpoints():
        await sender.send_many([])
    assert receiver.drain_nowait() == []


async def test_sends_and_receives_are_checkpoints_also_with_room():
    """No loop over a channel can starve the other tasks."""
    sender, receiver = waiting(8)
    with trio.testing.assert_checkpoints():
        await sender.send(1)
    with trio.testing.assert_checkpoints():
        await sender.send_many([2, 3])
    with trio.testing.assert_checkpoints():
        await receiver.receive()
    with trio.testing.assert_checkpoints():
        await receiver.receive_batch()


async def test_send_many_with_room_yields_once():
    """A batch costs one checkpoint, however long it is."""
    sender, _receiver = waiting(100)
    sender_steps = 0

    class Steps(trio.abc.Instrument):
        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            nonlocal sender_steps
            sender_steps += task is me

    me = trio.lowlevel.current_task()
    counter = Steps()
    trio.lowlevel.add_instrument(counter)
    await sender.send_many(list(range(100)))
    trio.lowlevel.remove_instrument(counter)
    assert sender_steps == 1


# --- dropping -----------------------------------------------------------------------------------


async def test_a_slow_reader_gets_lagged_and_then_the_newest():
    """What was dropped is counted and told in its place. Spec: BND-3."""
    sender, receiver = dropping(3)
    await sender.send_many(list(range(10)))
    assert await receiver.receive_batch() == [Lagged(7), 7, 8, 9]
    stats = receiver.statistics()
    assert (stats.dropped, stats.received, stats.peak) == (7, 3, 3)
    assert_sane(stats)


async def test_lagged_counts_from_the_last_read_only():
    """Each `Lagged` tells of new losses."""
    sender, receiver = dropping(1)
    for item in range(3):
        await sender.send(item)
    assert [await receiver.receive(), await receiver.receive()] == [Lagged(2), 2]
    await sender.send_many([3, 4])
    assert receiver.receive_nowait() == Lagged(1)
    assert receiver.receive_nowait() == 4


async def test_lagged_stands_behind_an_item_that_was_handed_over_before_the_loss():
    """A reader woken by one item and overtaken by a flood still reads in order. Spec: BND-3."""
    sender, receiver = dropping(2)
    got: list[int | Lagged] = []

    async def read() -> None:
        got.extend(await receiver.receive_batch())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        for item in range(6):
            sender.send_nowait(item)
    assert got == [0, Lagged(3), 4, 5]
    assert_sane(receiver.statistics())


async def test_a_batch_of_one_leaves_lagged_for_the_next_read():
    """``most`` is kept to the letter, `Lagged` included."""
    sender, receiver = dropping(1)
    got: list[int | Lagged] = []

    async def read() -> None:
        got.extend(await receiver.receive_batch(1))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        for item in range(3):
            sender.send_nowait(item)
    assert got == [0]
    assert receiver.drain_nowait(1) == [Lagged(1)]
    assert receiver.drain_nowait(1) == [2]


# --- refusing -----------------------------------------------------------------------------------


async def test_a_full_refusing_channel_is_busy_and_counts():
    """Callers from outside are turned away at the bound, and that is counted."""
    sender, receiver = refusing(1)
    sender.send_nowait(1)
    with pytest.raises(ResourceBusy) as caught:
        sender.send_nowait(2)
    with pytest.raises(ResourceBusy):
        await sender.send(3)
    assert caught.value.resource == "r"
    assert receiver.statistics().refused == 2
    assert receiver.drain_nowait() == [1]
    assert_sane(receiver.statistics())


async def test_a_batch_is_refused_whole_or_taken_whole():
    """A refused batch leaves no part of itself behind."""
    sender, receiver = refusing(3)
    await sender.send_many([1, 2])
    with pytest.raises(ResourceBusy):
        await sender.send_many([3, 4])
    assert receiver.statistics().refused == 2
    await sender.send_many([5])
    assert receiver.drain_nowait() == [1, 2, 5]


# --- closing ------------------------------------------------------------------------------------


async def test_a_closed_sender_lets_the_reader_drain_and_then_end():
    """Nothing that was accepted is lost by closing."""
    sender, receiver = waiting(4)
    with sender:
        await sender.send_many([1, 2])
    sender.close()
    assert await receiver.receive_batch() == [1, 2]
    with pytest.raises(trio.EndOfChannel):
        await receiver.receive()
    with pytest.raises(trio.EndOfChannel):
        receiver.receive_nowait()
    assert [item async for item in receiver] == []


async def test_what_a_lagging_reader_missed_is_told_before_the_end():
    """Closing does not hide a loss."""
    sender, receiver = dropping(1)
    await sender.send_many([1, 2])
    sender.close()
    assert [item async for item in receiver] == [Lagged(1), 2]


@pytest.mark.parametrize("open_it", [waiting, dropping, refusing])
async def test_using_a_closed_sender_is_our_own_fault(open_it):
    """After `Sender.close` every kind of put is `ResourceClosed`, a long batch too."""
    sender, _receiver = open_it(1)
    sender.close()
    with pytest.raises(ResourceClosed):
        sender.send_nowait(1)
    with pytest.raises(ResourceClosed):
        await sender.send(1)
    with pytest.raises(ResourceClosed):
        await sender.send_many([1, 2, 3])


@pytest.mark.parametrize("open_it", [waiting, dropping, refusing])
async def test_a_reader_that_left_breaks_the_channel(open_it):
    """When the reader is gone senders learn it from the first put on."""
    sender, receiver = open_it(1)
    with receiver:
        pass
    with pytest.raises(ResourceBroken):
        sender.send_nowait(1)
    with pytest.raises(ResourceBroken):
        await sender.send(1)
    with pytest.raises(ResourceBroken):
        await sender.send_many([1, 2, 3])


async def test_a_waiting_sender_learns_that_the_reader_left():
    """A wait ends with `ResourceBroken` instead of lasting for ever. Spec: SUP-2."""
    sender, receiver = waiting(1)
    sender.send_nowait(1)
    with pytest.RaisesGroup(ResourceBroken):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sender.send, 2)
            await trio.testing.wait_all_tasks_blocked()
            receiver.close()


async def test_a_waiting_sender_learns_that_it_was_closed():
    """Closing the sender under a waiting task is `ResourceClosed` there. Spec: SUP-2."""
    sender, _receiver = waiting(1)
    sender.send_nowait(1)
    with pytest.RaisesGroup(ResourceClosed):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sender.send_many, [2, 3])
            await trio.testing.wait_all_tasks_blocked()
            sender.close()


async def test_a_waiting_reader_learns_that_it_was_closed():
    """Closing the receiver under a waiting task is `ResourceClosed` there. Spec: SUP-2."""
    _sender, receiver = waiting(1)
    with pytest.RaisesGroup(ResourceClosed):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(receiver.receive_batch)
            await trio.testing.wait_all_tasks_blocked()
            receiver.close()
    with pytest.raises(ResourceClosed):
        receiver.receive_nowait()


async def test_what_waits_when_the_reader_leaves_counts_as_dropped():
    """The counts add up after a close in the middle."""
    sender, receiver = waiting(4)
    await sender.send_many([1, 2, 3])
    await receiver.receive()
    receiver.close()
    receiver.close()
    stats = sender.statistics()
    assert (stats.received, stats.dropped, stats.used) == (1, 2, 0)
    assert_sane(stats)


# --- reading ------------------------------------------------------------------------------------


async def test_an_empty_channel_would_block():
    """`receive_nowait` on nothing is `trio.WouldBlock`, `drain_nowait` is an empty list."""
    _sender, receiver = waiting(1)
    with pytest.raises(trio.WouldBlock):
        receiver.receive_nowait()
    assert receiver.drain_nowait() == []


@pytest.mark.parametrize("most", [0, -1])
async def test_a_batch_of_less_than_one_is_refused(most):
    """A wait that may return nothing would spin its caller."""
    sender, receiver = waiting(1)
    sender.send_nowait(1)
    with pytest.raises(ValueError, match="at least 1"):
        await receiver.receive_batch(most)
    assert receiver.drain_nowait() == [1]


async def test_a_batch_is_at_most_as_long_as_asked():
    """The rest of the queue stays for the next batch."""
    sender, receiver = waiting(200)
    await sender.send_many(list(range(150)))
    assert [len(await receiver.receive_batch()) for _ in range(3)] == [64, 64, 22]


async def test_on_ready_is_called_after_each_put_and_close():
    """One task can wait for several channels: it is told when to look. A batch tells once."""
    calls: list[int] = []
    sender: Sender[int]
    receiver: Receiver[int]
    sender, receiver = open_channel(
        4, overflow=Overflow.WAIT, name="n", on_ready=lambda: calls.append(receiver.statistics().used)
    )
    sender.send_nowait(1)
    await sender.send(2)
    await sender.send_many([3, 4])
    sender.close()
    assert calls == [1, 2, 4, 4]


# --- cancellation -------------------------------------------------------------------------------


def test_a_send_cancelled_anywhere_has_put_nothing():
    """`Sender.send` is all or nothing at each of its checkpoints, with room and without. Spec: BND-1."""

    async def scenario(point: CancelPoint, *, room: bool) -> None:
        sender, receiver = waiting(2)
        sender.send_nowait(1)
        if not room:
            sender.send_nowait(2)
        before = receiver.statistics().used
        async with trio.open_nursery() as nursery:
            nursery.start_soon(point.guard, sender.send, 99)
            await trio.testing.wait_all_tasks_blocked()
            got = [receiver.receive_nowait()]
            await trio.testing.wait_all_tasks_blocked()
            got += receiver.drain_nowait()
        assert got == [1, 2][:before] + ([] if point.cancelled else [99])
        assert_sane(receiver.statistics())

    async def with_room(point: CancelPoint) -> None:
        await scenario(point, room=True)

    async def without(point: CancelPoint) -> None:
        await scenario(point, room=False)

    assert cancel_at_every_checkpoint(with_room) == 2
    assert cancel_at_every_checkpoint(without) == 2


def test_a_send_many_cancelled_anywhere_has_put_a_prefix_once():
    """`Sender.send_many` never puts an item twice or out of order, wherever it is cancelled. Spec: BND-1."""

    async def scenario(point: CancelPoint) -> None:
        sender, receiver = waiting(2)
        got: list[int] = []

        async def send() -> None:
            await point.guard(sender.send_many, list(range(7)))
            sender.close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            await trio.testing.wait_all_tasks_blocked()
            async for item in receiver:
                got.append(item)
                await trio.testing.wait_all_tasks_blocked()
        assert got == list(range(len(got)))
        assert len(got) == 7 or point.cancelled

    assert cancel_at_every_checkpoint(scenario) > 3


def test_a_receive_cancelled_anywhere_has_taken_nothing():
    """`Receiver.receive_batch` loses no item at any of its checkpoints, empty or not. Spec: BND-1."""

    async def scenario(point: CancelPoint, before: list[int]) -> None:
        sender, receiver = waiting(8)
        await sender.send_many(before)
        got: list[int] = []

        async def read() -> None:
            got.extend(await point.guard(receiver.receive_batch, 3) or [])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            await sender.send_many([10, 11])
            await trio.testing.wait_all_tasks_blocked()
        assert bool(got) is not point.cancelled
        assert got + receiver.drain_nowait() == [*before, 10, 11]
        assert_sane(receiver.statistics())

    async def empty(point: CancelPoint) -> None:
        await scenario(point, [])

    async def filled(point: CancelPoint) -> None:
        await scenario(point, [1, 2])

    assert cancel_at_every_checkpoint(empty) == 2
    assert cancel_at_every_checkpoint(filled) == 2


# --- properties ---------------------------------------------------------------------------------

SENDS = st.lists(
    st.tuples(st.sampled_from(["send", "many", "nowait", "pause"]), st.integers(0, 6), st.booleans()), max_size=8
)
READS = st.lists(st.tuples(st.sampled_from(["receive", "batch", "drain", "pause"]), st.integers(1, 5)), max_size=10)


class _Bounds(trio.abc.Instrument):
    """Looks at a channel after every scheduler step."""

    def __init__(self, sender: Sender[tuple[int, int]]) -> None:
        self.sender = sender

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        assert_sane(self.sender.statistics())


class _Traffic:
    """Writers, one reader and somebody who cancels writers in the middle of a put."""

    def __init__(self, limit: int, plans: list, reads: list) -> None:
        self.sender: Sender[tuple[int, int]]
        self.receiver: Receiver[tuple[int, int]]
        self.sender, self.receiver = open_channel(limit, overflow=Overflow.WAIT, name="p")
        self.plans = plans
        self.reads = reads
        self.accepted: list[list[int]] = [[] for _ in plans]
        self.doubtful: list[set[int]] = [set() for _ in plans]
        self.got: list[tuple[int, int]] = []
        self.victims: list[trio.CancelScope] = []

    async def put(self, me: int, verb: str, items: list[int]) -> None:
        if verb == "send":
            for item in items[:1]:
                await self.sender.send((me, item))
                self.accepted[me].append(item)
        elif verb == "many":
            await self.sender.send_many([(me, item) for item in items])
            self.accepted[me] += items
        elif verb == "nowait":
            with contextlib.suppress(trio.WouldBlock):
                for item in items:
                    self.sender.send_nowait((me, item))
                    self.accepted[me].append(item)
        else:
            await trio.lowlevel.checkpoint()

    async def write(self, me: int) -> None:
        serial = 0
        for verb, count, at_risk in self.plans[me]:
            items = list(range(serial, serial + count))
            serial += count
            with trio.CancelScope() as scope:
                if at_risk:
                    self.victims.append(scope)
                await self.put(me, verb, items)
            if scope.cancelled_caught and verb == "many":
                self.doubtful[me].update(items)

    async def take(self, verb: str, most: int) -> None:
        if verb == "receive":
            self.got.append(await self.receiver.receive())
        elif verb == "batch":
            batch = await self.receiver.receive_batch(most)
            assert 1 <= len(batch) <= most
            self.got.extend(batch)
        elif verb == "drain":
            self.got.extend(self.receiver.drain_nowait(most))
        else:
            await trio.lowlevel.checkpoint()

    async def read(self) -> None:
        with pytest.raises(trio.EndOfChannel):
            for verb, most in self.reads:
                await self.take(verb, most)
            while True:
                await self.take("batch", 64)

    async def harass(self) -> None:
        while True:
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            if self.victims:
                self.victims.pop().cancel()

    async def run(self) -> None:
        with trio.fail_after(60):
            async with trio.open_nursery() as outer:
                outer.start_soon(self.harass)
                async with trio.open_nursery() as readers:
                    readers.start_soon(self.read)
                    async with trio.open_nursery() as writers:
                        for me in range(len(self.plans)):
                            writers.start_soon(self.write, me)
                    self.sender.close()
                outer.cancel_scope.cancel()


def test_nothing_is_lost_or_doubled_while_senders_wait():
    """Any mix of senders, reads, cancellations and schedules passes each accepted item once. Spec: BND-1, BND-2.

    Each sender's items stay in order, and the bound holds at every scheduler step.
    """
    schedules: set[str] = set()

    @given(
        limit=st.integers(1, 5), plans=st.lists(SENDS, min_size=1, max_size=3), reads=READS, seed=st.integers(0, 2**32)
    )
    def explore(limit: int, plans: list, reads: list, seed: int) -> None:
        traffic = _Traffic(limit, plans, reads)
        trace = ScheduleTrace()
        with schedule_seed(seed):
            trio.run(
                traffic.run,
                clock=trio.testing.MockClock(autojump_threshold=0),
                instruments=[trace, _Bounds(traffic.sender)],
            )
        schedules.add(trace.digest)
        for me, accepted in enumerate(traffic.accepted):
            mine = [item for who, item in traffic.got if who == me]
            assert mine == sorted(set(mine))
            assert set(accepted) <= set(mine) <= set(accepted) | traffic.doubtful[me]
        stats = traffic.receiver.statistics()
        assert (stats.received, stats.dropped, stats.used) == (len(traffic.got), 0, 0)

    explore()
    assert len(schedules) > 1


@given(limit=st.integers(1, 5), ops=st.lists(st.integers(0, 9), max_size=40))
def test_a_dropping_channel_accounts_for_every_item(limit, ops):
    """Items read plus `Lagged` counts are exactly the items sent, in order, and the sender never waits. Spec: BND-3."""

    async def main() -> None:
        sender, receiver = dropping(limit)
        serial = expected = 0
        for op in ops:
            if op < 6:
                await sender.send_many(list(range(serial, serial + op)))
                serial += op
            else:
                for item in receiver.drain_nowait(op - 5):
                    if isinstance(item, Lagged):
                        expected += item.missed
                    else:
                        assert item == expected
                        expected += 1
            assert_sane(receiver.statistics())
        assert (
            expected
            + receiver.statistics().used
            + sum(item.missed for item in receiver.drain_nowait(limit + 1) if isinstance(item, Lagged))
            == serial
        )

    trio.run(main)
