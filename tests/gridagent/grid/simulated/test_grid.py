"""The trio shell: the pump, the doors for backends, faults by hand."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from gridagent import actions as asked
from gridagent.errors import BackendError, OperatorError
from gridagent.events import ChatHeard, DisconnectCause, GridEvent, ImReceived
from gridagent.grid.simulated import Faults, SimulatedGrid, World, open_simulated_grid
from gridagent.grid.simulated.characters import Act, Wake
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, Generation
from gridagent.runtime.deterministic import simulated_ports

PORTS = simulated_ports(0)


class Sink:
    """Takes every event at once."""

    def __init__(self) -> None:
        self.events: list[GridEvent] = []

    async def send(self, event: GridEvent) -> None:
        await self.send_many([event])

    async def send_many(self, events: list[GridEvent]) -> None:
        self.events += events
        await trio.lowlevel.checkpoint()


class Metronome:
    """A character that says the time every ten minutes."""

    def start(self, scene):
        return [Wake(name="tick", after_s=600.0)]

    def on_event(self, event, scene):
        return []

    def on_wake(self, name, scene):
        return [Act(action=asked.Say(text=f"{scene.now:.0f}")), Wake(name="tick", after_s=600.0)]


def refuse(handle: object) -> object:
    """Redeem nothing: these tests send no action through a backend."""
    raise AssertionError(handle)


class Connection:
    """One running backend and how it ended."""

    def __init__(self, grid: SimulatedGrid, avatar_id: AvatarId) -> None:
        self.sink = Sink()
        self.ended: list[str] = []
        self.backend = grid.backend_factory(avatar_id)(generation=Generation(1), redeem=refuse)

    async def run(self) -> None:
        try:
            await self.backend.run(self.sink)
            self.ended.append("returned")
        except BackendError as error:
            self.ended.append(error.cause)


async def test_the_world_moves_on_by_itself(world: World, autojump_clock) -> None:
    """Characters live by the clock of the run, to the second.

    Spec: SIM-1, SIM-2
    """
    async with open_simulated_grid(world, ports=PORTS) as grid:
        await trio.testing.wait_all_tasks_blocked()
        world.inhabit(world.avatars()[0], Metronome())
        ben = Witness(world, world.avatars()[1], grid.now())
        began = grid.now()
        await trio.sleep(3_605.0)
    assert [float(event.text) - began for event in ben.saw(ChatHeard)] == [600.0 * n for n in range(1, 7)]


async def test_the_pump_sleeps_while_nothing_is_due(world: World, autojump_clock) -> None:
    """An idle day costs no scheduler steps; something set sooner wakes the pump in time.

    Spec: SIM-2
    """
    steps = 0

    class Count(trio.abc.Instrument):
        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            nonlocal steps
            steps += 1

    happened: list[float] = []
    async with open_simulated_grid(world, ports=PORTS) as grid:
        await trio.testing.wait_all_tasks_blocked()
        began = grid.now()
        count = Count()
        trio.lowlevel.add_instrument(count)
        world.call_at(began + 80_000.0, lambda: None)
        await trio.sleep(10.0)
        world.call_at(grid.now() + 5.0, lambda: happened.append(grid.now() - began))
        await trio.sleep(86_400.0)
        trio.lowlevel.remove_instrument(count)
    assert happened == [15.0]
    assert steps < 20


async def test_an_unknown_avatar_has_no_door(world: World, autojump_clock) -> None:
    """Asking for a backend of nobody is told in a sentence."""
    async with open_simulated_grid(world, ports=PORTS) as grid:
        with pytest.raises(OperatorError, match="no avatar"):
            grid.backend_factory(AvatarId("00000000-0000-4000-8000-0000000000ff"))


async def test_faults_by_hand_say_whether_they_struck(world: World, autojump_clock) -> None:
    """Without a connection nothing happens and nothing is counted; with one it does and is.

    Spec: SIM-1, SIM-3
    """
    ada = world.avatars()[0]
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        strikes = (
            lambda: grid.stall(ada, 1.0),
            lambda: grid.flood(ada, 10.0, 1.0),
            lambda: grid.disconnect(ada),
            lambda: grid.kick(ada),
        )
        assert [strike() for strike in strikes] == [False] * 4
        for strike in strikes:
            connection = Connection(grid, ada)
            nursery.start_soon(connection.run)
            await trio.sleep(2.0)
            assert strike()
            await trio.sleep(2.0)
            await connection.backend.logout()
        assert grid.restart_region("Plaza", notice_s=1.0, down_s=1.0)
        assert not grid.restart_region("Plaza")
        nursery.cancel_scope.cancel()
    counted = {kind: count for kind, count in grid.counts.snapshot().items() if count}
    assert counted == {"stall": 1, "flood": 1, "disconnect": 1, "kick": 1, "region_restart": 1}
    assert world.sessions.not_logged_out_once() == ()


async def test_a_timelines_hands_reach_connections_and_leave_others_alone(world: World, autojump_clock) -> None:
    """The words a scenario uses do the same; an avatar without a connection is no error.

    Spec: SIM-1
    """
    ada, ben = world.avatars()[:2]
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        connection = Connection(grid, ada)
        nursery.start_soon(connection.run)
        await trio.sleep(2.0)
        for avatar_id in (ada, ben):
            grid.hands.stall(avatar_id, 1.0)
            grid.hands.flood(avatar_id, 40, 8, 2.0)
            grid.hands.flood(avatar_id, 10, 8, 0.0)
        await trio.sleep(5.0)
        grid.hands.disconnect(ada)
        grid.hands.disconnect(ben)
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    words = [event for event in connection.sink.events if isinstance(event, ChatHeard | ImReceived)]
    assert len(words) == 50
    assert connection.ended == [DisconnectCause.CIRCUIT_LOST]


async def test_knobs_reach_open_and_later_connections_until_calm(world: World, autojump_clock) -> None:
    """Faults begin and end while the grid runs.

    Spec: SIM-4
    """
    ada = world.avatars()[0]
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        first = Connection(grid, ada)
        nursery.start_soon(first.run)
        await trio.sleep(2.0)
        grid.set_faults(Faults(kicks_per_hour=3_600.0))
        await trio.sleep(60.0)
        await first.backend.logout()
        grid.calm()
        second = Connection(grid, ada)
        nursery.start_soon(second.run)
        await trio.sleep(3_600.0)
        assert second.ended == []
        nursery.cancel_scope.cancel()
    assert first.ended == [DisconnectCause.KICKED]


async def test_a_new_link_of_an_avatar_breaks_the_old_one(world: World, autojump_clock) -> None:
    """Two connections of one avatar never live together.

    Spec: SUP-5, BND-5
    """
    ada = world.avatars()[0]
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        first, second = Connection(grid, ada), Connection(grid, ada)
        nursery.start_soon(first.run)
        await trio.sleep(2.0)
        nursery.start_soon(second.run)
        await trio.sleep(2.0)
        await first.backend.logout()
        assert first.ended == [DisconnectCause.CIRCUIT_LOST]
        assert second.ended == [DisconnectCause.ALREADY_LOGGED_IN]
        assert grid._links != {}
        await second.backend.logout()
        assert grid._links == {}
        assert sum(grid.counts.snapshot().values()) == 0
        nursery.cancel_scope.cancel()


async def test_what_the_caller_raises_comes_out_as_it_was(world: World, autojump_clock) -> None:
    """The grid's own nursery does not wrap the caller's error, and no task is left."""
    with pytest.raises(ValueError, match="mine"):
        async with open_simulated_grid(world, ports=PORTS):
            raise ValueError("mine")


async def test_a_character_that_raises_ends_the_grid_with_its_error(world: World, autojump_clock) -> None:
    """A bug in a character is not swallowed.

    Spec: SIM-1
    """

    class Broken(Metronome):
        def on_wake(self, name, scene):
            raise ZeroDivisionError

    world.inhabit(world.avatars()[0], Broken())
    with pytest.raises(ZeroDivisionError):
        async with open_simulated_grid(world, ports=PORTS):
            await trio.sleep(3_600.0)


async def test_two_errors_at_once_are_both_told(world: World, autojump_clock) -> None:
    """When the pump and the caller fail together, neither error is lost."""

    class Broken(Metronome):
        def on_wake(self, name, scene):
            raise ZeroDivisionError

    world.inhabit(world.avatars()[0], Broken())
    with pytest.raises(ExceptionGroup) as group:
        async with open_simulated_grid(world, ports=PORTS):
            try:
                await trio.sleep(3_600.0)
            finally:
                raise ValueError("mine")
    assert {type(error) for error in group.value.exceptions} == {ZeroDivisionError, ValueError}


async def test_a_client_that_vanishes_reaches_nobody(world: World, autojump_clock) -> None:
    """It leaves a ghost: no event comes, no logout is heard, and the grid notices after a while. Fault: 38."""
    ada = world.avatars()[0]
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        connection = Connection(grid, ada)
        grid.abandon(ada)  # before there is one, nothing
        nursery.start_soon(connection.run)
        await trio.sleep(30.0)
        seen = len(connection.sink.events)
        grid.abandon(ada)
        await connection.backend.logout()
        assert world.avatar(ada).body is not None
        await trio.sleep(100.0)
        assert world.avatar(ada).body is None
        assert (len(connection.sink.events), connection.ended) == (seen, [])
        assert world.sessions.totals(ada).logouts == 0
        nursery.cancel_scope.cancel()
