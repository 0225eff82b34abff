"""What holds in every world, whatever people do in it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent import actions as asked
from gridagent.actions import Action, Position
from gridagent.errors import BackendError
from gridagent.events import GridEvent, Posture
from gridagent.grid.simulated import Account, Land, Place, Thing, World
from gridagent.grid.simulated.avatars import OFFLINE_IMS_MAX
from gridagent.grid.simulated.items import BUILT_IN_ANIMATIONS, INVENTORY_MAX
from gridagent.grid.simulated.offers import OFFERS_MAX, Gift
from gridagent.runtime.deterministic import simulated_ports

PEOPLE = 4
PLACES = st.builds(Position, x=st.floats(-10, 300), y=st.floats(-10, 300))

Make = Callable[["Town"], Action]


class Town:
    """A small world, everything that was told in it, and one choice after another."""

    def __init__(self, seed: int) -> None:
        self.world = World(random.Random(seed), simulated_ports(seed).ids.uuid)
        world = self.world
        world.add_region("Plaza", x_m=0, y_m=0)
        world.add_region("Annex", x_m=256, y_m=0, size_m=512)
        home = Place(region="Plaza", position=Position(x=100.0, y=100.0))
        self.people = [
            world.add_avatar(Account(name=f"Person {number}", home=home, balance=100)) for number in range(PEOPLE)
        ]
        world.regions()[0].owner_id = self.people[0]
        world.add_parcel(
            "Plaza",
            owner_id=self.people[1],
            land=Land(name="All", width=200, depth=200, prim_limit=4, anybody_builds=True),
        )
        self.things = [
            world.add_object(
                "Plaza",
                owner_id=self.people[number % PEOPLE],
                position=Position(x=10.0 + number, y=10.0),
                thing=Thing(name=f"Thing {number}", sittable=True, payable=True, for_sale=3 if number else None),
            )
            for number in range(2)
        ]
        for number, who in enumerate(self.people):
            for copy in (True, False):
                world.give(who, name=f"Item {number}", kind="object", may_copy=copy)
        self.told: list[tuple[str, GridEvent]] = []
        self.begun = 1.0
        for who in self.people:
            self.come(who)

    def come(self, who: str) -> None:
        try:
            self.world.login(who, max(self.world.now, self.begun))
        except BackendError:
            return
        self.world.attach(who, lambda event: self.told.append((who, event)), now=self.world.now)

    def items(self, who: int) -> list[str]:
        return [item.item_id for item in self.world.inventory(self.people[who])]


people = st.integers(0, PEOPLE - 1)
numbers = st.integers(0, 10)


def pick(options: list[str], number: int) -> str:
    """Choose one, or somebody who does not exist when there is none."""
    return options[number % len(options)] if options else "00000000-0000-4000-8000-0000000000ff"


@st.composite
def steps(draw: st.DrawFn) -> Callable[[Town], None]:
    """Draw one thing that somebody does, or that happens."""
    who, other, number, place = draw(people), draw(people), draw(numbers), draw(PLACES)
    amount, yes = draw(st.integers(1, 60)), draw(st.booleans())

    def offer(town: Town) -> str:
        waiting = [offer.offer_id for offer in town.world._state.offers.open_to(town.people[who])]
        return pick(waiting, number)

    makes: list[Make] = [
        lambda town: asked.PayAvatar(to=town.people[other], amount=amount),
        lambda town: asked.PayObject(object_id=pick(town.things, number), amount=3),
        lambda town: asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=amount),
        lambda town: asked.GiveItem(item_id=pick(town.items(who), number), to=town.people[other]),
        lambda town: asked.AnswerInventoryOffer(offer_id=offer(town), accept=yes),
        lambda town: asked.RezObject(position=place, item_id=pick(town.items(who), number) if yes else None),
        lambda town: asked.EditObject(object_id=pick(list(town.world._state.objects), number), position=place),
        lambda town: asked.DeleteObject(object_id=pick(list(town.world._state.objects), number)),
        lambda town: asked.ReturnObject(object_id=pick(list(town.world._state.objects), number)),
        lambda town: asked.SitOn(object_id=pick(list(town.world._state.objects), number)),
        lambda town: asked.StandUp(),
        lambda town: asked.WalkTo(position=place),
        lambda town: asked.FollowAvatar(avatar_id=town.people[other]),
        lambda town: asked.StopMoving(),
        lambda town: asked.TeleportTo(region="Annex" if yes else "Plaza", position=place),
        lambda town: asked.EjectAvatar(avatar_id=town.people[other]),
        lambda town: asked.OfferFriendship(to=town.people[other]),
        lambda town: asked.AnswerFriendship(offer_id=offer(town), accept=yes),
        lambda town: asked.EndFriendship(avatar_id=town.people[other]),
        lambda town: asked.OfferTeleport(to=town.people[other]),
        lambda town: asked.AnswerTeleportOffer(offer_id=offer(town), accept=yes),
        lambda town: asked.SendIm(to=town.people[other], text="psst"),
        lambda town: asked.PlayAnimation(animation_id=BUILT_IN_ANIMATIONS["wave"]),
        lambda town: asked.Say(text="hello"),
    ]
    make = makes[draw(st.integers(0, len(makes) - 1))]
    happening = draw(st.sampled_from(["act"] * 12 + ["time", "time", "leave", "come", "kick", "restart"]))

    def step(town: Town) -> None:
        world, me = town.world, town.people[who]
        if happening == "time":
            world.advance(world.now + number)
        elif happening == "leave":
            world.logout(me, world.now)
        elif happening == "come":
            town.come(me)
        elif happening == "kick":
            world.kick(me, world.now)
        elif happening == "restart":
            world.restart_region("Plaza", world.now, notice_s=5.0, down_s=5.0)
        elif world.avatar(me).online:
            world.perform(me, make(town), world.now, f"r{len(town.told)}")

    return step


def check(town: Town) -> None:
    """Assert everything that holds at any moment."""
    world, state = town.world, town.world._state
    accounts = [world.avatar(who) for who in town.people]
    # Money is neither made nor lost, and nobody owes any.
    assert sum(account.balance for account in accounts) + world.treasury == PEOPLE * 100
    assert all(account.balance >= 0 for account in accounts)
    # An item is in one inventory; an object is in one region, on one parcel, and prims add up.
    items = [item_id for account in accounts for item_id in account.inventory]
    assert len(items) == len(set(items))
    placed = [thing for region in world.regions() for thing in region.objects.values()]
    assert {thing.object_id for thing in placed} == set(state.objects)
    assert len(placed) == len(state.objects)
    for region in world.regions():
        assert region.prims == sum(thing.thing.prims for thing in region.objects.values())
        for parcel in region.parcels:
            on_it = [thing for thing in region.objects.values() if region.parcel_at(thing.position) is parcel]
            assert parcel.prims == sum(thing.thing.prims for thing in on_it)
            assert parcel.prims <= parcel.land.prim_limit
    # A body is where it says it is, while somebody is logged in; seats and sitters agree.
    for account in accounts:
        body = account.body
        assert (body is not None) == account.online
        listed = [region for region in world.regions() if account.avatar_id in region.avatars]
        assert listed == ([] if body is None else [body.region])
        if body is not None:
            assert body.region.contains(body.position_at(state.now))
            seat = None if body.seat is None else state.objects[body.seat]
            assert (seat is not None) == (body.posture is Posture.SITTING)
            assert seat is None or seat.sitter == account.avatar_id
    assert sum(thing.sitter is not None for thing in placed) == sum(
        account.body is not None and account.body.seat is not None for account in accounts
    )
    # Friendship is mutual.
    for account in accounts:
        assert all(account.avatar_id in world.avatar(friend).friends for friend in account.friends)
    # Everything that can grow is bounded, and nothing is left behind by who has gone.
    for account in accounts:
        assert len(account.offline_ims) <= OFFLINE_IMS_MAX
        assert len(account.inventory) <= INVENTORY_MAX
        assert len(state.offers.open_to(account.avatar_id)) <= OFFERS_MAX
        if account.body is not None:
            assert all(world.avatar(follower).online for follower in account.body.followers)
    assert len(state.timers) <= 3 * PEOPLE + 2
    gifts = [offer for who in town.people for offer in state.offers.open_to(who) if isinstance(offer, Gift)]
    assert all(offer.sender != offer.to for offer in gifts)


@given(st.lists(steps(), max_size=60), st.integers(0, 3))
def test_a_world_stays_whole_whatever_people_do(actions: list[Callable[[Town], None]], seed: int) -> None:
    """Money is conserved, things and items have one place, bodies and seats agree, everything is bounded.

    Spec: SIM-1, BND-1
    """
    town = Town(seed)
    for act in actions:
        act(town)
        check(town)
    town.world.advance(town.world.now + 600.0)
    check(town)


@given(st.lists(steps(), max_size=40), st.integers(0, 3))
def test_the_same_seed_and_deeds_tell_the_same_story(actions: list[Callable[[Town], None]], seed: int) -> None:
    """Two worlds with one seed tell everybody the same events in the same order.

    Spec: SIM-2
    """
    one, other = Town(seed), Town(seed)
    for town in (one, other):
        for act in actions:
            act(town)
        town.world.advance(town.world.now + 100.0)
    assert one.told == other.told


STORY = """
import hashlib, random
import msgspec
from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.grid.simulated import Account, Faults, World
from gridagent.grid.simulated.faults import FaultCounts
from gridagent.grid.simulated.link import Link
from gridagent.runtime.deterministic import simulated_ports

