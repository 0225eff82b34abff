"""One connection to the simulated grid, from login to logout."""

from __future__ import annotations

import random
from collections.abc import Sequence

import attrs
import pytest
import trio
import trio.testing

from gridagent import actions as asked
from gridagent.actions import Action, Confirmed, InDoubt, Outcome, Position, Refused
from gridagent.errors import AuthorityRefused, BackendError, LocalProtocolError, ResourceClosed
from gridagent.events import (
    BalanceChanged,
    ChatHeard,
    DisconnectCause,
    EventsShed,
    GridEvent,
    ImReceived,
    Kicked,
    RegionRestarting,
    Speaker,
    SpeakerKind,
    event_name,
)
from gridagent.grid.simulated import (
    Account,
    FaultKind,
    Faults,
    Place,
    SimulatedGrid,
    Thing,
    World,
    open_simulated_grid,
)
from gridagent.grid.simulated.backend import SimulatedBackend
from gridagent.grid.simulated.link import GHOST_S
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, Generation
from gridagent.limits import GRID_EVENT_QUEUE_MAX, OPEN_EFFECTS_MAX
from gridagent.policy.authorized import AuthorizedAction
from gridagent.runtime.deterministic import simulated_ports
from gridagent.tools.ports import RegionFound

ME = AvatarId("00000000-0000-4000-8000-000000000001")
BEN = AvatarId("00000000-0000-4000-8000-000000000002")
HOME = Place(region="Plaza", position=Position(x=100.0, y=100.0))
PORTS = simulated_ports(0)


@attrs.frozen
class Record:
    action: Action
    effect: str


class Ledger:
    """Hands out handles and redeems each once."""

    def __init__(self) -> None:
        self.records: dict[AuthorizedAction, Record] = {}
        self._count = 0

    def authorize(self, action: Action) -> AuthorizedAction:
        handle = object.__new__(AuthorizedAction)
        self._count += 1
        self.records[handle] = Record(action, f"{self._count:016x}" + "0" * 48)
        return handle

    def redeem(self, handle: AuthorizedAction) -> Record:
        if handle not in self.records:
            raise AuthorityRefused("unknown")
        return self.records.pop(handle)


class Sink:
    """Takes events; can be closed, or made to wait."""

    def __init__(self) -> None:
        self.events: list[GridEvent] = []
        self.gate: trio.Event | None = None
        self.closed = False

    async def send(self, event: GridEvent) -> None:
        await self.send_many([event])

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.closed:
            raise ResourceClosed("sink")
        self.events += events

    def names(self) -> list[str]:
        return [event_name(event) for event in self.events]


class Client:
    """What a session is to a backend: runs it, keeps how it ended, logs out once."""

    def __init__(self, grid: SimulatedGrid) -> None:
        self.grid = grid
        self.ledger = Ledger()
        self.sink = Sink()
        self.ended: str | None = None
        self.backend = grid.backend_factory(ME)(generation=Generation(1), redeem=self.ledger.redeem)
        assert isinstance(self.backend, SimulatedBackend)

    async def run(self) -> None:
        try:
            await self.backend.run(self.sink)
            self.ended = "returned"
        except BackendError as error:
            self.ended = error.cause

    async def apply(self, action: Action) -> Outcome:
        return await self.backend.apply(self.ledger.authorize(action))


def a_world() -> World:
    """Return a world of two regions and two accounts."""
    world = World(random.Random(0), simulated_ports(0).ids.uuid)
    world.add_region("Plaza", x_m=0, y_m=0, size_m=256)
    world.add_region("Annex", x_m=256, y_m=0, size_m=512)
    world.add_avatar(Account(name="Ada Actor", avatar_id=ME, home=HOME, balance=100))
    world.add_avatar(Account(name="Ben Bystander", avatar_id=BEN, home=HOME))
    return world


