"""A scenario becomes a world with everybody and everything in it."""

from __future__ import annotations

import random
from collections import Counter
from itertools import count

import pytest

from gridagent.actions import Position
from gridagent.errors import ConfigError
from gridagent.events import ChatHeard, GridEvent, ImReceived, SpeakerKind
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.twin import disguise
from gridagent.grid.simulated.scenario import load_shipped, parse_scenario, shipped_scenarios
from gridagent.grid.simulated.scenario_build import build_world, cast_of, shown_name
from gridagent.grid.simulated.scenario_format import AvatarSpec, ObjectSpec, RegionSpec, Scenario, derived_id
from gridagent.grid.simulated.world import World
from gridagent.ids import NIL_UUID, AvatarId

FULL = b"""{
  "name": "full",
  "grid": {"profile": {"grid": "Tiny Grid", "has_build": false}, "walk_speed_m_s": 5},
  "regions": [
    {"name": "Town", "x_m": 512, "y_m": 768, "size_m": 300, "owner": "Mayor", "capacity": 9, "prim_limit": 50,
     "parcels": [
       {"name": "Square", "x": 10, "y": 20, "width": 30, "depth": 40, "owner": "Anna", "description": "d",
        "anybody_builds": true, "runs_scripts": false, "bots_allowed": false, "prim_limit": 7,
        "managers": ["Mayor"], "banned": ["Ben"]},
       {"name": "Yard", "width": 5, "depth": 5}
     ]},
    {"name": "Wild", "x_m": 0, "y_m": 0}
  ],
  "avatars": [
    {"name": "Anna", "start": {"region": "Town", "x": 1, "y": 2, "z": 30}, "home": {"region": "Wild", "x": 3, "y": 4},
     "balance": 77, "scripted_agent": true,
     "inventory": [{"name": "Note", "kind": "notecard", "text": "hi", "may_copy": false, "may_transfer": false},
                   {"name": "Cup", "item_id": "10000000-0000-4000-8000-00000000000c"}]},
    {"name": "Mayor", "shown_as": "The Mayor", "start": {"region": "Town", "x": 50, "y": 60},
     "character": {"kind": "visitor"}},
    {"name": "Ben", "start": {"region": "Wild", "x": 5, "y": 5},
     "character": {"kind": "twin", "imitates": "Mayor", "targets": ["Anna"]}}
  ],
  "objects": [
    {"name": "Jar", "owner": "Ben", "position": {"region": "Town", "x": 8, "y": 9}, "payable": true, "sittable": true,
     "description": "a jar", "prims": 3},
    {"name": "Shop", "owner": "Mayor", "position": {"region": "Town", "x": 9, "y": 9}, "price": 12,
     "character": {"kind": "vendor"}},
    {"name": "Mute", "owner": "Mayor", "position": {"region": "Town", "x": 9, "y": 9}, "touchable": false,
     "character": {"kind": "vendor"}}
  ],
  "friendships": [["Anna", "Mayor"]]
}"""


def build(scenario: Scenario, seed: int = 0) -> World:
    """Build a world whose ids count up."""
    numbers = count()
    return build_world(scenario, rng=random.Random(seed), ids=lambda: derived_id("test", "made", str(next(numbers))))


def live(world: World, avatar_id: AvatarId, hours: float) -> list[tuple[float, GridEvent]]:
    """Log somebody in, let the world live, and return what they perceived."""
    seen: list[tuple[float, GridEvent]] = []
    world.login(avatar_id, 0.0)
    world.attach(avatar_id, lambda event: seen.append((world.now, event)), now=0.0)
    until = hours * 3_600
    while (due := world.next_timer()) is not None and due <= until:
        world.advance(due)
    world.advance(until)
    return seen


@pytest.fixture
def full() -> tuple[Scenario, World]:
    """The scenario that says everything, and its world."""
    scenario = parse_scenario(FULL, "full")
    return scenario, build(scenario)


