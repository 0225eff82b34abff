"""One meter for a file and an endpoint: what it has seen, from when, and until when."""

from __future__ import annotations

import trio

from gridagent.cli.counting import LAST_S, Counting
from gridagent.cli.embedding import open_service
from gridagent.controls import Hold
from gridagent.observability.metrics import TextFormat
from gridagent.observations import AgentState
from gridagent.runtime.deterministic import simulated_ports


async def test_what_was_said_before_anybody_counts_is_counted(autojump_clock) -> None:
    """From the block's beginning on, whoever starts the counting when. Spec: OPS-2."""
    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        with Counting([handle]) as counting:
            await handle.wait_agent(AgentState.RUNNING)
            assert "gridagent_connections_total{" not in counting.exposition()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(counting.run)
                await trio.testing.wait_all_tasks_blocked()
                assert 'gridagent_connections_total{avatar="robin"} 1\n' in counting.exposition()
                assert 'gridagent_queue_limit{avatar="robin",queue=' in counting.exposition()
                assert counting.exposition(TextFormat.OPENMETRICS).endswith("# EOF\n")
                nursery.cancel_scope.cancel()
            assert counting.done.is_set()


async def test_an_end_that_does_not_come_is_not_waited_for(autojump_clock) -> None:
    """Of an avatar that lives on, what waits is read, and then it is over. Spec: OPS-2."""
    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        with Counting([handle]) as counting:
            began = trio.current_time()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(counting.run)
                await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
            assert counting.done.is_set()
            assert trio.current_time() - began <= LAST_S


async def test_it_reads_on_until_the_avatar_has_said_its_last(autojump_clock) -> None:
    """The stop that follows a cancellation is in the numbers. Spec: OPS-2."""
    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        with Counting([handle]) as counting:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(counting.run)
                await handle.control(Hold())
                await handle.shut_down()
                nursery.cancel_scope.cancel()
            text = counting.exposition()
    assert 'gridagent_held{avatar="robin"} 1\n' in text
    assert 'gridagent_agent_state{avatar="robin",state="stopped"} 1\n' in text
