"""What a run tells the service manager, and when it withholds its sign of life."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import trio
import trio.testing

from gridagent.cli.manager import ServiceManager
from gridagent.controls import ShutDown
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import AgentState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, Service, open_service
from gridagent.service.progress import STALL_AFTER_S, Progress
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.actor import Session
from gridagent.storage import MemoryStore, StorageFault

WATCHDOG_S = 60.0


class Said:
    """A notifier that remembers, and a log that does."""

    heard = True

    def __init__(self) -> None:
        self.words: list[tuple[float, dict[str, Any]]] = []
        self.errors: list[tuple[str, dict[str, Any]]] = []

    def send(self, **assignments: str | int) -> None:
        """Remember one datagram."""
        self.words.append((trio.current_time(), assignments))

    def error(self, event: str, **fields: Any) -> None:
        """Remember one record."""
        self.errors.append((event, fields))

    def of(self, name: str) -> list[Any]:
        """Every value of one name."""
        return [said[name] for _, said in self.words if name in said]

    def times(self, name: str) -> list[float]:
        """When it was said."""
        return [at for at, said in self.words if name in said]


class Room:
    """A service, its manager, and what was said."""

    def __init__(self, service: Service, manager: ServiceManager, said: Said, store: MemoryStore) -> None:
        self.service = service
        self.manager = manager
        self.said = said
        self.store = store


def manager_of(said: Said, watchdog_s: float | None = None) -> ServiceManager:
    """A manager that is told nothing yet."""
    return ServiceManager(said, watchdog_s=watchdog_s, log=said)  # type: ignore[arg-type]


def spec(key: str, *, away: bool) -> AvatarSpec:
    """An avatar over a puppet, whose login may never end."""
    puppet = Puppet()
    puppet.log_in = puppet.become_ready = not away
    settings = SessionSettings(key=key, on_backend_failure=OnBackendFailure.RECONNECT)  # type: ignore[arg-type]
    return AvatarSpec(settings=settings, policy=Policy(), mind=QuietMind(), backend=puppet)


@asynccontextmanager
async def running(watchdog_s: float | None = WATCHDOG_S, *names: str, away: bool = False) -> AsyncIterator[Room]:
    """Avatars whose progress is proved and told."""
    ports = simulated_ports(1)
    store, said = MemoryStore(ports.clock), Said()
    specs = [spec(name, away=away) for name in names or ("robin", "wren")]
    async with open_service(specs, ports=ports) as service, trio.open_nursery() as nursery:
        manager = manager_of(said, watchdog_s)
        progress = Progress(service, store=store, clock=ports.clock)
        nursery.start_soon(progress.run)
        nursery.start_soon(manager.run, [service.avatar(key) for key in service.avatars], progress)
        yield Room(service, manager, said, store)
        nursery.cancel_scope.cancel()


async def test_ready_is_said_once_and_before_anybody_is_in_the_world(autojump_clock) -> None:
    """The service is up; a login may take as long as it takes. Spec: OPS-3."""
    async with running(away=True) as room:
        await trio.sleep(600)
        assert room.said.words[0] == (0.0, {"READY": 1})
        assert room.said.of("READY") == [1]
        assert room.said.of("STATUS")[-1] == "running: robin connecting, wren connecting"


async def test_a_state_is_told_when_it_changes_and_only_then(autojump_clock) -> None:
    """One line, as it happens. Spec: OPS-3."""
    async with running() as room:
        await trio.sleep(60)
        lines = room.said.of("STATUS")
        assert all(one != other for one, other in pairwise(lines))
        assert "running: robin connecting" in lines[0] or "running: robin stopped" in lines[0]
        count = len(lines)
        await trio.sleep(3600)
        assert len(room.said.of("STATUS")) == count
        began = trio.current_time()
        await room.service.avatar("wren").control(ShutDown())
        await room.service.avatar("wren").wait_agent(AgentState.STOPPED)
        await trio.testing.wait_all_tasks_blocked()
        assert room.said.of("STATUS")[-1] == "running: robin online, wren stopped"
        assert room.said.times("STATUS")[-1] - began < 5


async def test_an_idle_service_gives_signs_of_life_for_hours(autojump_clock) -> None:
    """At half of the time that the manager grants. Spec: OPS-3."""
    async with running() as room:
        await trio.sleep(6 * 3600)
        times = room.said.times("WATCHDOG")
        assert len(times) >= 6 * 120
        assert {round(later - earlier, 6) for earlier, later in pairwise(times)} == {WATCHDOG_S / 2}


async def test_a_wedged_avatar_ends_the_signs_of_life_and_the_log_says_which(autojump_clock, monkeypatch) -> None:
    """Timers, sockets and its sibling go on; that proves nothing. Spec: OPS-3."""
    turn, stuck = Session._turn, trio.Event()

    async def wedge(session: Session, nursery: trio.Nursery) -> None:
        await turn(session, nursery)
        if stuck.is_set() and session.settings.key == "robin":
            await trio.sleep_forever()

    monkeypatch.setattr(Session, "_turn", wedge)
    async with running() as room:
        await trio.sleep(3600)
        stuck.set()
        began = trio.current_time()
        await trio.sleep(3600)
        assert room.said.times("WATCHDOG")[-1] - began <= STALL_AFTER_S + 5
        assert room.said.errors == [("watchdog_withheld", {"stalled": ["avatar robin"]})]
        assert room.said.of("STATUS")[-1] == "running: robin online, wren online, avatar robin stalled"


async def test_what_recovers_gives_signs_of_life_again_before_it_is_too_late(autojump_clock, monkeypatch) -> None:
    """A pause a little longer than allowed is no death sentence. Spec: OPS-3."""
    turn, pause = Session._turn, [0.0]

    async def rest(session: Session, nursery: trio.Nursery) -> None:
        await turn(session, nursery)
        seconds, pause[0] = pause[0], 0.0
        await trio.sleep(seconds)

    monkeypatch.setattr(Session, "_turn", rest)
    async with running() as room:
        await trio.sleep(3600)
        pause[0] = STALL_AFTER_S + 14
        await trio.sleep(3600)
        times = room.said.times("WATCHDOG")
        assert max(later - earlier for earlier, later in pairwise(times)) < WATCHDOG_S


async def test_safe_mode_is_told_and_no_reason_to_be_killed(autojump_clock) -> None:
    """A restart would not mend the disk. Spec: OPS-3, EFX-4."""
    async with running() as room:
        await trio.sleep(60)
        room.store.break_down(StorageFault.DISK_FULL)
        await trio.sleep(3600)
        assert room.said.of("STATUS")[-1].endswith("store ledger in safe mode")
        assert trio.current_time() - room.said.times("WATCHDOG")[-1] <= WATCHDOG_S / 2
        assert room.said.errors == []


async def test_where_no_sign_of_life_is_wanted_none_is_given(autojump_clock) -> None:
    """The manager has no watchdog for this unit, or it is another process's."""
    async with running(None) as room:
        await trio.sleep(600)
        assert room.said.of("WATCHDOG") == []
        assert room.manager.heard


