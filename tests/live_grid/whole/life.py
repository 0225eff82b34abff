"""One whole service that lives in a simulated grid over the wire: configuration, gateway, session, backend, protocol.

On the memory wire under trio's virtual clock by default, so that minutes take moments; on loopback sockets and
in real time with ``real=True``. What the world knows is asked of the world itself, not of the client.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs
import trio

from gridagent import open_simulation
from gridagent.actions import Action, Outcome, Position
from gridagent.cli.compose import open_running, prepare
from gridagent.cli.grids import LiveGrid
from gridagent.cli.second_factor import SecondFactors
from gridagent.config.load import parse_config
from gridagent.config.secrets import SecretStr
from gridagent.controls import AnswerApproval, RequestAction
from gridagent.events import GridEvent
from gridagent.grid.simulated import Account, Land, Place, SimulatedGrid, Thing, World, open_simulated_grid
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.grid.simulated.scenario_timeline import set_timeline
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ItemId, ObjectId
from gridagent.observations import (
    ActionSettled,
    ApprovalOpened,
    EventSeen,
    GenerationClosed,
    LinkState,
    LinkStateChanged,
    Observation,
)
from gridagent.runtime.deterministic import SimulatedIds, SimulatedRandomness, simulated_ports
from gridagent.runtime.system import system_ports
from gridagent.session import SessionHandle
from live_grid.backend import live_backends
from live_grid.simulator import OPENSIM, GridServer, MemoryWire, WireFaults, WireProfile, serve_grid
from live_grid.simulator.memory_network import MemoryNetwork
from tests.gridagent.cli.installed import write_entry_points

ADA, OLIVE, CLEO = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in range(1, 4))
BENCH, BELL, JAR = (ObjectId(f"00000000-0000-4000-8000-0000000000b{number}") for number in range(3))
NOTE = ItemId("00000000-0000-4000-8000-0000000000c0")
HERE = Position(x=100.0, y=100.0)
WAIT_S = 300.0
CALLS = {"per": "global", "limit": 1000, "window_s": 60}
POLICY = {
    "preset": "guide",
    "approvals": dict.fromkeys(("money", "inventory", "build", "land", "upload"), "not_required"),
    "budgets": {
        **{
            f"calls.{each}": [CALLS]
            for each in ("move", "money", "inventory", "build", "interact", "teleport", "animate", "upload")
        },
        **{each: [{"per": "global", "limit": 500, "window_s": 60}] for each in ("linden", "items", "prims")},
        "teleports": [{"per": "global", "limit": 60, "window_s": 3600}],
        "metres": [{"per": "global", "limit": 10000, "window_s": 60}],
    },
}


def a_world() -> World:
    """Two regions that touch and one far off, three people, three things, and what Ada holds."""
    built = World(random.Random(7), simulated_ports(7).ids.uuid)
    built.add_region("Plaza", x_m=256_000, y_m=256_000, owner_id=OLIVE)
    built.add_region("Annex", x_m=256_256, y_m=256_000, size_m=512, owner_id=OLIVE, land=Land(name="Annex Park"))
    built.add_region("Far", x_m=300_032, y_m=256_000, owner_id=OLIVE)
    for name, avatar_id in (("Ada Actor", ADA), ("Olive Owner", OLIVE), ("Cleo Collector", CLEO)):
        home = Place(region="Plaza", position=HERE)
        built.add_avatar(Account(name=name, avatar_id=avatar_id, home=home, balance=100))
    things = (
        (BENCH, Thing(name="Bench", sittable=True)),
        (BELL, Thing(name="Bell", touchable=True, description="Ring it.")),
        (JAR, Thing(name="Jar", payable=True)),
    )
    for number, (object_id, thing) in enumerate(things):
        position = Position(x=101.0 + number, y=100.0, z=22.0)
        built.add_object("Plaza", owner_id=OLIVE, position=position, thing=thing, object_id=object_id)
    built.give(ADA, name="Note", kind="notecard", text="Hello.", item_id=NOTE)
    return built


class Life:
    """The service, the world it is in, and everything that was observed."""

    def __init__(self, grid: SimulatedGrid, server: GridServer | None, handle: SessionHandle) -> None:
        self.grid = grid
        self.server = server
        self.handle = handle
        self.seen: list[Observation] = []
        self.errors: list[tuple[str, BaseException]] = []
        self._changed = trio.Event()

    @property
    def world(self) -> World:
        """What is so, whatever the client believes."""
        return self.grid.world

    def note(self, observation: Observation) -> None:
        """Remember what was observed."""
        self.seen.append(observation)
        self._changed.set()
        self._changed = trio.Event()

    def bodies(self, kind: type) -> list:
        """What was observed of a kind."""
        return [each.body for each in self.seen if isinstance(each.body, kind)]

    def events(self, kind: type[GridEvent]) -> list:
        """What the grid told of a kind."""
        return [each.event for each in self.bodies(EventSeen) if isinstance(each.event, kind)]

    def links(self) -> list[str]:
        """Every state the link was in."""
        return [each.state.value for each in self.bodies(LinkStateChanged)]

    def ends(self) -> list[tuple[str, bool]]:
        """How every generation ended: the cause, and whether it was logged out."""
        return [(each.cause.value, each.logged_out) for each in self.bodies(GenerationClosed)]

    def left_once(self) -> bool:
        """Tell whether the grid heard one logout of every login that it did not end itself (Spec: SUP-9)."""
        ours = [each for each in self.world.sessions.recent() if each.avatar_id == ADA and not each.live]
        return all(each.logouts == (each.ended_by == "logout") for each in ours)

    async def until(self, holds: Callable[[], object], *, within_s: float = WAIT_S) -> None:
        """Wait until something holds; looks after each observation, and now and then."""
        with trio.fail_after(within_s):
            while not holds():
                with trio.move_on_after(0.25):
                    await self._changed.wait()

    async def online(self, *, within_s: float = WAIT_S) -> None:
        """Wait until the avatar is in the world."""
        await self.until(lambda: self.handle.status().link is LinkState.ONLINE, within_s=within_s)

    async def act(self, action: Action) -> Outcome:
        """Ask for an action as the operator, say yes where that is asked, and return how it ended."""
        done, asked = len(self.bodies(ActionSettled)), len(self.bodies(ApprovalOpened))
        reply = await self.handle.control(RequestAction(action=action))
        assert reply.accepted, reply
        if reply.code == "needs_approval":
            await self.until(lambda: len(self.bodies(ApprovalOpened)) > asked)
            approval = self.bodies(ApprovalOpened)[-1].approval_id
            await self.handle.control(AnswerApproval(approval_id=approval, allow=True))
        await self.until(lambda: len(self.bodies(ActionSettled)) > done)
        return self.bodies(ActionSettled)[-1].outcome

    def witness(self, avatar_id: AvatarId = OLIVE) -> Witness:
        """Somebody else, in the world itself."""
        return Witness(self.world, avatar_id, self.grid.now())

    def where(self) -> str:
        """The region the avatar's body is in; empty while it is not in the world."""
        body = self.world.avatar(ADA).body
        return "" if body is None else body.region.name


