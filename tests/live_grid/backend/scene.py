"""A simulated grid on the wire, a live backend that is logged in to it, and the ledger it redeems from."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import attrs
import trio

from gridagent.actions import Action, Outcome, Position
from gridagent.config.secrets import SecretStr
from gridagent.errors import AuthorityRefused, BackendError, ResourceClosed
from gridagent.events import GridEvent, event_name
from gridagent.grid.simulated import Account, Land, Place, SimulatedGrid, Thing, World, open_simulated_grid
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ItemId, ObjectId
from gridagent.policy.authorized import AuthorizedAction
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.system import system_ports
from live_grid.backend import LiveAccount, LiveBackend, LiveSettings
from live_grid.simulator import GridServer, serve_grid

ADA, BEN, CLEO = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in range(1, 4))
BENCH, BELL, JAR, BOOK = (ObjectId(f"00000000-0000-4000-8000-0000000000b{number}") for number in range(4))
NOTE, DANCE = (ItemId(f"00000000-0000-4000-8000-0000000000c{number}") for number in range(2))
HERE = Position(x=100.0, y=100.0)


def a_world() -> World:
    """Three regions, three people, four things of Ben's, and what Ada holds."""
    built = World(random.Random(7), simulated_ports(7).ids.uuid)
    built.add_region("Plaza", x_m=256_000, y_m=256_000, owner_id=ADA)
    built.add_region("Annex", x_m=256_256, y_m=256_000, size_m=512, owner_id=BEN, land=Land(name="Annex Park"))
    built.add_region("Far", x_m=300_032, y_m=256_000, owner_id=BEN)
    for name, avatar_id in (("Ada Actor", ADA), ("Ben Bystander", BEN), ("Cleo Collector", CLEO)):
        home = Place(region="Plaza", position=HERE)
        built.add_avatar(Account(name=name, avatar_id=avatar_id, home=home, balance=100))
    things = (
        (BENCH, Thing(name="Bench", sittable=True)),
        (BELL, Thing(name="Bell", touchable=True, description="Ring it.")),
        (JAR, Thing(name="Jar", payable=True)),
        (BOOK, Thing(name="Book", for_sale=10)),
    )
    for number, (object_id, thing) in enumerate(things):
        position = Position(x=101.0 + number, y=100.0, z=22.0)
        built.add_object("Plaza", owner_id=BEN, position=position, thing=thing, object_id=object_id)
    built.give(ADA, name="Note", kind="notecard", text="Hello.", item_id=NOTE)
    built.give(ADA, name="Dance", kind="animation", item_id=DANCE)
    return built


@attrs.frozen
class Record:
    """What the ledger holds of an action."""

    action: Action
    effect: str


class Ledger:
    """Hands out handles and redeems each once."""

    def __init__(self) -> None:
        self.records: dict[AuthorizedAction, Record] = {}
        self._count = 0

    def authorize(self, action: Action) -> AuthorizedAction:
        """Hand out a handle."""
        handle = object.__new__(AuthorizedAction)
        self._count += 1
        self.records[handle] = Record(action, f"{self._count:016x}" + "0" * 48)
        return handle

    def redeem(self, handle: AuthorizedAction) -> Record:
        """Redeem a handle, once."""
        if handle not in self.records:
            raise AuthorityRefused("unknown")
        return self.records.pop(handle)


class Sink:
    """Takes events; can be closed."""

    def __init__(self) -> None:
        self.events: list[GridEvent] = []
        self.closed = False
        self.changed = trio.Event()

    async def send(self, event: GridEvent) -> None:
        """Take one."""
        await self.send_many([event])

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Take some."""
        await trio.lowlevel.checkpoint()
        if self.closed:
            raise ResourceClosed("sink")
        self.events += events
        self.changed.set()


class Client:
    """What a session is to a backend: runs it, keeps how it ended, logs out once."""

    def __init__(self, world: World, grid: SimulatedGrid, server: GridServer, settings: LiveSettings, who: str) -> None:
        self.world = world
        self.grid = grid
        self.server = server
        self.ledger = Ledger()
        self.sink = Sink()
        self.ended: str | None = None
        self.detail = ""
        first, last = who.split(" ")
        self._ids = 0
        account = LiveAccount(first_name=first, last_name=last, password=SecretStr("simulated"))
        self.backend = LiveBackend(account, settings, redeem=self.ledger.redeem, new_id=self._new_id)

    def _new_id(self) -> str:
        self._ids += 1
        return str(UUID(int=0xABC000 + self._ids))

    async def run(self) -> None:
        """Run the backend and keep how it ended."""
        try:
            await self.backend.run(self.sink)
            self.ended = "returned"
        except BackendError as error:
            self.ended, self.detail = error.cause, error.detail
        self.sink.changed.set()

    async def apply(self, action: Action) -> Outcome:
        """Do something."""
        return await self.backend.apply(self.ledger.authorize(action))

    async def wait_for(self, name: str, count: int = 1) -> GridEvent:
        """Wait until something was told so often; return the last of it."""
        with trio.fail_after(90):
            while len(found := [event for event in self.sink.events if event_name(event) == name]) < count:
                self.sink.changed = trio.Event()
                await self.sink.changed.wait()
        return found[-1]

    async def wait_for_end(self) -> str:
        """Wait until the connection is over; return how."""
        with trio.fail_after(300):
            while self.ended is None:
                self.sink.changed = trio.Event()
                await self.sink.changed.wait()
        return self.ended

    def names(self) -> list[str]:
        """What was told."""
        return [event_name(event) for event in self.sink.events]

    def witness(self, avatar_id: AvatarId) -> Witness:
        """Somebody else, in the world itself."""
        return Witness(self.world, avatar_id, self.grid.now())


@asynccontextmanager
async def connected(
    *, who: str = "Ada Actor", login_url: str | None = None, run: bool = True, **settings: object
) -> AsyncIterator[Client]:
    """A client that runs, and is logged out at the end."""
    world, ports = a_world(), system_ports()
    async with open_simulated_grid(world, ports=ports) as grid, serve_grid(grid, ports=ports) as server:
        chosen = LiveSettings(login_url=login_url or server.login_url, **settings)  # type: ignore[arg-type]
        client = Client(world, grid, server, chosen, who)
        try:
            async with trio.open_nursery() as nursery:
                if run:
                    nursery.start_soon(client.run)
                yield client
                nursery.cancel_scope.cancel()
        finally:
            with trio.fail_after(30):
                await client.backend.logout()
