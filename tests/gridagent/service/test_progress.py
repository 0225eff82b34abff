"""Claims about the proof that avatars and store make progress."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
import trio

from gridagent.controls import ShutDown
from gridagent.errors import OutcomeUnknown, ResourceClosed
from gridagent.events import DisconnectCause
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import AgentState, LinkState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.service.progress import PROBE_EVERY_S, STALL_AFTER_S, PartState, Progress
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.actor import Session
from gridagent.storage import MemoryStore, StorageFault

HOUR_S = 3600.0


class Stubborn(MemoryStore):
    """A store whose commits can be made to hang or to fail."""

    def __init__(self, clock):
        super().__init__(clock)
        self.way = None
        self.asked = 0

    async def commit(self, *records):
        self.asked += 1
        if self.way is not None:
            await self.way()
        return await super().commit(*records)


def spec(key, puppet=None, **settings):
    """Build an avatar over a puppet."""
    return AvatarSpec(
        settings=SessionSettings(key=key, on_backend_failure=OnBackendFailure.RECONNECT, **settings),
        policy=Policy(),
        mind=QuietMind(),
        backend=puppet or Puppet(),
    )


@asynccontextmanager
async def proving(*specs, store=None):
    """Run avatars whose progress is proved."""
    ports = simulated_ports(0)
    kept = store(ports.clock) if store is not None else None
    async with open_service(list(specs), ports=ports, store=kept) as service, trio.open_nursery() as nursery:
        progress = Progress(service, store=kept, clock=ports.clock)
        nursery.start_soon(progress.run)
        yield service, progress, kept
        nursery.cancel_scope.cancel()


def states(progress):
    """Return the state of every part by its name."""
    return {part.name: part.state for part in progress.parts()}


async def test_an_avatar_to_whom_nothing_happens_for_hours_is_well(autojump_clock):
    """Spec: OPS-3 — an idle loop turns when it is asked to, and nobody is told anything by that."""
    async with proving(spec("robin"), store=MemoryStore) as (service, progress, _):
        await service.avatar().wait_agent(AgentState.RUNNING)
        await trio.sleep(1)
        with service.avatar().observe("watcher") as seen:
            for _ in range(48):
                await trio.sleep(HOUR_S / 4)
                assert progress.alive
                assert trio.current_time() - service.avatar().turned_at <= PROBE_EVERY_S
            assert seen.statistics().used == 0
        assert states(progress) == {"robin": PartState.TURNING, "ledger": PartState.WRITING}


@pytest.mark.parametrize("refused", [None, DisconnectCause.BANNED])
async def test_a_grid_that_is_away_is_no_lack_of_progress(autojump_clock, refused):
    """Spec: OPS-3 — never the grid: an outage must not become a loop of kills."""
    puppet = Puppet()
    puppet.refuse_login = refused
    puppet.log_in = puppet.become_ready = False
    async with proving(spec("robin", puppet)) as (service, progress, _):
        await trio.sleep(HOUR_S)
        assert service.avatar().status().link is not LinkState.ONLINE
        assert progress.alive


async def test_a_wedged_avatar_is_stalled_although_the_loop_and_its_sibling_go_on(autojump_clock, monkeypatch):
    """Spec: OPS-3 — a coordinator that waits for something that never comes is found within its time."""
    turn = Session._turn

    async def wedge(session, nursery):
        await turn(session, nursery)
        if session.settings.key == "robin" and trio.current_time() > 100:
            await trio.sleep_forever()

    monkeypatch.setattr(Session, "_turn", wedge)
    async with proving(spec("robin"), spec("wren")) as (service, progress, _):
        await trio.sleep(100)
        assert progress.alive
        await trio.sleep(STALL_AFTER_S)
        assert progress.alive
        await trio.sleep(2 * PROBE_EVERY_S)
        assert not progress.alive
        assert states(progress) == {"robin": PartState.STALLED, "wren": PartState.TURNING}
        assert len(service.avatar("robin")._session._inbox.statistics()) == 3
        await trio.sleep(HOUR_S)  # many questions later, one waits
        assert sum(lane.used for lane in service.avatar("robin")._session._inbox.statistics()) == 1


async def test_nothing_is_proved_where_nobody_asks(autojump_clock):
    """Spec: OPS-3 — a timer alone makes nobody well: if the asking itself ends, that shows."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    async with open_service([spec("robin")], ports=ports, store=store) as service:
        progress = Progress(service, store=store, clock=ports.clock)
        await trio.sleep(STALL_AFTER_S)
        assert progress.alive
        await trio.sleep(1)
        assert set(states(progress).values()) == {PartState.STALLED}