def configured(login_url: str, password_file: Path, **sections: object) -> bytes:
    """A configuration of one avatar in a live grid."""
    avatar = {"first_name": "Ada", "last_name": "Actor", "password_file": str(password_file)}
    sections = dict(sections)
    avatar |= sections.pop("avatar", {})  # type: ignore[arg-type]
    return json.dumps(
        {
            "grid": {"backend": "live", "live": {"login_url": login_url, "idle_timeout_s": 30.0}},
            "avatars": {"ada": avatar},
            "roles": {"owners": [OLIVE]},
            "policy": POLICY,
            "session": {"login_stagger_s": 0.0},
            **sections,
        }
    ).encode()


@asynccontextmanager
async def a_life(
    room: Path,
    *,
    real: bool = False,
    seed: int = 1,
    story: Scenario | None = None,
    profile: WireProfile = OPENSIM,
    faults: WireFaults | None = None,
    password: str = "simulated",
    code: str | None = None,
    second_factors: SecondFactors | None = None,
    **sections: object,
) -> AsyncIterator[Life]:
    """The service and the grid; the service is stopped in order first, then the grid."""
    ports = system_ports() if real else simulated_ports(seed)
    wire = None if real else MemoryWire()
    world = a_world() if story is None else built(story)
    file = room / "password"
    file.write_text("unread\n", encoding="utf-8")
    file.chmod(0o600)
    async with (
        open_simulated_grid(world, ports=ports) as grid,
        serve_grid(grid, ports=ports, wire=wire, profile=profile, faults=faults, default_code=code) as server,
    ):
        if story is not None:
            set_timeline(story, world, grid.hands, now=grid.now())
        config = parse_config(configured(server.login_url, file, **sections))
        prepared = prepare(config)
        make = live_backends if wire is None else partial(live_backends, network=MemoryNetwork(wire))
        passwords = {"avatars.ada.password_file": SecretStr(password)}
        prepared = attrs.evolve(prepared, live=LiveGrid(make=make, config=config, passwords=passwords))
        errors: list[tuple[str, BaseException]] = []
        async with (
            open_running(
                prepared,
                ports=ports,
                log_error=lambda code, error: errors.append((code, error)),
                second_factors=second_factors,
            ) as running,
            trio.open_nursery() as nursery,
        ):
            life = Life(grid, server, running.service.avatar())
            life.errors = errors
            await nursery.start(_watch, life)
            yield life
            await life.handle.shut_down()
            nursery.cancel_scope.cancel()


def built(story: Scenario) -> World:
    """Build the world of a scenario, the same one each time."""
    randomness = SimulatedRandomness(story.seed)
    return build_world(story, rng=randomness.stream("world"), ids=SimulatedIds(randomness.stream("world.ids")).uuid)


@asynccontextmanager
async def a_life_without_a_wire(story: Path, *, seed: int = 1) -> AsyncIterator[Life]:
    """The same service in the same world, on the simulated backend."""
    config = {
        "avatars": {"ada": {"first_name": "Ada", "last_name": "Actor"}},
        "roles": {"owners": [OLIVE]},
        "policy": POLICY,
        "session": {"on_backend_failure": "reconnect"},
    }
    async with (
        open_simulation(config, scenario=str(story), ports=simulated_ports(seed)) as running,
        trio.open_nursery() as nursery,
    ):
        life = Life(running.grid, None, running.service.avatar())
        await nursery.start(_watch, life)
        yield life
        await life.handle.shut_down()
        nursery.cancel_scope.cancel()


async def _watch(life: Life, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    with life.handle.observe() as seen:
        task_status.started()
        async for observation in seen:
            if isinstance(observation, Observation):
                life.note(observation)


def install(room: Path, path: Callable[[str], None]) -> None:
    """Put this checkout's entry points on the import path."""
    path(str(write_entry_points(room)))
