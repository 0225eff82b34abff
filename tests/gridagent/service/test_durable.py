"""Claims about a service whose effects survive it."""

import msgspec
import pytest
import trio

from gridagent.actions import Confirmed, InDoubt, PayAvatar, Refused
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.controls import Hold, Release, RequestAction, SayAsOperator, SettleEffect
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import ActionSettled, AgentState, Diagnostic, SafeModeChanged
from gridagent.policy import Policy
from gridagent.policy.changes import EffectSettled
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.storage import MemoryStore, StorageFault
from gridagent.storage.records import Kept

OWNER = "00000000-0000-4000-8000-0000000000aa"
SECTION = {
    "preset": "observer",
    "budgets": {
        "calls.money": [{"per": "global", "limit": 100, "window_s": 86400}],
        "linden": [{"per": "global", "limit": 12, "window_s": 86400}],
    },
}


def avatar(puppet):
    """Build an avatar that may pay L$12 a day."""
    return AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(msgspec.convert(SECTION, PolicySection), RolesSection(owners=(OWNER,))),
        mind=QuietMind(),
        backend=puppet,
    )


def pay(amount):
    """Ask for a payment as the operator."""
    return RequestAction(action=PayAvatar(to=OWNER, amount=amount))


async def forever(action):
    """Never get evidence."""
    await trio.sleep_forever()


class Recording(MemoryStore):
    """A store that remembers in which order things were kept and actions were applied."""

    def __init__(self, clock):
        super().__init__(clock)
        self.log = []
        self.stuck = None

    def submit(self, *records, urgent=False):
        self.log += [type(r.change).__name__ for r in records if isinstance(r, Kept)]
        super().submit(*records, urgent=urgent)

    async def commit(self, *records):
        if self.stuck is not None:
            await self.stuck.wait()
        known = await super().commit(*records)
        self.log.append("durable")
        return known


async def test_what_costs_is_durable_before_it_is_sent(autojump_clock):
    """Spec: EFX-2 — reserved, intended and committed, in this order, before the backend hears of it."""
    ports = simulated_ports(0)
    store = Recording(ports.clock)
    puppet = Puppet()

    async def applied(action):
        store.log.append("applied")
        return Confirmed(evidence=action.spec.evidence)

    puppet.applier = applied
    async with open_service([avatar(puppet)], ports=ports, store=store) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        store.log.clear()
        await robin.control(pay(5))
        await trio.sleep(1)
    log = store.log[: store.log.index("applied")]
    # The operator's reply waits for the disk as well, at the same time.
    assert [entry for entry in log if entry not in {"GenerationOpened", "durable"}] == ["EffectReserved", "EffectSent"]
    assert "durable" in log[log.index("EffectSent") :]
    assert EffectSettled.__name__ in store.log[len(log) :]


async def test_speech_waits_for_no_disk(autojump_clock):
    """Spec: EFX-3 — what costs nothing is not made durable before it is sent."""
    ports = simulated_ports(0)
    store = Recording(ports.clock)
    puppet = Puppet()
    async with open_service([avatar(puppet)], ports=ports, store=store) as service, trio.open_nursery() as nursery:
        await service.avatar().wait_agent(AgentState.RUNNING)
        store.stuck = trio.Event()
        nursery.start_soon(service.avatar().control, SayAsOperator(text="hello"))
        await trio.sleep(1)
        assert len(puppet.now.applied) == 1
        store.stuck.set()


async def test_a_crash_in_the_middle_of_a_payment_leaves_doubt_and_never_pays_again(autojump_clock):
    """Spec: EFX-2, POL-6 — after it: in doubt, told, the budget stays spent, the generation goes on counting."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    first = Puppet()
    first.applier = forever
    second = Puppet()
    async with open_service([avatar(first)], ports=ports, store=store) as doomed:
        await doomed.avatar().wait_agent(AgentState.RUNNING)
        await doomed.avatar().control(pay(5))
        await trio.testing.wait_all_tasks_blocked()
        assert len(first.now.applied) == 1
        # The power goes here: opening the avatar again is what a restart sees.
        async with open_service([avatar(second)], ports=ports, store=store) as service:
            robin = service.avatar()
            with robin.observe() as seen:
                await robin.wait_agent(AgentState.RUNNING)
                told = [o.body for o in seen.drain_nowait() if isinstance(o.body, Diagnostic)]
            assert [each.code for each in told] == ["effect_in_doubt"]
            assert dict(told[0].fields)["action"].startswith("pay_avatar")
            status = robin.status()
            assert status.generation == 2
            (effect,) = status.gateway.in_doubt
            assert len(second.now.applied) == 0
            assert (await robin.control(pay(8))).code == "budget_spent"
            assert (await robin.control(pay(7))).code == "authorized"
            reply = await robin.control(SettleEffect(effect=effect, happened=True, note="the grid's own log"))
            assert reply.accepted
            await trio.sleep(1)
            assert robin.status().gateway.in_doubt == ()


async def test_a_hold_outlives_a_restart(autojump_clock):
    """Spec: POL-12 — whoever pulled the kill switch has to let go of it; a restart does not."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    async with open_service([avatar(Puppet())], ports=ports, store=store) as service:
        await service.avatar().wait_agent(AgentState.RUNNING)
        await service.avatar().control(Hold())
    async with open_service([avatar(Puppet())], ports=ports, store=store) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        assert robin.status().gateway.held
        assert (await robin.control(SayAsOperator(text="x"))).code == "held"
        assert (await robin.control(Release())).accepted


