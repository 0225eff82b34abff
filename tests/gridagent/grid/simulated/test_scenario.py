"""From bytes to a scenario, or to one error; and the scenarios that are shipped."""

from __future__ import annotations

import json
import random
import re
from importlib import resources
from itertools import count
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import ConfigError, OperatorError
from gridagent.grid.simulated.inhabitants import CHARACTERS
from gridagent.grid.simulated.scenario import DEFAULT_SCENARIO, load_shipped, parse_scenario, shipped_scenarios
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import AvatarSpec, Scenario, derived_id
from gridagent.grid.simulated.scenario_incidents import Incident
from gridagent.limits import SCENARIO_FILE_MAX_BYTES

HOW_TO = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "write-a-scenario.md"
AGENT = "5eed0000-0000-4000-8000-00000000a9e7"
OWNER = "5eed0000-0000-4000-8000-000000000001"
MINIMAL = (
    b'{"name": "m", "regions": [{"name": "R"}], "avatars": [{"name": "A", "start": {"region": "R", "x": 1, "y": 1}}]}'
)


def test_the_smallest_scenario_is_a_region_and_an_account() -> None:
    """Everything else has a default. Spec: SIM-1."""
    scenario = parse_scenario(MINIMAL, "minimal")
    assert scenario.regions[0].size_m == 256
    assert scenario.agents() == scenario.avatars
    assert scenario.incidents == ()


def test_all_problems_come_in_one_error_that_names_its_source() -> None:
    """A file with three mistakes is refused once, with three sentences. Spec: SIM-1, CFG-1."""
    with pytest.raises(ConfigError) as caught:
        parse_scenario(b'{"name": "X", "regions": [], "avatar": 1}', "my.json")
    assert caught.value.source == "my.json"
    assert str(caught.value).startswith("my.json has 4 problems:")
    assert {problem.path for problem in caught.value.problems} == {"$.name", "$.regions", "$.avatar", "$.avatars"}


def test_a_file_over_its_size_is_refused_before_it_is_parsed() -> None:
    """One byte over 256 KiB is too much, exactly 256 KiB is not. Spec: SIM-1."""
    padded = MINIMAL + b" " * (SCENARIO_FILE_MAX_BYTES - len(MINIMAL))
    assert parse_scenario(padded, "padded").name == "m"
    with pytest.raises(ConfigError, match="too big"):
        parse_scenario(padded + b" ", "padded")


def test_a_thousand_broken_relations_give_a_bounded_message() -> None:
    """However much is wrong, the message lists a hundred and counts the rest. Spec: SIM-1."""
    raw = json.loads(MINIMAL)
    raw["friendships"] = [["A", f"N{number}"] for number in range(1_000)]
    with pytest.raises(ConfigError) as caught:
        parse_scenario(json.dumps(raw).encode(), "many")
    assert len(caught.value.problems) == 101
    assert caught.value.problems[-1].what == "900 more problems"