def test_regions_and_parcels_are_as_written(full: tuple[Scenario, World]) -> None:
    """Size, place, owner, rights and lists of people reach the world as ids. Spec: SIM-1."""
    scenario, world = full
    people = cast_of(scenario).people
    town, wild = world.regions()
    assert (town.name, town.x_m, town.y_m, town.size_m) == ("Town", 512, 768, 300)
    assert (town.capacity, town.prim_limit) == (9, 50)
    assert town.owner_id == people["Mayor"].avatar_id
    assert wild.owner_id == NIL_UUID
    square = town.parcel_at(Position(x=11, y=21))
    assert square.owner_id == people["Anna"].avatar_id
    land = square.land
    assert (land.name, land.x, land.y, land.width, land.depth) == ("Square", 10, 20, 30, 40)
    assert (land.description, land.prim_limit) == ("d", 7)
    assert (land.anybody_builds, land.runs_scripts, land.bots_allowed) == (True, False, False)
    assert land.managers == (people["Mayor"].avatar_id,)
    assert land.banned == (people["Ben"].avatar_id,)
    assert town.parcel_at(Position(x=1, y=1)).land.name == "Yard"
    assert town.parcel_at(Position(x=1, y=1)).owner_id == people["Mayor"].avatar_id
    assert town.parcel_at(Position(x=200, y=200)).land.name == "Town"


def test_the_grid_is_as_written(full: tuple[Scenario, World]) -> None:
    """The profile and the pace of the grid come from the file. Spec: SIM-1."""
    _, world = full
    assert world.settings.profile.grid == "Tiny Grid"
    assert not world.settings.profile.has_build
    assert world.settings.walk_speed_m_s == 5


def test_accounts_are_as_written(full: tuple[Scenario, World]) -> None:
    """Balance, inventory, friends, home and start reach the world. Spec: SIM-1."""
    scenario, world = full
    people = cast_of(scenario).people
    anna = world.avatar(people["Anna"].avatar_id)
    assert (anna.name, anna.balance, anna.scripted_agent) == ("Anna", 77, True)
    assert (anna.home.region, anna.home.position.x) == ("Wild", 3)
    note, cup = anna.inventory.values()
    assert (note.name, note.kind, note.text, note.may_copy, note.may_transfer) == (
        "Note",
        "notecard",
        "hi",
        False,
        False,
    )
    assert note.item_id == derived_id("full", "item", "Anna", "0", "Note")
    assert cup.item_id == "10000000-0000-4000-8000-00000000000c"
    assert list(anna.friends) == [people["Mayor"].avatar_id]
    world.login(anna.avatar_id, 0.0)
    assert anna.body is not None
    assert (anna.body.region.name, anna.body.position.x) == ("Town", 1)


def test_objects_are_as_written(full: tuple[Scenario, World]) -> None:
    """Price, seat, tip jar and touch reach the world; a character makes an object touchable. Spec: SIM-1."""
    scenario, world = full
    anna = cast_of(scenario).person("Anna").avatar_id
    world.login(anna, 0.0)
    views = {view.name: view for view in world.objects_near(anna)}
    jar, shop, mute = views["Jar"], views["Shop"], views["Mute"]
    assert (jar.sittable, jar.touchable, jar.for_sale, jar.description) == (True, False, None, "a jar")
    assert (shop.name, shop.for_sale, shop.touchable) == ("Shop", 12, True)
    assert (mute.name, mute.touchable) == ("Mute", False)
    assert shop.object_id == scenario.object_id(scenario.objects[1])
    assert jar.owner_id == cast_of(scenario).person("Ben").avatar_id


def test_a_twin_shows_a_disguise_of_the_name_that_others_see(full: tuple[Scenario, World]) -> None:
    """It imitates what is shown over the original's head, and keeps its own id. Fault: 14."""
    scenario, world = full
    ben = scenario.avatar("Ben")
    assert ben is not None
    assert shown_name(scenario, ben) == disguise("The Mayor")
    assert world.avatar(scenario.avatar_id(ben)).name == disguise("The Mayor")
    mayor = scenario.avatar("Mayor")
    assert mayor is not None
    assert shown_name(scenario, mayor) == "The Mayor"
    orphan = Scenario(name="x", regions=scenario.regions, avatars=(ben,))
    assert shown_name(orphan, ben) == disguise("Mayor")