async def test_many_avatars_are_counted(autojump_clock) -> None:
    """The line stays one line. Spec: OPS-3."""
    async with running(None, "robin", "wren", "lark", "finch", "swift") as room:
        await trio.sleep(30)
        await room.service.avatar("lark").shut_down()
        await trio.testing.wait_all_tasks_blocked()
        assert room.said.of("STATUS")[-1] == "running: 5 avatars, 4 online, 1 stopped"


async def test_an_avatar_that_failed_is_called_that(autojump_clock, monkeypatch) -> None:
    """Not merely stopped: an operator has something to look at."""

    async def broken(session: Session, nursery: trio.Nursery) -> None:
        raise RuntimeError("a bug")

    async with running() as room:
        await trio.sleep(60)
        monkeypatch.setattr(Session, "_turn", broken)
        room.service.avatar("robin").probe()
        await trio.sleep(60)
        assert "robin failed" in room.said.of("STATUS")[-1]


async def test_a_reload_has_a_beginning_with_its_time_and_one_end(autojump_clock) -> None:
    """Also when a second one begins before the first is over. Spec: OPS-3, SUP-8."""
    async with running() as room:
        await trio.testing.wait_all_tasks_blocked()
        del room.said.words[:]
        with room.manager.reloading():
            with room.manager.reloading():
                assert room.said.of("RELOADING") == [1, 1]
                assert all(usec > 0 for usec in room.said.of("MONOTONIC_USEC"))
            assert room.said.of("READY") == []
        assert room.said.of("READY") == [1]


async def test_a_reload_before_ready_or_while_stopping_is_not_told(autojump_clock) -> None:
    """It would make the service ready too early, or again. Spec: OPS-3."""
    said = Said()
    manager = manager_of(said)
    with manager.reloading():
        pass
    assert said.words == []
    async with running() as room:
        await trio.testing.wait_all_tasks_blocked()
        del room.said.words[:]
        with room.manager.reloading():
            room.manager.stopping(55.0)
        with room.manager.reloading():
            pass
        assert room.said.of("READY") == []
        assert room.said.of("RELOADING") == [1]


async def test_stopping_is_said_once_with_the_time_it_may_take(autojump_clock) -> None:
    """So that a drain which is allowed is not killed; states go on being told. Spec: OPS-3, OPS-4."""
    async with running() as room:
        await trio.sleep(60)
        room.manager.stopping(55.0)
        room.manager.stopping(1.0)
        assert room.said.of("STOPPING") == [1]
        assert room.said.of("EXTEND_TIMEOUT_USEC") == [55_000_000]
        room.service.close()
        await room.service.wait_stopped()
        await trio.sleep(6)
        assert room.said.of("STATUS")[-1] == "stopping: robin stopped, wren stopped"


async def test_a_run_that_ends_before_it_was_ready_is_never_called_ready(autojump_clock) -> None:
    """A signal may come first. Spec: OPS-3, OPS-4."""
    ports, said = simulated_ports(1), Said()
    manager = manager_of(said)
    manager.stopping(5.0)
    assert said.of("STATUS") == ["stopping"]
    async with open_service([spec("robin", away=False)], ports=ports) as service, trio.open_nursery() as nursery:
        progress = Progress(service, store=None, clock=ports.clock)
        nursery.start_soon(progress.run)
        nursery.start_soon(manager.run, [service.avatar()], progress)
        await trio.sleep(60)
        nursery.cancel_scope.cancel()
    assert said.of("READY") == []
    assert said.of("STATUS")[-1] == "stopping: robin online"
