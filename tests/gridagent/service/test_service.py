"""Claims about many avatars in one process."""

import pytest
import trio

from gridagent.controls import SayAsOperator
from gridagent.errors import OperatorError
from gridagent.events import DisconnectCause
from gridagent.grid.puppet import Puppet
from gridagent.mind import Errand, QuietMind
from gridagent.observations import AgentState, LinkState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.restart import RestartIntensity
from gridagent.service import AuditTrail, AvatarSpec, Hosted, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.faculties import NoFaculties
from gridagent.storage.memory import MemoryStore


class Broken(QuietMind):
    """A mind with a bug."""

    def hear(self, event, around, now):
        raise RuntimeError("a bug")


class Wrong(QuietMind):
    """A mind whose thoughts are none, so that the session itself breaks on them."""

    def hear(self, event, around, now):
        return (Errand(errand_id=[], what="?", timeout_s=1.0),)


def spec(key, puppet=None, mind=None, **settings):
    """Build an avatar over a puppet."""
    settings = {"on_backend_failure": OnBackendFailure.RECONNECT, **settings}
    return AvatarSpec(
        settings=SessionSettings(key=key, **settings),
        policy=Policy(),
        mind=mind or QuietMind(),
        backend=puppet or Puppet(),
    )


async def test_leaving_the_block_stops_every_avatar_in_order(autojump_clock):
    """Spec: SUP-2, SUP-3 — nothing outlives the block, and each avatar logged out once."""
    puppets = [Puppet() for _ in range(5)]
    avatars = [spec(f"a{n}", puppet) for n, puppet in enumerate(puppets)]
    async with open_service(avatars, ports=simulated_ports(0)) as service:
        assert service.avatars == ("a0", "a1", "a2", "a3", "a4")
        for key in service.avatars:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
    assert {status.agent for status in service.status()} == {AgentState.STOPPED}
    assert [puppet.now.logouts for puppet in puppets] == [1] * 5
    assert not any(puppet.now.running for puppet in puppets)
    await service.wait_stopped()


async def test_a_mind_may_be_made_when_the_store_is_there(autojump_clock):
    """Spec: MEM-3 — what makes a mind is given the store it goes on from; what answers its errands comes along."""
    given = []
    store = MemoryStore(simulated_ports(0).clock)

    async def make(kept):
        await trio.lowlevel.checkpoint()
        given.append(kept)
        return Hosted(mind=QuietMind(), faculties=NoFaculties())

    for kept in (None, store):
        async with open_service([spec("robin", mind=make)], ports=simulated_ports(0), store=kept) as service:
            await service.avatar("robin").wait_agent(AgentState.RUNNING)
            assert isinstance(service._sessions["robin"]._errands._faculties, NoFaculties)
    assert given == [None, store]


async def test_avatars_leave_at_the_same_time(autojump_clock):
    """Stopping a hundred avatars with slow logouts takes as long as one."""
    puppets = [Puppet() for _ in range(100)]
    for puppet in puppets:
        puppet.logout_takes_s = 3.0
    async with open_service([spec(f"a{n}", p) for n, p in enumerate(puppets)], ports=simulated_ports(0)) as service:
        for key in service.avatars:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
        began = trio.current_time()
        await service.shut_down()
        assert trio.current_time() - began == pytest.approx(3.0)
        await service.shut_down()


async def test_one_avatars_failure_never_stops_another(autojump_clock):
    """Spec: SUP-7, SUP-11 — a bug, an offline failure and a healthy avatar side by side."""
    errors = []
    puppets = {key: Puppet() for key in ("buggy", "wrong", "offline", "healthy")}
    avatars = [
        spec("buggy", puppets["buggy"], Broken(), fault_intensity=RestartIntensity(max_restarts=0, window_s=300.0)),
        spec("wrong", puppets["wrong"], Wrong()),
        spec("offline", puppets["offline"], on_backend_failure=OnBackendFailure.FAIL),
        spec("healthy", puppets["healthy"]),
    ]

    def log(code, error):
        errors.append(code)

    async with open_service(avatars, ports=simulated_ports(0), log_error=log) as service:
        await service.avatar("buggy").wait_agent(AgentState.FAILED)
        await service.avatar("wrong").wait_agent(AgentState.FAILED)
        await service.avatar("offline").wait_agent(AgentState.RUNNING)
        puppets["offline"].now.end(DisconnectCause.CIRCUIT_LOST)
        await service.avatar("offline").wait_agent(AgentState.FAILED)
        await trio.sleep(60)
        assert service.avatar("healthy").status().agent is AgentState.RUNNING
        assert service.failed == ("buggy", "wrong", "offline")
    assert sorted(errors) == ["backend_ended", "mind_failed", "session_ended"]
    assert puppets["buggy"].now.logouts == puppets["wrong"].now.logouts == 1


async def test_cancelling_the_block_is_the_same_end(autojump_clock):
    """Spec: SUP-2 — cancelled from outside, every avatar still leaves in order before the block is left."""
    puppet = Puppet()
    puppet.logout_takes_s = 1.0
    with trio.move_on_after(10):
        async with open_service([spec("robin", puppet)], ports=simulated_ports(0)) as service:
            await trio.sleep_forever()
    assert trio.current_time() == pytest.approx(11.0)
    assert puppet.now.logouts == 1
    assert service.avatar().status().agent is AgentState.STOPPED


async def test_staggered_logins_do_not_delay_the_end(autojump_clock):
    """Spec: SUP-11 — an avatar that still waits for its turn is stopped at once."""
    puppet = Puppet()
    async with open_service([spec("late", puppet, start_after_s=3600.0)], ports=simulated_ports(0)) as service:
        await trio.sleep(1)
        assert service.avatar().status().link is LinkState.STOPPED
    assert trio.current_time() < 2
    assert not puppet.backends


async def test_avatars_are_found_by_name_and_the_mistake_says_which_there_are(autojump_clock):
    """A wrong name is answered with the right ones."""
    async with open_service([spec("a"), spec("b")], ports=simulated_ports(0)) as service:
        assert service.avatar("b").key == "b"
        with pytest.raises(OperatorError, match="there is no avatar 'c' in this service; it has: a, b"):
            service.avatar("c")
        with pytest.raises(OperatorError, match="name one avatar: a, b"):
            service.avatar()


async def test_avatars_that_share_a_name_or_are_too_many_are_refused():
    """Spec: SUP-11 — refused before anything is started."""
    with pytest.raises(OperatorError, match="two avatars are called 'a'"):
        async with open_service([spec("a"), spec("a")], ports=simulated_ports(0)):
            raise AssertionError("never opened")
    with pytest.raises(OperatorError, match="at most 1024 avatars, not 1025"):
        async with open_service([spec(f"a{n}") for n in range(1025)], ports=simulated_ports(0)):
            raise AssertionError("never opened")


async def test_every_decision_of_every_avatar_is_in_the_trail(autojump_clock):
    """Spec: POL-10, BND-3 — records come by a plain call, with the avatar they belong to, watched or not."""
    rows = []
    trail = AuditTrail(lambda avatar, row: rows.append((avatar, row.code)))
    async with open_service([spec("a"), spec("b")], ports=simulated_ports(0), audit=trail) as service:
        for key in service.avatars:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
            await service.avatar(key).control(SayAsOperator(text="hello"))
        await trio.sleep(1)
    assert {avatar for avatar, _ in rows} == {"a", "b"}
    assert trail.total == len(rows) == len(trail)
    assert [(avatar, row.code) for avatar, row in trail] == rows