rng, digest = random.Random(5), hashlib.sha256()
world = World(random.Random(1), simulated_ports(1).ids.uuid)
world.add_region("Plaza", x_m=0, y_m=0)
people = [world.add_avatar(Account(name=f"Person {n}", balance=100)) for n in range(6)]
faults = Faults(latency_s=(0.0, 2.0), event_reordered=0.2, event_duplicated=0.2, stalls_per_hour=60, floods_per_hour=60)
links = []
world.advance(1.0)
for who in people:
    told = lambda event, who=who: digest.update(who.encode() + msgspec.json.encode(event))
    link = Link(world, who, faults=faults, counts=FaultCounts(), rng=world.stream(who), on_event=told, on_end=print)
    link.open(world.now)
    links.append(link)
for n in range(400):
    who = rng.randrange(6)
    action = (
        asked.Say(text=str(n)),
        asked.WalkTo(position=Position(x=rng.uniform(0, 255), y=rng.uniform(0, 255))),
        asked.FollowAvatar(avatar_id=people[rng.randrange(6)]),
        asked.PayAvatar(to=people[rng.randrange(6)], amount=1),
        asked.RezObject(position=Position(x=1.0, y=1.0)),
    )[n % 5]
    links[who].perform(action, world.now, str(n))
    world.advance(world.now + rng.random() * 5)
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_a_story_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    """Two processes with different hash seeds tell bit by bit the same story, faults and all.

    Spec: SIM-2
    """
    script = tmp_path / "story.py"
    script.write_text(STORY, encoding="utf-8")
    digests = set()
    for hash_seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(  # noqa: S603 - our own interpreter and script
            [sys.executable, str(script)], env=environment, check=True, capture_output=True, timeout=15
        )
        digests.add(done.stdout)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
