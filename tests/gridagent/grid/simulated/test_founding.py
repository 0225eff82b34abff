"""Building a world, and what cannot be built."""

from __future__ import annotations

import random

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.grid.simulated import Account, Land, Place, Thing, World
from gridagent.grid.simulated import founding as founding_module
from gridagent.runtime.deterministic import simulated_ports


def empty() -> World:
    """Return a world without anything."""
    return World(random.Random(1), simulated_ports(1).ids.uuid)


def test_a_world_is_built_in_any_order_that_makes_sense_and_says_what_does_not() -> None:
    """Each mistake in building is one sentence that says how to mend it.

    Spec: SIM-1
    """
    world = empty()
    with pytest.raises(OperatorError, match="nowhere to live"):
        world.add_avatar(Account(name="Ada"))
    with pytest.raises(LimitExceeded):
        world.add_region("Huge", x_m=0, y_m=0, size_m=8_193)
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = world.add_avatar(Account(name="Ada"))
    with pytest.raises(OperatorError, match="give 'Eve' another id"):
        world.add_avatar(Account(name="Eve", avatar_id=ada))
    with pytest.raises(OperatorError, match="no region 'Atlantis'"):
        world.add_avatar(Account(name="Eve", home=Place(region="Atlantis", position=Position(x=1.0, y=1.0))))
    where = {"owner_id": ada, "thing": Thing(name="Rock")}
    with pytest.raises(OperatorError, match="outside region"):
        world.add_object("Plaza", position=Position(x=256.0, y=1.0), **where)
    rock = world.add_object("Plaza", position=Position(x=1.0, y=1.0), **where)
    with pytest.raises(OperatorError, match="give 'Rock' another id"):
        world.add_object("Plaza", position=Position(x=1.0, y=1.0), object_id=rock, **where)
    with pytest.raises(OperatorError, match="not logged in"):
        world.perform(ada, asked.StandUp(), 1.0)
    assert world.avatar(ada).home == Place(region="Plaza", position=Position(x=128.0, y=128.0, z=22.0))


def test_accounts_and_inventories_have_ceilings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many is refused, whoever builds.

    Spec: BND-1
    """
    world = empty()
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = world.add_avatar(Account(name="Ada"))
    monkeypatch.setattr(founding_module, "AVATARS_MAX", 1)
    with pytest.raises(LimitExceeded):
        world.add_avatar(Account(name="Eve"))
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 0)
    with pytest.raises(LimitExceeded):
        world.give(ada, name="Poem", kind="notecard")


def test_parcels_belong_to_regions_that_exist(world: World) -> None:
    """A parcel of an unknown region is refused by name."""
    with pytest.raises(OperatorError, match="no region 'Atlantis'"):
        world.add_parcel("Atlantis", owner_id=world.avatars()[0], land=Land())