async def test_login_tells_where_the_avatar_is_in_order(autojump_clock) -> None:
    """A connection begins with the transport, then readiness, then money, place, people and things.

    Spec: SUP-12, SIM-1
    """
    world = a_world()
    world.add_object("Plaza", owner_id=BEN, position=HOME.position, thing=Thing(name="Bench"))
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        Witness(world, BEN, grid.now())
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        names = client.sink.names()
        people = client.backend.avatars()
        things = client.backend.objects()
        nursery.cancel_scope.cancel()
    assert names == [
        *("transport_up", "backend_ready", "balance_changed", "region_entered", "parcel_seen"),
        *("avatar_seen", "object_seen"),
    ]
    assert [view.avatar_id for view in people] == [BEN]
    assert [view.name for view in things] == ["Bench"]


async def test_before_login_and_after_logout_nothing_is_near_and_nothing_is_sent(autojump_clock) -> None:
    """An action over no connection is redeemed and refused unsent, and looking round shows nothing.

    Spec: EFX-1, SUP-5
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        before = await client.apply(asked.Say(text="hello?"))
        nothing = (*client.backend.avatars(), *client.backend.objects())
        client.backend.halt()
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        await client.backend.logout()
        after = await client.apply(asked.Say(text="hello?"))
        nursery.cancel_scope.cancel()
    assert before == after == Refused(reason="not_connected")
    assert not client.ledger.records
    assert nothing == ()


async def test_the_map_and_the_inventory_are_looked_up_while_in_the_world(autojump_clock) -> None:
    """A region is found by its name in any case, items by a part of theirs and by kind; nothing before the login.

    Spec: MND-13
    """
    world = a_world()
    for name, kind in (("Red rose", "object"), ("Rose of Sharon", "notecard"), ("Blue rose", "object")):
        world.give(ME, name=name, kind=kind)
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        assert await client.backend.find_region("Plaza") is None
        assert await client.backend.search(words="", kind="", limit=5) is None
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        assert await client.backend.find_region("pLAZA") == RegionFound(region="Plaza", online=True, avatars=1)
        assert await client.backend.find_region("Nowhere") is None
        found = await client.backend.search(words="ROSE", kind="object", limit=1)
        nursery.cancel_scope.cancel()
    assert found is not None
    assert ([item.name for item in found.items], found.more) == (["Red rose"], 1)


async def test_a_handle_that_is_not_honoured_sends_nothing(autojump_clock) -> None:
    """A second use of a handle raises, and nobody hears anything again.

    Spec: POL-1, EFX-1
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        handle = client.ledger.authorize(asked.Say(text="once"))
        await client.backend.apply(handle)
        with pytest.raises(AuthorityRefused):
            await client.backend.apply(handle)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert client.sink.names().count("chat_heard") == 1


async def test_a_backend_runs_once(autojump_clock) -> None:
    """A generation's backend is never run a second time.

    Spec: SUP-5
    """
    async with open_simulated_grid(a_world(), ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        with pytest.raises(LocalProtocolError):
            await client.backend.run(client.sink)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("strike", "cause"),
    [
        (lambda grid: grid.disconnect(ME), DisconnectCause.CIRCUIT_LOST),
        (lambda grid: grid.kick(ME, "enough"), DisconnectCause.KICKED),
        (lambda grid: grid.restart_region("plaza", notice_s=5.0, down_s=60.0), DisconnectCause.REGION_RESTART),
    ],
    ids=["disconnect", "kick", "restart"],
)
async def test_a_lost_connection_ends_the_run_with_its_cause_and_leaves_actions_in_doubt(
    strike, cause: DisconnectCause, autojump_clock
) -> None:
    """Circuit loss, kick and restart end the run with their cause; the action under way is in doubt at once.

    Spec: EFX-1, SUP-9
    Fault: 8
    """
    world = a_world()
    outcomes: list[Outcome] = []
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        Witness(world, BEN, grid.now())
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)

        async def walk() -> None:
            outcomes.append(await client.apply(asked.WalkTo(position=Position(x=200.0, y=200.0))))

        nursery.start_soon(walk)
        await trio.sleep(1.0)
        assert strike(grid)
        await trio.sleep(6.0)
        assert client.ended == cause
        assert outcomes == [InDoubt(reason="connection_lost")]
        await client.backend.logout()
        nursery.cancel_scope.cancel()
    kicked = [event for event in client.sink.events if isinstance(event, Kicked)]
    assert [event.reason for event in kicked] == (["enough"] if cause is DisconnectCause.KICKED else [])
    if cause is DisconnectCause.REGION_RESTART:
        assert any(isinstance(event, RegionRestarting) for event in client.sink.events)
    mine = [session for session in world.sessions.recent() if session.avatar_id == ME]
    assert [session.logouts for session in mine] == [1]
    assert mine[0] not in world.sessions.not_logged_out_once()


