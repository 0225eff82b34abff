"""The words of a scenario: ids that follow from names, and defaults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.visitor import VisitorParams
from gridagent.grid.simulated.scenario_format import AvatarSpec, ObjectSpec, RegionSpec, Scenario, derived_id
from gridagent.ids import AvatarId, ObjectId, is_canonical_uuid

HERE = Spot(region="Home", x=1, y=1)
WRITTEN = AvatarId("10000000-0000-4000-8000-000000000001")
ANNA = AvatarSpec(name="Anna", start=HERE)
BEN = AvatarSpec(name="Ben", start=HERE, avatar_id=WRITTEN, character=VisitorParams())
PINNED = "859bbb6e-2517-8719-9c8e-482453af9275"
BOX = ObjectSpec(name="Box", owner="Ben", position=HERE)
SMALL = Scenario(name="small", regions=(RegionSpec(name="Home"),), avatars=(ANNA, BEN), objects=(BOX,))


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_derived_ids_are_uuids_that_depend_on_names_only(scenario: str, kind: str, name: str) -> None:
    """The same names give the same id in every process and on every machine. Spec: SIM-1, SIM-2."""
    made = derived_id(scenario, kind, name)
    assert is_canonical_uuid(made)
    assert made == derived_id(scenario, kind, name)
    assert made[14] == "8"
    assert made[19] in "89ab"


def test_derived_ids_are_the_ones_the_documentation_promises() -> None:
    """A configuration that names one keeps working: the rule is pinned. Spec: SIM-1."""
    assert derived_id("plaza", "avatar", "Greta Greeter") == PINNED
    assert derived_id("a", "avatar", "b") != derived_id("b", "avatar", "a")
    assert derived_id("a", "avatar", "b") != derived_id("a", "object", "b")


def test_written_ids_win_over_derived_ones() -> None:
    """An explicit id is used as it is. Spec: SIM-1."""
    assert SMALL.avatar_id(BEN) == WRITTEN
    assert SMALL.avatar_id(ANNA) == derived_id("small", "avatar", "Anna")
    assert SMALL.object_id(BOX) == derived_id("small", "object", "Box")
    written = ObjectSpec(name="Box", owner="Ben", position=HERE, object_id=ObjectId(WRITTEN))
    assert SMALL.object_id(written) == WRITTEN


def test_accounts_without_a_character_wait_for_agents() -> None:
    """Inhabitants have characters, agents have none."""
    assert SMALL.agents() == (ANNA,)
    assert SMALL.avatar("Ben") is BEN
    assert SMALL.avatar("Nobody") is None


def test_bounds_hold_for_scenarios_made_by_hand() -> None:
    """A struct over its ceilings cannot be constructed, whoever constructs it. Spec: SIM-1."""
    with pytest.raises(LimitExceeded, match="friendships"):
        Scenario(name="x", regions=(), avatars=(), friendships=(("a", "b"),) * 1_025)
