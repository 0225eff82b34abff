"""One small world for the tests of the simulated grid: two regions, four people, two of them here."""

from __future__ import annotations

import random

import pytest

from gridagent.actions import Position
from gridagent.grid.simulated import Account, Place, World
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports

HERE = Position(x=100.0, y=100.0)


@pytest.fixture
def world() -> World:
    """Return "Plaza" (256 m, Ada's), its neighbour "Annex" (512 m, Ben's), and Ada, Ben, Cleo and Dan."""
    built = World(random.Random(7), simulated_ports(7).ids.uuid)
    ids = [AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in range(1, 5)]
    built.add_region("Plaza", x_m=0, y_m=0, size_m=256, owner_id=ids[0])
    built.add_region("Annex", x_m=256, y_m=0, size_m=512, owner_id=ids[1])
    for avatar_id, name, region, balance in zip(
        ids,
        ("Ada Actor", "Ben Bystander", "Cleo Collector", "Dan Distant"),
        ("Plaza", "Plaza", "Plaza", "Annex"),
        (1_000, 100, 0, 0),
        strict=True,
    ):
        home = Place(region=region, position=HERE)
        built.add_avatar(Account(name=name, avatar_id=avatar_id, home=home, balance=balance))
    return built


@pytest.fixture
def ada(world: World) -> Witness:
    """Return Ada, logged in at (100, 100) of "Plaza", which is hers."""
    return Witness(world, world.avatars()[0], now=10.0)


@pytest.fixture
def ben(world: World, ada: Witness) -> Witness:
    """Return Ben, logged in beside Ada."""
    return Witness(world, world.avatars()[1])


@pytest.fixture
def dan(world: World, ada: Witness) -> Witness:
    """Return Dan, logged in at "Annex"."""
    return Witness(world, world.avatars()[3])