def test_a_scenario_made_by_hand_with_a_wrong_name_is_refused() -> None:
    """Without the parser's checks, building still gives one clear sentence. Spec: SIM-1."""
    here = Spot(region="Home", x=1, y=1)
    scenario = Scenario(
        name="x",
        regions=(RegionSpec(name="Home"),),
        avatars=(AvatarSpec(name="A", start=here),),
        objects=(ObjectSpec(name="Box", owner="Nobody", position=here),),
    )
    with pytest.raises(ConfigError, match="Nobody"):
        build(scenario)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_lives_for_an_hour_without_misfits(name: str) -> None:
    """No character overfills its list or asks for what its kind can't do. Spec: SIM-1."""
    scenario = load_shipped(name)
    world = build(scenario, scenario.seed)
    assert live(world, scenario.avatar_id(scenario.agents()[0]), 1.0)
    assert world.dropped_requests == 0
    assert world.misfit_requests == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plaza-8", "rough-night"])
def test_the_same_seed_gives_the_same_story_and_another_seed_another(name: str) -> None:
    """What an agent perceives in an hour depends on scenario and seed only. Spec: SIM-1, SIM-2."""
    scenario = load_shipped(name)
    agent = scenario.avatar_id(scenario.agents()[0])
    one, same, other = (live(build(scenario, seed), agent, 0.5) for seed in (5, 5, 6))
    assert one == same
    assert one != other


def test_the_plaza_is_lively_within_twenty_seconds() -> None:
    """A newcomer to `make run` hears several people, an object and their own name at once. Spec: SIM-1."""
    scenario = load_shipped("plaza")
    seen = live(build(scenario, scenario.seed), scenario.avatar_id(scenario.agents()[0]), 20 / 3_600)
    heard = [event for _, event in seen if isinstance(event, ChatHeard)]
    assert len(heard) >= 8
    assert len({event.source.id for event in heard if event.source.kind is SpeakerKind.AVATAR}) >= 4
    assert any(event.source.kind is SpeakerKind.OBJECT for event in heard)
    assert any("Robin" in event.text for event in heard)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8, 1, 2, 3])
def test_plaza_8_is_crowded(seed: int) -> None:
    """In an hour at least 400 utterances, 60 of them to the avatar, by whatever seed. Spec: SIM-1."""
    scenario = load_shipped("plaza-8")
    inhabitants = [spec for spec in scenario.avatars if spec.character is not None]
    assert len(inhabitants) == 8
    seen = live(build(scenario, seed), scenario.avatar_id(scenario.agents()[0]), 1.0)
    uttered = [event for _, event in seen if isinstance(event, ChatHeard | ImReceived)]
    addressed = [event for event in uttered if isinstance(event, ImReceived) or "robin" in event.text.lower()]
    assert len(uttered) >= 400
    assert len(addressed) >= 60
    by_people = Counter(event.source.id for event in uttered if event.source.kind is SpeakerKind.AVATAR)
    assert len(by_people) == 8


def test_money_moves_in_the_market_and_none_is_lost() -> None:
    """Shoppers buy and tip, the agent gets some of it, and the sum stays. Spec: SIM-1."""
    scenario = load_shipped("market")
    world = build(scenario, scenario.seed)
    agent = scenario.avatar_id(scenario.agents()[0])
    before = {avatar_id: world.balance(avatar_id) for avatar_id in world.avatars()}
    live(world, agent, 1.0)
    after = {avatar_id: world.balance(avatar_id) for avatar_id in world.avatars()}
    assert sum(before.values()) == sum(after.values())
    assert after[agent] > before[agent]
    assert world.inventory(cast_of(scenario).person("Sally Shopper").avatar_id)


def test_people_travel_between_the_two_regions() -> None:
    """A traveller is in the agent's region at times, and the owner calls from the other. Spec: SIM-1."""
    scenario = load_shipped("two-regions")
    seen = live(build(scenario, scenario.seed), scenario.avatar_id(scenario.agents()[0]), 1.0)
    kinds = Counter(type(event).__name__ for _, event in seen)
    assert kinds["AvatarLeft"] >= 3
    assert kinds["AvatarSeen"] >= 3
    assert kinds["TeleportOffered"] >= 2
    assert kinds["FriendshipOffered"] == 1
