"""What the parts of a scenario owe to each other, each broken promise with its own sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from gridagent.errors import ConfigError
from gridagent.grid.simulated.scenario import parse_scenario

Raw = dict[str, Any]
ID = "10000000-0000-4000-8000-000000000001"
GOOD: Raw = {
    "name": "good",
    "regions": [
        {"name": "Here", "size_m": 100, "x_m": 1000, "y_m": 1000, "parcels": [{"name": "P", "width": 50, "depth": 50}]},
        {"name": "There", "size_m": 50, "x_m": 1100, "y_m": 1000},
    ],
    "avatars": [
        {"name": "Agent", "avatar_id": ID, "start": {"region": "Here", "x": 1, "y": 1}},
        {
            "name": "Olive",
            "start": {"region": "here", "x": 99, "y": 1},
            "character": {"kind": "owner", "agent": "Agent"},
        },
    ],
    "objects": [
        {
            "name": "Sign",
            "owner": "Olive",
            "position": {"region": "There", "x": 49, "y": 49},
            "character": {"kind": "talking_object", "dialog": {"text": "?", "buttons": ["A", "B"], "answers": ["a"]}},
        }
    ],
    "friendships": [["Agent", "Olive"]],
    "incidents": [{"kind": "kick", "at_s": 1, "avatar": "Agent"}],
}


def problems(change: Callable[[Raw], object]) -> list[str]:
    """What is wrong with the good scenario after a change."""
    raw = copy.deepcopy(GOOD)
    change(raw)
    try:
        parse_scenario(json.dumps(raw).encode(), "test")
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def put(path: str, value: object) -> Callable[[Raw], None]:
    """Set one value of the file; a list is appended to with the key ``+``."""

    def change(raw: Raw) -> None:
        *way, last = path.split(".")
        here: Any = raw
        for key in way:
            here = here[int(key)] if isinstance(here, list) else here[key]
        if last == "+":
            here.append(value)
        elif isinstance(here, list):
            here[int(last)] = value
        else:
            here[last] = value

    return change


def test_the_good_scenario_is_good() -> None:
    """Nothing is wrong with what the other tests change; region names disregard case."""
    assert problems(lambda raw: raw) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            "avatars.+",
            {"name": "Agent", "start": {"region": "Here", "x": 1, "y": 1}},
            '$.avatars[2].name: the avatar "Agent" is there already, at $.avatars[0].name; give one of them another',
        ),
        ("regions.+", {"name": "HERE"}, '$.regions[2].name: the region "HERE" is there already, at $.regions[0].name'),
        ("objects.+", {"name": "Sign", "owner": "Olive", "position": {"region": "Here", "x": 1, "y": 1}}, "the object"),
        (
            "avatars.0.start.region",
            "Elsewhere",
            '$.avatars[0].start.region: no region of this scenario is called "Elsewhere"; name one of its regions',
        ),
        ("avatars.0.home", {"region": "Nowhere", "x": 1, "y": 1}, "$.avatars[0].home.region: no region"),
        ("objects.0.position.region", "X", '$.objects[0].position.region: no region of this scenario is called "X"'),
        ("objects.0.owner", "Nobody", '$.objects[0].owner: no avatar of this scenario is called "Nobody"'),
        ("regions.0.owner", "Nobody", "$.regions[0].owner: no avatar"),
        ("regions.0.parcels.0.managers", ["Nobody"], "$.regions[0].parcels[0].managers[0]: no avatar"),
        ("regions.0.parcels.0.banned", ["Nobody"], "$.regions[0].parcels[0].banned[0]: no avatar"),
        ("avatars.1.character.agent", "Nobody", "$.avatars[1].character.agent: no avatar"),
        (
            "avatars.1.character.seat",
            "Chair",
            '$.avatars[1].character.seat: no object of this scenario is called "Chair"',
        ),
        ("friendships.0.1", "Nobody", "$.friendships[0][1]: no avatar"),
        ("incidents.0.avatar", "Nobody", "$.incidents[0].avatar: no avatar"),
        ("incidents.+", {"kind": "region_restart", "at_s": 1, "region": "X"}, "$.incidents[1].region: no region"),
        ("avatars.1.avatar_id", ID, f"$.avatars[1].avatar_id: the id {ID} is used already, at $.avatars[0].avatar_id"),
        ("objects.0.object_id", ID, f"$.objects[0].object_id: the id {ID} is used already"),
        ("avatars.0.inventory", [{"name": "A", "item_id": ID}], f"the id {ID} is used already"),
        (
            "regions.1.x_m",
            1099,
            '$.regions[1]: the region "There" overlaps "Here" at $.regions[0] (found 50 m at (1099, 1000)); move one',
        ),
        (
            "regions.0.parcels.0.width",
            101,
            "$.regions[0].parcels[0]: the parcel reaches out of its region of 100 m (found 101 by 50 m at (0, 0))",
        ),
        ("regions.0.parcels.0.y", 51, "the parcel reaches out of its region of 100 m"),
        (
            "avatars.0.start.x",
            100,
            '$.avatars[0].start: the point lies outside "Here", which is 100 m wide (found (100, 1)); keep x and y',
        ),
        ("objects.0.position.y", 50, '$.objects[0].position: the point lies outside "There"'),
        ("grid", {"teleport_s": [4, 1]}, "$.grid.teleport_s: a teleport takes from the first to the second number"),
        ("grid", {"teleport_s": [-1, 1]}, "write two numbers from 0 to 600, the smaller one first"),
        ("faults", {"latency_s": [2, 1]}, "$.faults.latency_s: is a range from shortest to longest"),
        ("faults", {"login_causes": ["kicked"]}, "$.faults.login_causes: names a cause that no login is refused for"),
        (
            "objects.0.character.dialog.buttons",
            ["A", "A"],
            "$.objects[0].character.dialog.buttons: a button is there twice",
        ),
        (
            "objects.0.character.dialog.answers",
            ["a", "b", "c"],
            "there are more answers than buttons (found 3 answers for 2 buttons); remove some answers",
        ),
        ("objects.0.character.pushes", ["url"], "$.objects[0].character.targets: the object pushes, but on nobody"),
        ("avatars.1.character.errands", ["sit"], '$.avatars[1].character.seat: the errand "sit" needs it; name one'),
        ("avatars.1.character.errands", ["tip"], '$.avatars[1].character.payee: the errand "tip" needs it; name one'),
        ("friendships.0.1", "Agent", '$.friendships[0]: "Agent" cannot be its own friend; name two avatars'),
        (
            "friendships.+",
            ["Olive", "Agent"],
            "$.friendships[1]: the same two are friends already, at $.friendships[0]",
        ),
        (
            "incidents.+",
            {"kind": "stall", "at_s": 1, "avatar": "Olive"},
            '$.incidents[1].avatar: "Olive" is an inhabitant, who has no connection that this could befall; name an',
        ),
        (
            "regions.1.prim_limit",
            0,
            "$.regions[1].prim_limit: objects of 1 prims stand here, and 0 may; raise the limit",
        ),
        (
            "regions.1.parcels",
            [{"name": "A", "width": 50, "depth": 50, "prim_limit": 0}, {"name": "B", "width": 9, "depth": 50}],
            "$.regions[1].parcels[0].prim_limit: objects of 1 prims stand here, and 0 may",
        ),
        (
            "avatars.0.character",
            {"kind": "visitor"},
            "$.avatars: every avatar has a character, so that no agent can log in; add one without",
        ),
    ],
)
def test_each_broken_relation_has_its_own_sentence(path: str, value: object, said: str) -> None:
    """Unknown and double names, shared ids, overlaps and places outside are refused by path. Spec: SIM-1, CFG-1."""
    found = problems(put(path, value))
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("avatars.1.character.errands", ["come", "look"]),
        ("friendships", []),
        ("incidents.+", {"kind": "kick", "at_s": 1, "avatar": "Olive"}),
        (
            "regions.1.parcels",
            [{"name": "A", "width": 50, "depth": 50, "prim_limit": 0}, {"name": "B", "width": 50, "depth": 50}],
        ),
        ("regions.1.y_m", 1100),
        ("regions.1.x_m", 950),
        ("avatars.0.inventory", [{"name": "A", "item_id": ID[:-1] + "2"}]),
        ("objects.0.character", {"kind": "talking_object", "pushes": ["url"], "targets": ["Agent"]}),
    ],
)
def test_what_only_looks_wrong_is_accepted(path: str, value: object) -> None:
    """Borders may touch, errands may be few, and pushes need only a target. Spec: SIM-1."""
    assert problems(put(path, value)) == []


def test_a_part_that_is_wrong_does_not_make_others_look_wrong() -> None:
    """A region with a bad size is still known, and nobody is judged by the size it doesn't have. Spec: SIM-1."""
    found = problems(put("regions.0.size_m", 0))
    assert len(found) == 1
    assert found[0].startswith("$.regions[0].size_m: is out of range")


def test_problems_of_both_kinds_come_in_one_message() -> None:
    """Bad values and broken relations are listed together. Spec: SIM-1, CFG-1."""

    def change(raw: Raw) -> None:
        put("avatars.0.balance", -1)(raw)
        put("objects.0.owner", "Nobody")(raw)
        put("incidents.0.kind", "kcik")(raw)

    assert [text.split(":")[0] for text in problems(change)] == [
        "$.avatars[0].balance",
        "$.incidents[0].kind",
        "$.objects[0].owner",
    ]
