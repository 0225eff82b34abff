"""Claims about subscribers and queues of a simulated run."""

from __future__ import annotations

import random

import pytest
import trio

from gridagent.controls import Connect
from gridagent.events import AlertShown, GroupImSeen
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import AgentState, EventSeen, HoldChanged, LinkState, LinkStateChanged, Observation
from gridagent.policy import Policy
from gridagent.runtime.broadcast import Broadcast
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import SessionSettings
from gridagent.simulation.account import Account
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.watching import Numbering, check_queues, watch_at_once, watch_slowly


class Listener:
    """Stands where an operator would."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def on_observed(self, body) -> None:
        self.kinds.append(body.kind)


def seen(seq: int) -> Observation:
    """Return an observation with a number."""
    return Observation(seq=seq, avatar="a", generation=1, at=0.0, body=EventSeen(event=AlertShown(text="x")))


def account():
    """Open an account."""
    return Account(Oracle(seed=0, clock=lambda: 0.0).new_history("robin"), "robin")


def rules(one) -> list[str]:
    """Name the rules that were broken."""
    return [violation.rule for violation in one._past.oracle.violations]


def test_a_gap_must_be_announced_and_as_long_as_it_is() -> None:
    """Numbers go on, or `Lagged` says how many are missing. Spec: BND-3."""
    one = account()
    numbering = Numbering(one, "x")
    numbering.lagged(3)
    numbering.read(5)
    numbering.read(6)
    numbering.lagged(2)
    numbering.read(9)
    assert rules(one) == []
    numbering.read(11)
    numbering.lagged(1)
    numbering.read(12)
    assert rules(one) == ["observations without an unannounced gap"] * 2


async def test_the_quick_one_hands_everything_on_and_the_slow_one_lags(autojump_clock) -> None:
    """Both read until the publisher is gone. Spec: BND-3."""
    one, counts, listener = account(), Sometimes(), Listener()
    broadcast: Broadcast[Observation] = Broadcast()
    one.on_lag()  # nothing is connected here
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_at_once, broadcast.subscribe(8, "quick"), one, counts, listener)
        nursery.start_soon(watch_slowly, broadcast.subscribe(1, "slow"), one, counts, random.Random(0))
        for seq in range(1, 6):
            broadcast.publish(seen(seq))
            await trio.testing.wait_all_tasks_blocked()
        broadcast.publish_many([seen(seq) for seq in range(6, 30)])
        broadcast.close()
    assert rules(one) == []
    assert set(listener.kinds) == {"event"}
    assert 5 + 8 <= len(listener.kinds) < 29
    assert counts.snapshot()["subscriber_lagged"] > 0


async def test_what_nobody_asks_about_is_only_numbered(autojump_clock) -> None:
    """Plain events are judged by their being seen, other words not at all; gaps show all the same. Spec: SUP-5."""
    one, counts, listener = account(), Sometimes(), Listener()
    broadcast: Broadcast[Observation] = Broadcast()
    bodies = (
        LinkStateChanged(state=LinkState.ONLINE, was=LinkState.CONNECTING),
        EventSeen(event=GroupImSeen(group="g")),
        HoldChanged(held=True),
        LinkStateChanged(state=LinkState.BACKOFF, was=LinkState.ONLINE),
        EventSeen(event=GroupImSeen(group="g")),
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_at_once, broadcast.subscribe(64, "quick"), one, counts, listener)
        for seq, body in enumerate(bodies, 1):
            broadcast.publish(Observation(seq=seq, avatar="a", generation=1, at=0.0, body=body))
        broadcast.publish(Observation(seq=9, avatar="a", generation=1, at=0.0, body=bodies[2]))
        broadcast.close()
    assert listener.kinds == ["link_state", "link_state"]
    assert rules(one) == ["no event without a connection", "observations without an unannounced gap"]


@pytest.mark.parametrize("full", [False, True])
async def test_queues_keep_their_limits_and_full_ones_count(*, full: bool, autojump_clock) -> None:
    """A queue that was ever full is counted. Spec: BND-1, BND-2."""
    settings = SessionSettings(key="robin", controls_max=1 if full else 64, observables_max=1024)
    spec = AvatarSpec(settings=settings, policy=Policy(), mind=QuietMind(), backend=Puppet())
    one, counts = account(), Sometimes()
    async with open_service([spec], ports=simulated_ports(0)) as service, trio.open_nursery() as nursery:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        for _ in range(4):
            nursery.start_soon(handle.control, Connect())
        await trio.testing.wait_all_tasks_blocked()
        check_queues(handle, one, counts)
    assert rules(one) == []
    assert (counts.snapshot()["queue_full"] > 0) is full
