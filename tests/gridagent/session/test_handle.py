"""Claims about the handle that the actor's tests do not make."""

import trio

from gridagent.controls import Hold
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