async def test_safe_mode_talks_and_does_not_pay(autojump_clock):
    """Spec: EFX-4 — a broken disk stops what costs something at once, is visible, and ends on an operator's word."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    puppet = Puppet()
    async with open_service([avatar(puppet)], ports=ports, store=store) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        with robin.observe() as seen:
            store.break_down(StorageFault.DISK_FULL)
            await trio.testing.wait_all_tasks_blocked()
            assert (await robin.control(SayAsOperator(text="hello"))).code == "authorized"
            assert (await robin.control(pay(5))).code == "safe_mode"
            assert robin.status().last_error == "disk_full"
            await store.leave_safe_mode()
            await trio.testing.wait_all_tasks_blocked()
            assert (await robin.control(pay(5))).code == "authorized"
            await trio.sleep(1)
            bodies = [o.body for o in seen.drain_nowait()]
        changes = [(b.active, b.code) for b in bodies if isinstance(b, SafeModeChanged)]
        assert changes == [(True, "disk_full"), (False, "")]
    assert [type(action).__name__ for action in puppet.now.applied] == ["Say", "PayAvatar"]


async def test_a_disk_that_breaks_between_the_decision_and_the_sending_pays_nothing(autojump_clock):
    """Spec: EFX-2, EFX-4 — authorised and not durable means not sent."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    puppet = Puppet()
    async with open_service([avatar(puppet)], ports=ports, store=store) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)

        async def broken(*records):
            await trio.lowlevel.checkpoint()
            store.break_down(StorageFault.IO_ERROR)
            return await MemoryStore.commit(store, *records)

        with robin.observe() as seen:
            keeper = service._sessions["robin"]._keeper
            keeper._store = _Breaking(store, broken)
            await robin.control(pay(5))
            await trio.sleep(1)
            outcomes = [o.body.outcome for o in seen.drain_nowait() if isinstance(o.body, ActionSettled)]
    assert outcomes == [Refused(reason="safe_mode")]
    assert len(puppet.now.applied) == 0


class _Breaking:
    """A store whose commit is somebody else's."""

    def __init__(self, store, commit):
        self._inner = store
        self.commit = commit

    def __getattr__(self, name):
        return getattr(self._inner, name)


async def test_a_store_that_is_broken_from_the_start_is_said_at_once(autojump_clock):
    """Spec: EFX-4 — an avatar that begins in safe mode says so, and pays nothing."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    async with open_service([avatar(Puppet())], ports=ports, store=store):
        pass
    puppet = Puppet()
    kept = store.open_avatar

    async def open_then_break(key):
        recovered = await kept(key)
        store.break_down(StorageFault.CORRUPT)
        return recovered

    breaking = _Breaking(store, store.commit)
    breaking.open_avatar = open_then_break
    async with open_service([avatar(puppet)], ports=ports, store=breaking) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        await trio.testing.wait_all_tasks_blocked()
        assert robin.status().gateway.safe_mode
        assert (await robin.control(pay(1))).code == "safe_mode"


@pytest.mark.parametrize("outcome", [InDoubt(reason="no_evidence"), Confirmed(evidence="balance")])
async def test_an_effect_that_ended_is_known_after_a_restart(outcome, autojump_clock):
    """Spec: EFX-2, BND-16 — what is in doubt stays in doubt; what was confirmed is over."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    puppet = Puppet()

    async def ends(action):
        await trio.lowlevel.checkpoint()
        return outcome

    puppet.applier = ends
    async with open_service([avatar(puppet)], ports=ports, store=store) as service:
        await service.avatar().wait_agent(AgentState.RUNNING)
        await service.avatar().control(pay(5))
        await trio.sleep(1)
    async with open_service([avatar(Puppet())], ports=ports, store=store) as service:
        await service.avatar().wait_agent(AgentState.RUNNING)
        doubtful = service.avatar().status().gateway.in_doubt
    assert len(doubtful) == (1 if isinstance(outcome, InDoubt) else 0)
