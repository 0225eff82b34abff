"""The primitives every verb is built from."""

from __future__ import annotations

import random

import pytest

from gridagent.actions import Position
from gridagent.errors import OperatorError
from gridagent.events import ActionRefused, AlertShown, Delivered, TeleportFailed
from gridagent.grid.simulated import World, WorldSettings
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.state import State, distance_m
from gridagent.grid.simulated.witness import Witness


def a_state(seed: int, **settings: object) -> State:
    """Return an empty state."""
    return State(random.Random(seed), lambda: "id", WorldSettings(**settings))


def test_streams_depend_on_seed_and_name_only() -> None:
    """Asking in another order, or for more streams, changes none of them.

    Spec: SIM-2
    """
    one, other = a_state(1), a_state(1)
    first, second = one.stream("a").random(), one.stream("b").random()
    assert (other.stream("b").random(), other.stream("a").random()) == (second, first)
    assert a_state(2).stream("a").random() != first


def test_utterances_are_numbered_once() -> None:
    """No two utterances of a world share an id."""
    state = a_state(1)
    assert [state.utterance_id() for _ in range(3)] == ["u1", "u2", "u3"]


def test_references_are_carried_where_the_grid_can() -> None:
    """A grid that cannot carry a nonce echoes none."""
    assert a_state(1).carried("r1") == "r1"
    assert a_state(1, carries_references=False).carried("r1") == ""


def test_answers_to_one_action_go_to_its_actor(world: World, ada: Witness, ben: Witness) -> None:
    """Refusals and acknowledgements name the reference; a failed teleport comes in both its forms.

    Spec: EFX-1
    """
    state, avatar = world._state, world.avatar(ada.avatar_id)
    before = len(ada.events)
    state.refuse(avatar, "r1", Refusal.NO_MONEY)
    state.deliver(avatar, "r2")
    state.fail_teleport(avatar, "r3", Refusal.REGION_DOWN)
    assert list(ada.events)[before:] == [
        ActionRefused(reference="r1", reason="no_money"),
        Delivered(reference="r2"),
        TeleportFailed(reason="region_down"),
        ActionRefused(reference="r3", reason="region_down"),
    ]
    assert ben.saw(ActionRefused) == []


def test_a_region_can_be_told_with_and_without_the_one_it_is_about(world: World, ada: Witness, ben: Witness) -> None:
    """Everybody, or everybody else."""
    state, avatar, plaza = world._state, world.avatar(ada.avatar_id), world.regions()[0]
    state.tell_region(plaza, AlertShown(text="all"))
    state.tell_others(plaza, avatar, AlertShown(text="others"))
    assert [event.text for event in ada.saw(AlertShown)] == ["all"]
    assert [event.text for event in ben.saw(AlertShown)] == ["all", "others"]


def test_who_is_away_has_no_body_and_hears_nothing(world: World, ada: Witness) -> None:
    """Asking for the body of somebody away is a mistake; telling them something is not."""
    away = world.avatar(world.avatars()[1])
    world._state.tell(away, AlertShown(text="hello?"))
    with pytest.raises(OperatorError, match="not logged in"):
        world._state.body(away)


def test_distances_are_rounded_to_centimetres() -> None:
    """Events carry no noise of the last digits."""
    assert distance_m(Position(x=0.0, y=0.0), Position(x=1.0, y=1.0, z=1.0)) == 1.73


def test_unknown_settings_are_refused() -> None:
    """A misspelt setting is a mistake, not a default."""
    with pytest.raises(TypeError):
        WorldSettings(walk_sped=1.0)
