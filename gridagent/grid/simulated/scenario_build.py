"""From a scenario to a world with everybody and everything in it.

Owns the order in which a world is filled, and the cast that characters get; decides nothing a file could
say. Chance and ids come in as arguments, so that one seed gives one story
(Spec: SIM-1, SIM-2). Called by the composition root, by embedders and by tests.

Invariant: the same scenario, random stream and id source give the same world, whoever builds it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from gridagent.actions import Position
from gridagent.grid.simulated.avatars import Account, Place
from gridagent.grid.simulated.inhabitants import Cast, Person, Thing, make_character
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.twin import TwinParams, disguise
from gridagent.grid.simulated.objects import Thing as ObjectLook
from gridagent.grid.simulated.parcels import Land
from gridagent.grid.simulated.scenario_format import AvatarSpec, ObjectSpec, RegionSpec, Scenario, derived_id
from gridagent.grid.simulated.world import World
from gridagent.ids import ItemId

__all__ = ("build_world", "cast_of", "shown_name")


def shown_name(scenario: Scenario, spec: AvatarSpec) -> str:
    """Return what others see over an avatar's head; a twin's is a disguise of the name it imitates."""
    if spec.shown_as is not None:
        return spec.shown_as
    if isinstance(spec.character, TwinParams):
        imitated = scenario.avatar(spec.character.imitates)
        return disguise(imitated.shown_as or imitated.name if imitated is not None else spec.character.imitates)
    return spec.name


def cast_of(scenario: Scenario) -> Cast:
    """Return everybody and everything of a scenario by name, with ids."""
    people = {
        spec.name: Person(avatar_id=scenario.avatar_id(spec), shown_as=shown_name(scenario, spec))
        for spec in scenario.avatars
    }
    things = {
        spec.name: Thing(object_id=scenario.object_id(spec), name=spec.name, price=spec.price)
        for spec in scenario.objects
    }
    return Cast(people=people, things=things)


def build_world(scenario: Scenario, *, rng: random.Random, ids: Callable[[], str], make: type[World] = World) -> World:
    """Build the world a scenario describes; it begins with the first moment it is told.

    Args:
        scenario: what `parse_scenario` returned.
        rng: decides every chance in the world; seed it with ``scenario.seed`` or another seed.
        ids: returns a new UUID a call, for what the scenario doesn't name (offers, parcels, copies).
        make: class of the world; one that watches what happens in it, for instance.

    Raises:
        ConfigError, OperatorError, LimitExceeded: the scenario was made by hand and doesn't hold together;
            one that was parsed has been checked.
    """
    world = make(rng, ids, settings=scenario.grid)
    cast = cast_of(scenario)
    for region in scenario.regions:
        _add_region(world, cast, region)
    for spec in scenario.avatars:
        _add_avatar(world, cast, scenario, spec)
    for thing in scenario.objects:
        _add_object(world, cast, scenario, thing)
    for one, other in scenario.friendships:
        world.befriend(cast.person(one).avatar_id, cast.person(other).avatar_id)
    # Characters come last: everybody they know of is there by then.
    for spec in scenario.avatars:
        if spec.character is not None:
            world.inhabit(cast.person(spec.name).avatar_id, make_character(spec.character, cast))
    for thing in scenario.objects:
        if thing.character is not None:
            world.script(scenario.object_id(thing), make_character(thing.character, cast))
    return world


def _add_region(world: World, cast: Cast, region: RegionSpec) -> None:
    owner_id = cast.person(region.owner).avatar_id if region.owner is not None else None
    made = world.add_region(
        region.name,
        x_m=region.x_m,
        y_m=region.y_m,
        size_m=region.size_m,
        owner_id=owner_id,
        land=Land(name=region.name, prim_limit=region.prim_limit),
        capacity=region.capacity,
        prim_limit=region.prim_limit,
    )
    for parcel in region.parcels:
        land = Land(
            name=parcel.name,
            x=parcel.x,
            y=parcel.y,
            width=parcel.width,
            depth=parcel.depth,
            description=parcel.description,
            anybody_builds=parcel.anybody_builds,
            runs_scripts=parcel.runs_scripts,
            bots_allowed=parcel.bots_allowed,
            prim_limit=parcel.prim_limit,
            managers=tuple(cast.person(name).avatar_id for name in parcel.managers),
            banned=tuple(cast.person(name).avatar_id for name in parcel.banned),
        )
        parcel_owner = cast.person(parcel.owner).avatar_id if parcel.owner is not None else made.owner_id
        world.add_parcel(region.name, owner_id=parcel_owner, land=land)


def _add_avatar(world: World, cast: Cast, scenario: Scenario, spec: AvatarSpec) -> None:
    person = cast.person(spec.name)
    account = Account(
        name=person.shown_as,
        avatar_id=person.avatar_id,
        home=_place(spec.home or spec.start),
        balance=spec.balance,
        scripted_agent=spec.scripted_agent,
    )
    world.add_avatar(account)
    # A new account's last place is its home; somebody who starts elsewhere was there when they last left.
    world.avatar(person.avatar_id).last = _place(spec.start)
    for index, item in enumerate(spec.inventory):
        made_id = ItemId(derived_id(scenario.name, "item", spec.name, str(index), item.name))
        world.give(
            person.avatar_id,
            name=item.name,
            kind=item.kind,
            text=item.text,
            may_copy=item.may_copy,
            may_transfer=item.may_transfer,
            item_id=item.item_id or made_id,
        )


def _add_object(world: World, cast: Cast, scenario: Scenario, spec: ObjectSpec) -> None:
    look = ObjectLook(
        name=spec.name,
        description=spec.description,
        sittable=spec.sittable,
        touchable=spec.character is not None if spec.touchable is None else spec.touchable,
        payable=spec.payable,
        for_sale=spec.price,
        may_copy=spec.may_copy,
        may_transfer=spec.may_transfer,
        prims=spec.prims,
    )
    world.add_object(
        spec.position.region,
        owner_id=cast.person(spec.owner).avatar_id,
        position=_place(spec.position).position,
        thing=look,
        object_id=scenario.object_id(spec),
    )


def _place(spot: Spot) -> Place:
    return Place(region=spot.region, position=Position(x=spot.x, y=spot.y, z=spot.z))
