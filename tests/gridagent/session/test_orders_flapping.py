"""Claims about controls that come faster than a connection can be cleaned up (found by the simulator)."""

from itertools import product

import pytest
import trio

from gridagent.controls import Connect, Disconnect, ForceReconnect, Pause, Resume
from gridagent.observations import AgentState, LinkState

FLAPS = (Pause, Resume, Connect, Disconnect, ForceReconnect)


@pytest.mark.parametrize(
    "orders", list(product(FLAPS, repeat=3)), ids=lambda three: "-".join(o.__name__ for o in three)
)
async def test_orders_that_overtake_the_clean_up_are_answered(orders, stage, autojump_clock):
    """Spec: SUP-4, SUP-8 — each is carried out or refused, and the session lives to come back.

    The logout of the first connection takes longer than all three.
    """
    one = stage()
    one.puppet.logout_takes_s = 3.0
    async with one.running():
        await one.handle.wait_agent(AgentState.RUNNING)
        for order in orders:
            reply = await one.handle.control(order())
            assert reply.code in {"ok", "already_paused", "not_paused", "paused", "already_connected", "not_connected"}
        await trio.sleep(10)
        for order in (Resume, Connect):
            await one.handle.control(order())
        assert await one.handle.wait_link(LinkState.ONLINE) is LinkState.ONLINE
        assert one.handle.status().agent is AgentState.RUNNING
    assert one.errors == []
