"""Claims about the handle that the actor's tests do not make."""

import pytest
import trio

from gridagent.actions import Position
from gridagent.controls import Hold, SayAsOperator
from gridagent.errors import ResourceBusy, ResourceClosed
from gridagent.events import DisconnectCause
from gridagent.observations import AgentState, HoldChanged, LinkState
from gridagent.runtime.channels import Lagged


async def test_a_slow_reader_lags_and_nobody_else_does(stage, autojump_clock):
    """Spec: BND-3 — the session never waits for a reader; the slow one is told how much it missed."""
    s = stage()
    with s.handle.observe("slow", limit=2) as slow:
        async with s.running():
            await s.handle.wait_agent(AgentState.RUNNING)
            for _ in range(5):
                await s.handle.control(Hold())
            await trio.testing.wait_all_tasks_blocked()
            assert len(s.bodies(HoldChanged)) == 5
        first, *rest = [item async for item in slow]
    assert isinstance(first, Lagged)
    assert first.missed == len(s.seen) - len(rest)
    assert [o.seq for o in rest] == [o.seq for o in s.seen[-len(rest) :]]


async def test_a_readers_limit_cannot_exceed_the_configured_one(stage, autojump_clock):
    """Spec: BND-3 — asking for more gives the ceiling."""
    s = stage(observables_max=4)
    with s.handle.observe("greedy", limit=8000) as reader:
        assert reader.statistics().limit == 4
    assert s.handle.key == "robin"


async def test_waiting_for_a_state_that_never_comes_ends_with_the_session(stage, autojump_clock):
    """A waiter is never left behind: it learns the last state."""
    s = stage()
    states = []

    async def wait():
        states.append(await s.handle.wait_agent(AgentState.PAUSED))
        states.append(await s.handle.wait_link(LinkState.BACKOFF))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        async with s.running():
            await s.handle.wait_agent(AgentState.RUNNING)
            assert await s.handle.wait_link(LinkState.ONLINE, LinkState.BACKOFF) is LinkState.ONLINE
    assert states == [AgentState.STOPPED, LinkState.STOPPED]


async def test_two_states_of_one_word_are_not_confused(stage, autojump_clock):
    """The agent's stopped and the link's stopped are equal as text and are told apart all the same."""
    s = stage(connect_at_start=False)
    reached = []

    async def wait():
        reached.append(await s.session.wait_state(AgentState.STOPPED))

    async with trio.open_nursery() as nursery, s.running():
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert s.core.link.state is LinkState.STOPPED
        assert reached == []
        await s.handle.shut_down()
    assert reached == [AgentState.STOPPED]


async def test_look_ups_wait_until_the_avatar_is_in_the_world(stage, autojump_clock):
    """Spec: BND-6 — read-only work queues while not ready, up to its capacity; one more is refused at once."""
    s = stage(offline_work_max=2)
    s.puppet.refuse_login = DisconnectCause.MAINTENANCE
    seen = []

    async def look():
        seen.append(await s.handle.look())

    async with s.running(), trio.open_nursery() as nursery:
        await s.handle.wait_link(LinkState.BACKOFF)
        nursery.start_soon(look)
        nursery.start_soon(look)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ResourceBusy, match="not_ready, and 2 look-ups wait already"):
            await s.handle.look()
        assert (await s.handle.control(SayAsOperator(text="x"))).code == "not_ready"
        assert seen == []
        s.puppet.refuse_login = None
        await s.handle.wait_link(LinkState.ONLINE)
        await trio.testing.wait_all_tasks_blocked()
        assert [look.region for look in seen] == ["Stage", "Stage"]
        assert (await s.handle.look()).position == Position(x=128, y=128, z=25)


async def test_a_look_up_that_waits_ends_with_the_session(stage, autojump_clock):
    """Spec: BND-6, SUP-3 — nobody waits for an avatar that is over."""
    s = stage(connect_at_start=False)
    async with trio.open_nursery() as nursery:
        async with s.running():

            async def look():
                with pytest.raises(ResourceClosed, match="has stopped"):
                    await s.handle.look()

            nursery.start_soon(look)
            await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ResourceClosed):
            await s.handle.look()


class SlowKeeper:
    """Keeps what it is told when the disk lets it."""

    keeps = True

    def __init__(self):
        self.disk = trio.Event()

    async def sending(self, effect, wall):
        await self.disk.wait()

    async def durable(self):
        await self.disk.wait()
        return True


async def test_nobody_is_told_before_it_is_durable(stage, autojump_clock):
    """Spec: POL-12, EFX-2 — the avatar is held at once; whoever ordered it hears so when a power cut cannot undo it."""
    s = stage()
    keeper = s.session._keeper = SlowKeeper()
    replies = []

    async def hold():
        replies.append(await s.handle.control(Hold()))

    async with s.running(), trio.open_nursery() as nursery:
        nursery.start_soon(hold)
        await trio.sleep(5.0)
        assert (s.gateway.held, replies) == (True, [])
        keeper.disk.set()
        await trio.sleep(5.0)
        assert [reply.code for reply in replies] == ["ok"]
