"""One small grid on the wire: two regions side by side, a third far off, five people, some things."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gridagent.actions import Position
from gridagent.grid.simulated import Account, Land, Place, Thing, World
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ItemId, ObjectId
from gridagent.runtime.deterministic import simulated_ports
from live_grid.simulator.puppet import Puppet, Table

ADA, BEN, CLEO, DAN, EVE = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in range(1, 6))
BENCH, BELL, JAR, BOOK = (ObjectId(f"00000000-0000-4000-8000-0000000000b{number}") for number in range(4))
NOTE, DANCE = (ItemId(f"00000000-0000-4000-8000-0000000000c{number}") for number in range(2))
HERE = Position(x=100.0, y=100.0)
Enter = Callable[..., Puppet]


@pytest.fixture
def world() -> World:
    """Return "Plaza" (Ada's) with "Annex" to its east (512 m, Ben's) and "Far" far away (Ben's).

    Ada, Ben, Cleo and Eve live in the Plaza, Dan in the Annex. Ben's bench, bell, tip jar and book (L$10)
    stand in the Plaza; Ada has a note and a dance.
    """
    built = World(random.Random(7), simulated_ports(7).ids.uuid)
    built.add_region("Plaza", x_m=256_000, y_m=256_000, owner_id=ADA)
    built.add_region("Annex", x_m=256_256, y_m=256_000, size_m=512, owner_id=BEN, land=Land(name="Annex Park"))
    built.add_region("Far", x_m=300_032, y_m=256_000, owner_id=BEN)
    people = (("Ada Actor", ADA), ("Ben Bystander", BEN), ("Cleo Collector", CLEO), ("Dan Distant", DAN), ("Eve", EVE))
    for name, avatar_id in people:
        region = "Annex" if avatar_id == DAN else "Plaza"
        built.add_avatar(Account(name=name, avatar_id=avatar_id, home=Place(region=region, position=HERE), balance=100))
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
    built.advance(10.0)
    return built


@pytest.fixture
def table(world: World) -> Table:
    """Return the grid as an OpenSimulator serves it."""
    return Table(world)


@pytest.fixture
def ada(table: Table) -> Puppet:
    """Return Ada's viewer, present in the Plaza, with a whole scene and nothing remembered."""
    return _enter(table, "Ada Actor")


@pytest.fixture
def ben(world: World) -> Witness:
    """Return Ben, moved by hand in the world itself, beside Ada."""
    return Witness(world, BEN)


@pytest.fixture
def enter() -> Enter:
    """Return what lets somebody in and forgets what their viewer heard on the way."""
    return _enter


def _enter(table: Table, name: str, *, cache_empty: bool = True) -> Puppet:
    puppet = table.puppet(name, cache_empty=cache_empty)
    puppet.enter()
    table.pass_time(1.0)
    puppet.forget()
    return puppet