@given(st.binary(max_size=400))
def test_any_bytes_give_a_scenario_or_one_config_error(raw: bytes) -> None:
    """Nothing but `ConfigError` comes out, whatever goes in. Spec: SIM-1."""
    assert_scenario_or_error(raw)


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_damaged_file_gives_a_scenario_or_one_config_error(seed: int, cuts: int) -> None:
    """Bytes of a good file are lost, doubled or changed at random places. Spec: SIM-1."""
    rng = random.Random(seed)
    raw = bytearray(_shipped_bytes(rng.choice(shipped_scenarios())))
    for _ in range(cuts):
        at = rng.randrange(len(raw))
        match rng.randrange(3):
            case 0:
                raw[at] = rng.choice(b'{}[]",:0129eE.-\\ntfu\xff\x00')
            case 1:
                del raw[at : at + rng.randrange(1, 40)]
            case _:
                raw[at:at] = raw[at : at + rng.randrange(1, 40)]
    assert_scenario_or_error(bytes(raw))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from([OWNER, "Robin Resident"]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(
                ["name", "kind", "avatars", "regions", "start", "region", "x", "character", "at_s", "faults"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(Scenario.__struct_fields__), JSON))
def test_any_document_gives_a_scenario_or_one_config_error(document: dict[str, object]) -> None:
    """The right keys with any values never break the parser. Spec: SIM-1."""
    assert_scenario_or_error(json.dumps(document).encode())


@given(st.integers(1, 60_000), st.sampled_from([b"[", b'{"a":', b'[{"a":']))
def test_deep_nesting_is_refused_at_any_depth(depth: int, opening: bytes) -> None:
    """No depth overflows anything. Spec: SIM-1."""
    raw = (opening * depth)[:SCENARIO_FILE_MAX_BYTES]
    with pytest.raises(ConfigError):
        parse_scenario(raw, "deep")


@pytest.mark.slow
@given(st.lists(st.sampled_from(["name", "seed", "regions", "avatars"]), min_size=2, max_size=8))
def test_duplicate_keys_are_always_noticed(keys: list[str]) -> None:
    """A key written twice is a problem with its path, wherever the last one would have won. Spec: SIM-1. Fault: 23."""
    document = "{" + ", ".join(f'"{key}": 1' for key in keys) + "}"
    with pytest.raises(ConfigError) as caught:
        parse_scenario(document.encode(), "double")
    doubled = {problem.path for problem in caught.value.problems if problem.what == "is written more than once"}
    assert doubled == {f"$.{key}" for key in keys if keys.count(key) > 1}


def assert_scenario_or_error(raw: bytes) -> None:
    """Check that parsing gives a scenario that can be built, or a `ConfigError` that can be shown."""
    refused: ConfigError | None = None
    scenario: Scenario | None = None
    try:
        scenario = parse_scenario(raw, "fuzz")
    except ConfigError as error:
        refused = error
    assert (scenario is None) == (refused is not None)
    if refused is not None:
        assert refused.problems
        str(refused).encode()
    if scenario is not None:
        numbers = count()
        world = build_world(scenario, rng=random.Random(0), ids=lambda: derived_id("f", "m", str(next(numbers))))
        assert len(world.avatars()) == len(scenario.avatars)


def _shipped_bytes(name: str) -> bytes:
    return (resources.files("gridagent.grid.simulated") / "scenarios" / f"{name}.json").read_bytes()


# --- shipped ---------------------------------------------------------------------------------------


def test_the_shipped_scenarios_are_the_documented_ones() -> None:
    """Six stories come with the package, and the default is one of them. Spec: SIM-1."""
    assert shipped_scenarios() == ("market", "plaza", "plaza-8", "quiet-room", "rough-night", "two-regions")
    assert DEFAULT_SCENARIO in shipped_scenarios()


@pytest.mark.parametrize("name", shipped_scenarios())
def test_each_shipped_scenario_parses_and_names_agent_and_owner_by_uuid(name: str) -> None:
    """A configuration can name both ids for every shipped scenario. Spec: SIM-1, POL-4."""
    scenario = load_shipped(name)
    assert scenario.name == name
    assert scenario.description
    assert [scenario.avatar_id(spec) for spec in scenario.agents()] == [AGENT]
    owner = scenario.avatar("Olive Owner")
    assert isinstance(owner, AvatarSpec)
    assert scenario.avatar_id(owner) == OWNER


def test_the_shipped_scenarios_use_every_character_and_incident() -> None:
    """Nothing the format offers goes without an example. Spec: SIM-1."""
    shipped = [load_shipped(name) for name in shipped_scenarios()]
    characters = {type(part.character) for scenario in shipped for part in (*scenario.avatars, *scenario.objects)}
    assert characters - {type(None)} == set(CHARACTERS)
    incidents = {type(incident) for scenario in shipped for incident in scenario.incidents}
    assert incidents == set(get_args(Incident))


@pytest.mark.parametrize("name", ["nope", "", "../plaza", "plaza.json"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    """A wrong name gives one sentence with the choices, and no path is followed. Spec: SIM-1."""
    with pytest.raises(OperatorError, match=r"choose one of market, plaza, plaza-8"):
        load_shipped(name)


# --- documented ------------------------------------------------------------------------------------


def _documented() -> list[str]:
    blocks = re.findall(r"^```json\n(.*?)^```", HOW_TO.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if '"regions"' in block]


def test_the_examples_of_the_how_to_page_are_scenarios() -> None:
    """What the page shows can be copied and run. Spec: SIM-1."""
    parsed = [parse_scenario(block.encode(), "page") for block in _documented()]
    assert [scenario.name for scenario in parsed] == ["my-yard", "stall", "stormy"]


def test_the_message_of_the_how_to_page_is_the_real_one() -> None:
    """The two mistakes the page speaks of give the message it shows. Spec: SIM-1, CFG-1."""
    yard = json.loads(_documented()[0])
    neighbour = yard["avatars"][1]
    neighbour["start"]["x"] += 100
    neighbour["character"]["every"] = neighbour["character"].pop("every_s")
    with pytest.raises(ConfigError) as caught:
        parse_scenario(json.dumps(yard).encode(), "my-yard.json")
    assert str(caught.value) in HOW_TO.read_text(encoding="utf-8")
