"""What all characters do alike holds its bounds."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Emote, Position, Say, SendIm
from gridagent.events import BalanceChanged
from gridagent.grid.simulated.characters import ObjectIm, ObjectSay
from gridagent.grid.simulated.inhabitants import manners
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA,
    GRETA_SEEN,
    OLIVE_SEEN,
    ROBIN,
    ROBIN_SEEN,
    stage,
)


@given(st.text(min_size=1, max_size=3_000))
def test_speech_is_always_within_what_the_grid_carries(text: str) -> None:
    """Whatever is filled in, every utterance stays within its byte limit. Spec: SIM-1. Fault: 17."""
    acts = [manners.say(text), manners.im(ROBIN, text), manners.object_say(text), manners.object_im(ROBIN, text)]
    for act in acts:
        assert isinstance(act.action, Say | SendIm | ObjectSay | ObjectIm)
        assert 1 <= len(act.action.text.encode()) <= 1_023
    gesture = manners.emote(text).action
    assert isinstance(gesture, Emote)
    assert len(gesture.text.encode()) <= 1_019


@given(st.integers(), st.floats(min_value=0.5, max_value=1e4))
def test_pauses_vary_by_two_fifths(seed: int, seconds: float) -> None:
    """A pause is 0.6 to 1.4 times its mean. Spec: SIM-2."""
    assert 0.6 * seconds <= manners.around(random.Random(seed), seconds) <= 1.4 * seconds


def test_the_last_choice_is_not_repeated_while_there_is_another() -> None:
    """Nobody says the same line twice running, unless it is the only one."""
    rng = random.Random(1)
    assert {manners.pick(rng, ("a", "b"), but="a") for _ in range(50)} == {"b"}
    assert manners.pick(rng, ("a",), but="a") == "a"


def test_a_name_is_filled_in_as_plain_text() -> None:
    """A name that looks like a format field stays text. Fault: 17."""
    assert manners.fill("Hi {name}!", "{0.__class__}") == "Hi {0.__class__}!"
    assert manners.first_name("Robin Resident") == "Robin"
    assert manners.first_name("  ") == "  "


@given(st.integers(), st.floats(min_value=0, max_value=64), st.floats(min_value=1, max_value=500), st.integers(1, 64))
def test_walks_end_inside_the_region(seed: int, start: float, radius_m: float, size_m: int) -> None:
    """Nobody walks out of a region, however small it is. Spec: SIM-1."""
    scene = stage(seed=seed)
    scene.region_size_m = size_m
    point = manners.somewhere_near(Position(x=start, y=start, z=22.0), radius_m, scene)
    assert 1 <= point.x <= max(size_m - 1, 1)
    assert 1 <= point.y <= max(size_m - 1, 1)


def test_presence_is_told_by_id_and_in_the_order_asked_for() -> None:
    """People are known by id; who is not there is left out. Fault: 14."""
    impostor = manners.present(CAST.persons(("Olive Owner",)), stage(ROBIN_SEEN))
    assert impostor == []
    wanted = CAST.persons(("Olive Owner", "Robin Resident"))
    assert manners.present(wanted, stage(ROBIN_SEEN, OLIVE_SEEN)) == [OLIVE_SEEN, ROBIN_SEEN]


def test_payers_are_thanked_when_they_are_there() -> None:
    """A gift of money is answered by name; spending and unseen payers are not."""
    scene = stage(ROBIN_SEEN, GRETA_SEEN)
    paid = BalanceChanged(balance=10, change=5, counterpart_id=GRETA)
    assert [act.action for act in manners.thanks(paid, scene)] == [Say(text="Thank you for the L$5, Greta!")]
    assert manners.thanks(BalanceChanged(balance=5, change=-5, counterpart_id=GRETA), scene) == []
    assert manners.thanks(paid, stage(ROBIN_SEEN)) == []


def test_memory_of_people_is_bounded() -> None:
    """The person dealt with longest ago is forgotten first, at 256. Spec: SIM-1."""
    recently = manners.Recently()
    for number in range(manners.REMEMBERED_MAX + 1):
        assert recently.due(f"p{number}", 10.0 * number, 1e9)
    later = 10.0 * manners.REMEMBERED_MAX + 5.0
    assert not recently.due("p1", later, 1e9)
    assert recently.due("p0", later, 1e9)


def test_a_crowd_gets_one_answer_a_second() -> None:
    """Many people at once cannot fill a character's list of requests. Fault: 18."""
    recently = manners.Recently()
    answered = [number for number in range(100) if recently.due(f"p{number}", number / 100, 5.0)]
    assert answered == [0]
    assert recently.due("p0", 5.0, 5.0)
