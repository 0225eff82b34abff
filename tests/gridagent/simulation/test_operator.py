"""Claims about the simulated operator."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager

import pytest
import trio

from gridagent.controls import CONTROLS, Pause, SayAsOperator, ShutDown
from gridagent.events import DisconnectCause, PartDegraded
from gridagent.grid.puppet import Puppet
from gridagent.ids import AvatarId
from gridagent.mind import QuietMind
from gridagent.observations import AgentState, LinkState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.surroundings import Whereabouts
from gridagent.simulation.account import Account
from gridagent.simulation.operator import Operator
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.views import BodyView, OutcomeView

OWNER = AvatarId("00000000-0000-4000-8000-000000000001")


class Desk:
    def __init__(self, handle, puppet: Puppet, seed: int = 0) -> None:
        self.puppet = puppet
        self.oracle = Oracle(seed=0, clock=trio.current_time)
        self.account = Account(self.oracle.new_history("robin"), "robin")
        self.account.on_lag()
        self.operator = Operator(
            handle,
            self.account,
            random.Random(seed),
            near=Whereabouts(None),
            policies=lambda: b"{}",
            known=(OWNER,),
        )

    def cut(self) -> None:
        self.puppet.now.end(DisconnectCause.CIRCUIT_LOST)


@asynccontextmanager
async def desk(**settings):
    """Run one avatar with an operator before it."""
    puppet = Puppet()
    fields = {"key": "robin", "on_backend_failure": OnBackendFailure.RECONNECT, **settings}
    spec = AvatarSpec(settings=SessionSettings(**fields), policy=Policy(), mind=QuietMind(), backend=puppet)
    async with open_service([spec], ports=simulated_ports(0)) as service:
        yield Desk(service.avatar(), puppet)


async def test_a_storm_holds_every_control_each_answered_once(autojump_clock) -> None:
    """Every kind is sent except the one that would end it, and none is left waiting. Spec: SUP-8, SIM-3."""
    sent = set()
    async with desk() as one, trio.open_nursery() as nursery:
        one.operator.on_observed(BodyView(kind="approval_opened", approval_id="a1"))
        one.operator.on_observed(BodyView(kind="outcome", effect="e1", outcome=OutcomeView(outcome="in_doubt")))
        one.operator.on_observed(BodyView(kind="outcome", outcome=OutcomeView(outcome="refused")))
        send = one.operator.send

        async def noted(control):
            sent.add(type(control))
            return await send(control)

        one.operator.send = noted
        with trio.move_on_after(3000.0):
            await one.operator.storm(5.0, nursery)
        await trio.sleep(50)
    assert sent == set(CONTROLS) - {ShutDown}
    assert one.account._waiting == {}
    assert one.oracle.violations == []


async def test_a_control_to_somebody_who_is_gone_is_accounted_for(autojump_clock) -> None:
    """It has no reply, and waits for none."""
    async with desk() as one:
        await one.operator.handle.shut_down()
        assert await one.operator.send(SayAsOperator(text="hello?")) is None
        assert one.account._waiting == {}


@pytest.mark.parametrize(
    "aim",
    [
        AgentState.STARTING,
        AgentState.RUNNING,
        AgentState.PAUSED,
        AgentState.STOPPING,
        AgentState.STOPPED,
        LinkState.STOPPED,
        LinkState.CONNECTING,
        LinkState.ONLINE,
        LinkState.BACKOFF,
        LinkState.PAUSED,
        LinkState.SHUTTING_DOWN,
    ],
)
async def test_every_state_can_be_reached(aim, autojump_clock) -> None:
    """As far as an operator and a broken line can. Spec: SUP-1, SUP-4."""
    async with desk() as one:
        one.puppet.logout_takes_s = 1.0
        if aim is not AgentState.STARTING:
            await one.operator.handle.wait_agent(AgentState.RUNNING)
        else:
            one.puppet.become_ready = False
        if aim is LinkState.CONNECTING:
            one.puppet.log_in = one.puppet.become_ready = False
        await one.operator.reach(aim, one.cut)
        status = one.operator.handle.status()
        assert aim.value in {status.agent.value, status.link.value}


async def test_sick_blocked_and_failed_need_a_hand_from_the_line(autojump_clock) -> None:
    """The operator reconnects; what the new connection is like decides."""
    async with desk() as one:
        await one.operator.handle.wait_agent(AgentState.RUNNING)
        await one.puppet.now.push(PartDegraded(part="x"))
        with trio.move_on_after(5):
            await one.operator.reach(LinkState.DEGRADED, one.cut)
        one.puppet.refuse_login = DisconnectCause.BAD_CREDENTIALS
        await one.operator.reach(LinkState.AUTHENTICATION_BLOCKED, one.cut)
        assert one.operator.handle.status().link is LinkState.AUTHENTICATION_BLOCKED
        one.puppet.refuse_login = DisconnectCause.BACKEND_FAULT
        await one.operator.reach(AgentState.FAILED, one.cut)
        assert one.operator.handle.status().agent is AgentState.FAILED


@pytest.mark.parametrize("trouble", ["held", "paused", "disconnected", "sent away", "short back-off"])
async def test_the_operator_brings_back_what_only_an_operator_can(trouble: str, autojump_clock) -> None:
    """Holds and pauses are lifted, those sent away are called; a back-off is left to end by itself. Spec: SIM-4."""
    async with desk() as one:
        handle = one.operator.handle
        await handle.wait_agent(AgentState.RUNNING)
        if trouble == "held":
            handle._session.core.gateway.hold(handle._session.core.now)
        elif trouble == "paused":
            await one.operator.send(Pause())
        elif trouble == "disconnected":
            await one.operator.reach(LinkState.STOPPED, one.cut)
        else:
            away_s = 3600.0 if trouble == "sent away" else 1.0
            await one.operator.reach(LinkState.BACKOFF, one.cut)
            one.operator.on_observed(BodyView(kind="link_state", state="backoff", retry_in_s=away_s))
        before = handle.status().link
        await one.operator.bring_back(b"{}")
        await trio.sleep(0.001)
        after = handle.status()
        assert not after.gateway.held
        assert (after.link is LinkState.ONLINE) is (trouble != "short back-off"), (before, after.link)


async def test_what_waited_through_a_restart_is_answered_in_the_world(autojump_clock) -> None:
    """The newest few, once the avatar is back; without any, or without an avatar, nothing is sent. Spec: POL-7."""
    async with desk() as one:
        await one.operator.catch_up()
        assert one.operator.replies == 0
        one.operator._open.extend(f"approval-{number}" for number in range(6))
        await one.operator.catch_up()
        assert one.operator.replies == 4
        await one.operator.handle.shut_down()
        await one.operator.catch_up()
        assert one.operator.replies == 4