async def test_a_grid_that_closes_ends_the_run_in_order(autojump_clock) -> None:
    """Leaving the grid's block lets the run return instead of raising, and a logout still counts.

    Spec: SUP-9
    """
    world = a_world()
    async with trio.open_nursery() as nursery:
        async with open_simulated_grid(world, ports=PORTS) as grid:
            client = Client(grid)
            nursery.start_soon(client.run)
            await trio.sleep(2.0)
        await trio.testing.wait_all_tasks_blocked()
        assert client.ended == "returned"
        await client.backend.logout()
    assert [session.logouts for session in world.sessions.recent()] == [1]


async def test_a_second_login_is_refused_once_and_the_next_one_succeeds(autojump_clock) -> None:
    """While a ghost is in the world the first login is refused, which ends the ghost; the second is let in.

    Spec: SIM-1
    """
    world = a_world()
    causes = []
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        ghost = Witness(world, ME, grid.now())
        for _ in range(2):
            client = Client(grid)
            nursery.start_soon(client.run)
            await trio.sleep(2.0)
            causes.append(client.ended)
        nursery.cancel_scope.cancel()
    assert causes == [DisconnectCause.ALREADY_LOGGED_IN, None]
    assert ghost.ended_by is DisconnectCause.KICKED
    assert world.sessions.totals(ME).refused == 1


async def test_a_lost_logout_leaves_a_ghost_that_the_grid_gives_up(autojump_clock) -> None:
    """A logout that gets lost is counted as asked for; the grid ends the silent session after a while.

    Spec: SUP-9
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS, faults=Faults(logout_lost=1.0)) as grid:
        async with trio.open_nursery() as nursery:
            client = Client(grid)
            nursery.start_soon(client.run)
            await trio.sleep(2.0)
            await client.backend.logout()
            nursery.cancel_scope.cancel()
        still_there = world.avatar(ME).online
        await trio.sleep(GHOST_S + 1)
        gone = not world.avatar(ME).online
    session = world.sessions.recent()[0]
    assert still_there
    assert gone
    assert (session.logouts, session.ended_by) == (1, "circuit_lost")
    assert grid.counts[FaultKind.LOGOUT_LOST] == 1


async def test_a_logout_before_login_counts_nothing(autojump_clock) -> None:
    """A backend that never logged in has nothing to log out of.

    Spec: SUP-9
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid:
        client = Client(grid)
        await client.backend.logout()
    assert world.sessions.recent() == ()