async def test_a_long_logout_is_no_stall_and_a_stopped_avatar_is_none(autojump_clock):
    """Spec: OPS-3 — while an avatar says goodbye its loop turns; once it is over, nobody is asked."""
    puppet = Puppet()
    puppet.logout_takes_s = 50.0
    slow = spec("robin", puppet, shutdown_timeout_s=60.0, logout_timeout_s=60.0)
    async with proving(slow) as (service, progress, _):
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        await handle.control(ShutDown())
        await trio.sleep(STALL_AFTER_S + 1)
        assert states(progress) == {"robin": PartState.TURNING}
        await service.wait_stopped()
        assert states(progress) == {"robin": PartState.STOPPED}
        await trio.sleep(HOUR_S)
        assert progress.alive


async def test_winding_up_without_an_end_is_a_stall(autojump_clock, monkeypatch):
    """Spec: OPS-3 — the time-out for stopping is added once, not for ever."""
    from gridagent.session.connection import Connection  # noqa: PLC0415

    run = Connection.run

    async def linger(connection, report):
        await run(connection, report)
        await trio.sleep(HOUR_S)

    monkeypatch.setattr(Connection, "run", linger)
    async with proving(spec("robin", shutdown_timeout_s=10.0)) as (service, progress, _):
        await service.avatar().wait_agent(AgentState.RUNNING)
        await service.avatar().control(ShutDown())
        await trio.sleep(STALL_AFTER_S + 9)
        assert states(progress) == {"robin": PartState.STOPPING}
        await trio.sleep(2)
        assert states(progress) == {"robin": PartState.STALLED}


async def test_a_writer_that_hangs_is_stalled_and_comes_back(autojump_clock):
    """Spec: OPS-3 — one question waits at a time, and an answer makes it well again."""

    async def hang():
        await trio.sleep(HOUR_S)

    async with proving(spec("robin"), store=Stubborn) as (_, progress, store):
        await trio.sleep(HOUR_S)
        store.way = hang
        await trio.sleep(STALL_AFTER_S + 2 * PROBE_EVERY_S)
        asked = store.asked
        assert states(progress) == {"robin": PartState.TURNING, "ledger": PartState.STALLED}
        store.way = None
        await trio.sleep(HOUR_S)
        assert store.asked > asked
        assert progress.alive


async def test_safe_mode_is_alive_and_shows(autojump_clock):
    """Spec: OPS-3, EFX-4 — a disk that failed is for an operator to mend; a restart would not help."""
    async with proving(spec("robin"), store=Stubborn) as (_, progress, store):
        store.break_down(StorageFault.DISK_FULL)
        await trio.sleep(HOUR_S)
        assert store.safe_mode is not None
        assert progress.alive
        assert states(progress)["ledger"] is PartState.SAFE_MODE


async def test_a_commit_that_is_given_up_is_an_answer(autojump_clock):
    """Spec: OPS-3 — the writer went on after it; what became of the disk is safe mode's to say."""

    async def give_up():
        await trio.sleep(30)
        raise OutcomeUnknown("storage commit did not end")

    async with proving(spec("robin"), store=Stubborn) as (_, progress, store):
        store.way = give_up
        await trio.sleep(HOUR_S)
        assert progress.alive


async def test_a_closed_store_is_asked_no_more(autojump_clock):
    """At the end of a service the asking ends without an error."""

    async def closed():
        await trio.lowlevel.checkpoint()
        raise ResourceClosed("storage")

    async with proving(spec("robin"), store=Stubborn) as (_, _progress, store):
        await trio.sleep(60)
        store.way = closed
        await trio.sleep(60)
        asked = store.asked
        await trio.sleep(60)
        assert store.asked == asked


async def test_asking_a_stopped_avatar_changes_nothing(autojump_clock):
    """Its inbox is closed; the question is simply not put."""
    async with open_service([spec("robin")], ports=simulated_ports(0)) as service:
        await service.avatar().wait_agent(AgentState.RUNNING)
        await service.shut_down()
        service.avatar().probe()
        assert service.avatar().stopped
        assert service.avatar().winding_up
