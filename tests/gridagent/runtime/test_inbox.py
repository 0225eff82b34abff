"""Claims about `gridagent.runtime.inbox`."""

from __future__ import annotations

import itertools

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded, ResourceBroken, ResourceBusy, ResourceClosed
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint
from gridagent.runtime.channels import CHANNEL_LIMIT_MAX
from gridagent.runtime.deterministic import ScheduleTrace, schedule_seed
from gridagent.runtime.inbox import LANES_MAX, Inbox


async def test_higher_lanes_are_served_first():
    """A batch holds every waiting item of an earlier lane before the first of a later one. Spec: BND-2."""
    inbox: Inbox[str] = Inbox("i")
    controls = inbox.open_lane("controls", 8)
    results = inbox.open_lane("results", 8)
    events = inbox.open_lane("events", 8)
    await events.send_many(["e1", "e2"])
    await results.send("r1")
    controls.send_nowait("c1")
    assert await inbox.receive_batch() == ["c1", "r1", "e1", "e2"]


async def test_a_batch_is_at_most_as_long_as_asked_and_starts_at_the_top_each_time():
    """A control that arrives between two batches overtakes the events of the second."""
    inbox: Inbox[str] = Inbox("i")
    controls = inbox.open_lane("controls", 8)
    events = inbox.open_lane("events", 8)
    await events.send_many(["e1", "e2", "e3"])
    await controls.send("c1")
    assert await inbox.receive_batch(2) == ["c1", "e1"]
    await controls.send("c2")
    assert await inbox.receive_batch(2) == ["c2", "e2"]
    assert inbox.drain_nowait(2) == ["e3"]
    assert inbox.drain_nowait(2) == []


async def test_what_arrives_during_the_checkpoint_is_served_in_order_too():
    """A control that comes while the reader yields is not behind the events that were there. Spec: BND-2."""
    inbox: Inbox[str] = Inbox("i")
    controls = inbox.open_lane("controls", 8)
    events = inbox.open_lane("events", 8)
    events.send_nowait("e1")
    got: list[str] = []

    async def read() -> None:
        got.extend(await inbox.receive_batch())

    class Late(trio.abc.Instrument):
        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            if "read" in task.name and not got:
                controls.send_nowait("c1")

    trio.lowlevel.add_instrument(late := Late())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
    trio.lowlevel.remove_instrument(late)
    assert got == ["c1", "e1"]


@pytest.mark.parametrize("verb", ["send", "send_nowait", "send_many"])
async def test_every_kind_of_put_wakes_a_sleeping_reader(verb):
    """No wake-up is lost, whichever lane and verb. Spec: BND-1, BND-2."""
    inbox: Inbox[int] = Inbox("i")
    lanes = [inbox.open_lane(str(number), 2) for number in range(3)]
    for lane in lanes:
        got: list[int] = []

        async def read(into: list[int] = got) -> None:
            into.extend(await inbox.receive_batch())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            assert got == []
            if verb == "send":
                await lane.send(1)
            elif verb == "send_nowait":
                lane.send_nowait(1)
            else:
                await lane.send_many([1])
        assert got == [1]


async def test_a_batch_longer_than_its_lane_wakes_the_reader_before_it_waits(autojump_clock):
    """A sender that must wait for room has told the sleeping reader that there is something. Spec: BND-1."""
    inbox: Inbox[int] = Inbox("i")
    lane = inbox.open_lane("events", 2)
    got: list[int] = []

    async def read() -> None:
        while len(got) < 7:
            got.extend(await inbox.receive_batch())

    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            await lane.send_many(list(range(7)))
    assert got == list(range(7))


async def test_a_full_lane_makes_its_sender_wait_and_no_other():
    """Each lane has its own bound. Spec: BND-1, BND-2."""
    inbox: Inbox[str] = Inbox("i")
    controls = inbox.open_lane("controls", 1)
    events = inbox.open_lane("events", 1)
    events.send_nowait("e1")
    with pytest.raises(trio.WouldBlock):
        events.send_nowait("e2")
    controls.send_nowait("c1")
    assert [(row.name, row.used, row.limit) for row in inbox.statistics()] == [
        ("i.controls", 1, 1),
        ("i.events", 1, 1),
    ]


async def test_a_closed_lane_drains_and_is_gone():
    """Closing one lane takes its items and leaves the others. Spec: SUP-2."""
    inbox: Inbox[int] = Inbox("i")
    first = inbox.open_lane("first", 4)
    second = inbox.open_lane("second", 4)
    await first.send_many([1, 2])
    first.close()
    with pytest.raises(ResourceClosed):
        await first.send(3)
    assert await inbox.receive_batch() == [1, 2]
    await second.send(4)
    assert await inbox.receive_batch() == [4]
    assert [row.name for row in inbox.statistics()] == ["i.second"]


async def test_the_last_close_ends_a_sleeping_reader():
    """When every lane is closed and read the reader gets `trio.EndOfChannel`. Spec: SUP-2."""
    inbox: Inbox[int] = Inbox("i")
    lanes = [inbox.open_lane(str(number), 2) for number in range(2)]

    async def read() -> None:
        with pytest.raises(trio.EndOfChannel):
            await inbox.receive_batch()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        lanes[0].close()
        await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 1
        lanes[1].close()
    assert inbox.statistics() == ()


async def test_an_inbox_without_lanes_has_ended():
    """There is nobody who could ever send."""
    with pytest.raises(trio.EndOfChannel):
        await Inbox("i").receive_batch()