@pytest.mark.parametrize("cancelled_at", [0.1, 2.0])
async def test_cancelling_the_run_leaves_the_avatar_to_the_logout(cancelled_at: float, autojump_clock) -> None:
    """Cancellation during login or in the world ends the run; one logout then takes the avatar out.

    Spec: SUP-9
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid:
        client = Client(grid)
        with trio.move_on_after(cancelled_at):
            await client.run()
        await client.backend.logout()
        assert not world.avatar(ME).online
    logged_in = cancelled_at > 1
    assert [session.logouts for session in world.sessions.recent()] == ([1] if logged_in else [])


async def test_a_closed_sink_ends_the_run_quietly(autojump_clock) -> None:
    """When the session has fenced the generation, the backend ends without an error.

    Spec: SUP-5
    """
    async with open_simulated_grid(a_world(), ports=PORTS) as grid:
        client = Client(grid)
        client.sink.closed = True
        with trio.fail_after(5.0):
            await client.run()
    assert client.ended == "returned"


async def test_halt_ends_a_walk_and_its_waiting_action(autojump_clock) -> None:
    """The kill switch ends a walk under way; who waited for it learns that it was superseded.

    Spec: POL-12
    """
    world = a_world()
    outcomes: list[Outcome] = []
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)

        async def walk() -> None:
            outcomes.append(await client.apply(asked.WalkTo(position=Position(x=200.0, y=100.0))))

        nursery.start_soon(walk)
        await trio.sleep(10.0)
        client.backend.halt()
        client.backend.halt()
        await trio.sleep(1.0)
        where = world.position(ME)
        await trio.sleep(30.0)
        assert world.position(ME) == where
        nursery.cancel_scope.cancel()
    assert outcomes == [Refused(reason="superseded")]
    assert where is not None
    assert where.x == pytest.approx(100.0 + 32.0)


async def test_evidence_does_not_wait_for_a_slow_sink(autojump_clock) -> None:
    """A session that does not read its events still gets its outcome.

    Spec: BND-1, EFX-1
    """
    async with open_simulated_grid(a_world(), ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        client.sink.gate = trio.Event()
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        with trio.fail_after(1.0):
            outcome = await client.apply(asked.Say(text="hello"))
        nursery.cancel_scope.cancel()
    assert isinstance(outcome, Confirmed)


async def test_a_flood_is_shed_while_evidence_money_and_one_quiet_person_get_through(autojump_clock) -> None:
    """Own evidence, money and a quiet person's one message survive 20,000 hostile utterances, and shedding is told.

    Spec: BND-1, SIM-1
    Fault: 18
    """
    world = a_world()
    world.add_avatar(Account(name="Rich Friend", avatar_id=AvatarId(BEN[:-1] + "9"), balance=50))
    async with open_simulated_grid(world, ports=PORTS, faults=Faults(flood_senders=500)) as grid:
        friend = Witness(world, AvatarId(BEN[:-1] + "9"), grid.now())
        async with trio.open_nursery() as nursery:
            client = Client(grid)
            nursery.start_soon(client.run)
            await trio.sleep(2.0)
            client.sink.gate = trio.Event()
            assert grid.flood(ME, per_s=1_000.0, for_s=20.0)
            await trio.sleep(10.0)
            friend.do(asked.SendIm(to=ME, text="are you well?"))
            friend.do(asked.PayAvatar(to=ME, amount=7))
            outcome = await client.apply(asked.Say(text="help!"))
            await trio.sleep(15.0)
            client.sink.gate.set()
            await trio.sleep(1.0)
            nursery.cancel_scope.cancel()
    assert isinstance(outcome, Confirmed)
    events = client.sink.events
    assert any(isinstance(event, BalanceChanged) and event.change == 7 for event in events)
    assert any(isinstance(event, ChatHeard) and event.source.kind is SpeakerKind.SELF for event in events)
    assert [event.text for event in events if isinstance(event, ImReceived) and "Griefer" not in event.source.name] == [
        "are you well?"
    ]
    shed = sum(event.count for event in events if isinstance(event, EventsShed))
    hostile = sum(isinstance(event, ChatHeard | ImReceived) and "Griefer" in event.source.name for event in events)
    assert shed > 10_000
    assert shed + hostile == 20_000
    assert grid.counts[FaultKind.FLOOD] == 1


async def test_a_buffer_full_of_what_may_not_be_shed_ends_the_connection(autojump_clock) -> None:
    """Rather than lose money or evidence silently, the connection ends as lost.

    Spec: BND-1
    """
    world = a_world()
    world.add_avatar(Account(name="Rich Friend", avatar_id=AvatarId(BEN[:-1] + "9"), balance=100_000))
    async with open_simulated_grid(world, ports=PORTS) as grid:
        friend = Witness(world, AvatarId(BEN[:-1] + "9"), grid.now())
        async with trio.open_nursery() as nursery:
            client = Client(grid)
            nursery.start_soon(client.run)
            await trio.sleep(2.0)
            client.sink.gate = trio.Event()
            for _ in range(GRID_EVENT_QUEUE_MAX + 200):
                world.perform(friend.avatar_id, asked.PayAvatar(to=ME, amount=1), grid.now(), "")
            client.sink.gate.set()
            await trio.sleep(1.0)
            nursery.cancel_scope.cancel()
    assert client.ended == DisconnectCause.CIRCUIT_LOST
    assert grid.counts[FaultKind.OVERFLOW] == 1


async def test_a_login_cut_off_on_a_slow_line_is_known_to_the_session(autojump_clock) -> None:
    """However long events take: a session that is cut off right after the login knows that it must log out.

    Spec: SUP-9
    """
    async with open_simulated_grid(a_world(), ports=PORTS, faults=Faults(latency_s=(3.0, 3.0))) as grid:
        client = Client(grid)
        with trio.move_on_after(2.0):
            await client.run()
        assert client.sink.names() == ["transport_up"]


async def test_the_buffer_is_as_long_as_the_grid_was_told(autojump_clock) -> None:
    """Words beyond the bound are shed and told as shed, for connections made from then on.

    Spec: BND-1
    """
    async with open_simulated_grid(a_world(), ports=PORTS) as grid, trio.open_nursery() as nursery:
        grid.events_max = 16
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        client.sink.gate = trio.Event()
        assert grid.flood(ME, 100.0, 1.0)
        await trio.sleep(3.0)
        client.sink.gate.set()
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    assert "events_shed" in client.sink.names()


async def test_too_many_waiting_actions_are_refused_unsent(autojump_clock) -> None:
    """One more action than may wait at once is refused, and nothing is sent for it.

    Spec: BND-16
    """
    outcomes: list[Outcome] = []
    faults = Faults(request_lost=1.0)
    async with open_simulated_grid(a_world(), ports=PORTS, faults=faults) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)

        async def type_away() -> None:
            outcomes.append(await client.apply(asked.SetTyping(typing=True)))

        for _ in range(OPEN_EFFECTS_MAX + 1):
            nursery.start_soon(type_away)
        await trio.sleep(30.0)
        nursery.cancel_scope.cancel()
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert refused == [Refused(reason="too_many_actions")]
    assert len(outcomes) == OPEN_EFFECTS_MAX + 1


async def test_a_cancelled_apply_leaves_nothing_waiting(autojump_clock) -> None:
    """A cancelled action may have acted; later events find nobody waiting for them.

    Spec: EFX-1
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        with trio.move_on_after(1.0) as scope:
            await client.apply(asked.WalkTo(position=Position(x=130.0, y=100.0)))
        await trio.sleep(30.0)
        nursery.cancel_scope.cancel()
    assert scope.cancelled_caught
    assert world.position(ME) == Position(x=130.0, y=100.0, z=22.0)


async def test_speech_is_heard_by_a_person_in_the_world(autojump_clock) -> None:
    """What a backend says, another avatar of the world hears as that avatar's words.

    Spec: SIM-1
    """
    world = a_world()
    async with open_simulated_grid(world, ports=PORTS) as grid, trio.open_nursery() as nursery:
        ben = Witness(world, BEN, grid.now())
        client = Client(grid)
        nursery.start_soon(client.run)
        await trio.sleep(2.0)
        await client.apply(asked.Say(text="hello, Ben"))
        nursery.cancel_scope.cancel()
    assert [(event.source, event.text) for event in ben.saw(ChatHeard)] == [
        (Speaker(kind=SpeakerKind.AVATAR, id=ME, name="Ada Actor"), "hello, Ben")
    ]
