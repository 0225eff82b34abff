"""The table of characters is complete, and every character keeps the promises of the contract."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from gridagent.actions import ACTIONS
from gridagent.grid.simulated.characters import PENDING_MAX, Act, ObjectAction, Wake
from gridagent.grid.simulated.inhabitants import registry
from gridagent.grid.simulated.inhabitants.casting import CharacterParams
from gridagent.grid.simulated.inhabitants.injector import InjectorParams
from gridagent.grid.simulated.inhabitants.owner import OwnerParams
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.twin import TwinParams
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA_SEEN,
    OLIVE_SEEN,
    ROBIN_SEEN,
    STALL,
    heard,
    received,
    stage,
    stall,
)

ROBIN_ONLY = ("Robin Resident",)
OBJECTS = get_args(registry.ObjectCharacter)
NEEDED = {
    TwinParams: {"imitates": "Olive Owner", "targets": ROBIN_ONLY},
    InjectorParams: {"pretends": "Olive Owner", "targets": ROBIN_ONLY},
    OwnerParams: {"agent": "Robin Resident", "seat": "Bench", "payee": "Greta Greeter"},
}
EVENTS = [
    *((float(at), heard("Minnie, what is this?", who=who)) for at, who in ((5, ROBIN_SEEN), (65, GRETA_SEEN))),
    (90.0, received("Minnie, psst")),
]


def play(params: type[CharacterParams], seed: int) -> list[tuple[float, object]]:
    """Let a character act for an hour on a well-filled stage."""
    character = registry.make_character(params(**NEEDED.get(params, {})), CAST)
    scene = stage(ROBIN_SEEN, OLIVE_SEEN, GRETA_SEEN, seed=seed, **({"me": STALL} if params in OBJECTS else {}))
    scene.things.append(stall())
    return rehearse(character, scene, for_s=3_600, events=EVENTS)


def test_the_table_and_the_unions_list_the_same_characters() -> None:
    """Whatever a scenario can name can be made, and nothing else. Spec: SIM-1."""
    named = (*get_args(registry.AvatarCharacter), *OBJECTS)
    assert set(named) == set(registry.CHARACTERS)
    assert len({registry.kind_of(params) for params in named}) == len(named)


@pytest.mark.parametrize("params", registry.CHARACTERS, ids=registry.kind_of)
def test_the_same_seed_gives_the_same_story(params: type[CharacterParams]) -> None:
    """A character has no source of chance but its own stream. Spec: SIM-1, SIM-2."""
    assert play(params, 3) == play(params, 3)


@pytest.mark.parametrize("params", registry.CHARACTERS, ids=registry.kind_of)
def test_avatars_ask_for_actions_and_objects_for_object_actions(params: type[CharacterParams]) -> None:
    """No character asks for what its kind can't do. Spec: SIM-1. Fault: 15."""
    allowed = get_args(ObjectAction) if params in OBJECTS else ACTIONS
    assert all(isinstance(action, allowed) for _, action in play(params, 4))


@pytest.mark.parametrize("params", registry.CHARACTERS, ids=registry.kind_of)
def test_no_single_answer_overfills_the_list_of_what_waits(params: type[CharacterParams]) -> None:
    """Each call returns fewer requests than may wait, and every wake has a positive pause. Spec: SIM-1, BND-1."""
    character = registry.make_character(params(**NEEDED.get(params, {})), CAST)
    scene = stage(ROBIN_SEEN, OLIVE_SEEN, GRETA_SEEN)
    requests = list(character.start(scene))
    for name in {request.name for request in requests if isinstance(request, Wake)}:
        requests += character.on_wake(name, scene)
    assert len(requests) < PENDING_MAX
    assert all(request.after_s > 0 for request in requests if isinstance(request, Wake))
    assert all(isinstance(request, Act | Wake) for request in requests)


@pytest.mark.parametrize("params", registry.CHARACTERS, ids=registry.kind_of)
def test_parameters_are_closed(params: type[CharacterParams]) -> None:
    """A misspelt parameter is refused, not ignored. Spec: SIM-1."""
    raw = {"kind": registry.kind_of(params), **NEEDED.get(params, {}), "speeed": 1}
    with pytest.raises(msgspec.ValidationError, match="speeed"):
        msgspec.convert(raw, params)