async def test_an_inbox_has_one_reader():
    """Two readers would share a state that one must own."""
    inbox: Inbox[int] = Inbox("i")
    lane = inbox.open_lane("lane", 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inbox.receive_batch)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ResourceBusy):
            await inbox.receive_batch()
        await lane.send(1)
    await lane.send(2)
    assert await inbox.receive_batch() == [2]


async def test_closing_ends_the_reader_and_breaks_the_lanes():
    """After a stop writers learn it at once, and so does a sleeping reader. Spec: BND-2, SUP-2."""
    inbox: Inbox[int] = Inbox("i")
    lane = inbox.open_lane("lane", 2)
    with pytest.RaisesGroup(ResourceClosed):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inbox.receive_batch)
            await trio.testing.wait_all_tasks_blocked()
            with inbox:
                pass
    inbox.close()
    with pytest.raises(ResourceBroken):
        await lane.send(1)
    with pytest.raises(ResourceClosed):
        inbox.drain_nowait()
    with pytest.raises(ResourceClosed):
        inbox.open_lane("late", 1)


def test_lanes_and_their_limits_are_bounded():
    """An inbox holds at most 16 lanes of at most 8,192 items. Spec: BND-1."""
    inbox: Inbox[int] = Inbox("i")
    with pytest.raises(LimitExceeded):
        inbox.open_lane("wide", CHANNEL_LIMIT_MAX + 1)
    for number in range(LANES_MAX):
        inbox.open_lane(str(number), 1)
    with pytest.raises(LimitExceeded) as caught:
        inbox.open_lane("more", 1)
    assert caught.value.allowed == LANES_MAX
    assert repr(inbox) == "<Inbox i: 16 lanes>"


def test_a_read_cancelled_anywhere_has_taken_nothing():
    """`Inbox.receive_batch` loses nothing at any of its checkpoints and can be called again. Spec: BND-1, BND-2."""

    async def scenario(point: CancelPoint) -> None:
        inbox: Inbox[int] = Inbox("i")
        lane = inbox.open_lane("lane", 4)
        got: list[int] = []

        async def read() -> None:
            got.extend(await point.guard(inbox.receive_batch) or [])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            await lane.send_many([1, 2])
            await trio.testing.wait_all_tasks_blocked()
        assert bool(got) is not point.cancelled
        await lane.send(3)
        while len(got) < 3:
            got.extend(await inbox.receive_batch())
        assert got == [1, 2, 3]

    assert cancel_at_every_checkpoint(scenario) == 3


SENDS = st.lists(st.tuples(st.sampled_from(["send", "many", "pause"]), st.integers(0, 7)), max_size=6)


class _Traffic:
    """Writers into lanes and the reader who checks the order of what it gets."""

    def __init__(self, limits: list[int], plans: list, mosts: list[int]) -> None:
        self.inbox: Inbox[tuple[int, int, int]] = Inbox("p")
        self.lanes = [self.inbox.open_lane(str(number), limit) for number, limit in enumerate(limits)]
        self.plans = plans
        self.mosts = mosts
        self.sent = [0] * len(plans)
        self.got: list[tuple[int, int, int]] = []

    async def write(self, me: int) -> None:
        number, plan = self.plans[me]
        number %= len(self.lanes)
        for verb, count in plan:
            items = [(number, me, self.sent[me] + offset) for offset in range(count)]
            if verb == "pause":
                await trio.lowlevel.checkpoint()
                continue
            self.sent[me] += count
            if verb == "many":
                await self.lanes[number].send_many(items)
            else:
                for item in items:
                    await self.lanes[number].send(item)

    async def read(self) -> None:
        with pytest.raises(trio.EndOfChannel):
            for most in itertools.cycle(self.mosts):
                batch = await self.inbox.receive_batch(most)
                assert 1 <= len(batch) <= most
                self.check([lane for lane, _, _ in batch])
                self.got.extend(batch)

    def check(self, served: list[int]) -> None:
        assert served == sorted(served)
        for row in self.inbox.statistics():
            assert row.used <= row.limit
            assert row.used == 0 or int(row.name.removeprefix("p.")) >= served[-1]

    async def run(self) -> None:
        with trio.fail_after(60):
            async with trio.open_nursery() as readers:
                readers.start_soon(self.read)
                async with trio.open_nursery() as writers:
                    for me in range(len(self.plans)):
                        writers.start_soon(self.write, me)
                for lane in self.lanes:
                    lane.close()


def test_any_mix_of_writers_is_served_whole_in_order_and_by_priority():
    """Nothing is lost or doubled, each lane stays in order, and no wake-up is lost. Spec: BND-1, BND-2.

    Whenever a lower lane was served the higher ones were empty, for any limits, batches and schedules.
    """
    schedules: set[str] = set()

    @given(
        limits=st.lists(st.integers(1, 4), min_size=1, max_size=4),
        plans=st.lists(st.tuples(st.integers(0, 3), SENDS), max_size=5),
        mosts=st.lists(st.integers(1, 6), min_size=1, max_size=5),
        seed=st.integers(0, 2**32),
    )
    def explore(limits: list[int], plans: list, mosts: list[int], seed: int) -> None:
        traffic = _Traffic(limits, plans, mosts)
        trace = ScheduleTrace()
        with schedule_seed(seed):
            trio.run(traffic.run, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[trace])
        schedules.add(trace.digest)
        for me, count in enumerate(traffic.sent):
            assert [serial for _, who, serial in traffic.got if who == me] == list(range(count))
        assert traffic.inbox.statistics() == ()

    explore()
    assert len(schedules) > 1
