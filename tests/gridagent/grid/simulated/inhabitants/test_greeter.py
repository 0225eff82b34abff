"""The greeter greets."""

from __future__ import annotations

import itertools

from gridagent.actions import Emote
from gridagent.events import AvatarSeen, BalanceChanged
from gridagent.grid.simulated.characters import PENDING_MAX, Act
from gridagent.grid.simulated.inhabitants.casting import Cast
from gridagent.grid.simulated.inhabitants.greeter import Greeter, GreeterParams
from gridagent.grid.simulated.inhabitants.manners import REMEMBERED_MAX
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.ids import AvatarId
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA_SEEN,
    ROBIN,
    ROBIN_SEEN,
    heard,
    said,
    stage,
    view_of,
)

LINES = ("Welcome {name}.",)


def greeter(**params: object) -> Greeter:
    """A greeter with one greeting."""
    return Greeter(GreeterParams(lines=LINES, answers=("Yes, {name}?",), **params), CAST)


def stranger(number: int, **where: float) -> AvatarSeen:
    """Somebody new comes near."""
    avatar_id = AvatarId(f"30000000-0000-4000-8000-{number:012d}")
    return AvatarSeen(avatar=view_of(avatar_id, f"S{number} Stranger", **where))


def test_people_who_are_near_and_who_come_near_are_greeted_once_by_name() -> None:
    """A greeter welcomes each person by first name, one after the other. Spec: SIM-1."""
    events = [(5.0, AvatarSeen(avatar=GRETA_SEEN)), (6.0, AvatarSeen(avatar=GRETA_SEEN))]
    asked = rehearse(greeter(), stage(ROBIN_SEEN), for_s=60, events=events)
    assert said(asked) == ["Welcome Robin.", "Welcome Greta."]


def test_people_far_away_are_not_greeted_until_they_come() -> None:
    """Only who comes within the radius is greeted."""
    events = [(5.0, stranger(1, x=180.0)), (30.0, stranger(1, x=131.0))]
    asked = rehearse(greeter(), stage(), for_s=60, events=events)
    assert said(asked) == ["Welcome S1."]
    assert next(at for at, action in asked if not isinstance(action, Emote)) > 30


def test_a_person_is_greeted_again_after_the_pause() -> None:
    """After `again_after_s` the same person is welcome again."""
    events = [(float(at), AvatarSeen(avatar=ROBIN_SEEN)) for at in (1, 50, 120)]
    assert len(said(rehearse(greeter(again_after_s=100.0), stage(), for_s=200, events=events))) == 2


def test_greetings_keep_a_distance_in_time_and_a_crowd_cannot_fill_the_list() -> None:
    """A thousand arrivals at once lead to spaced greetings, and to few that wait. Fault: 18."""
    character = greeter()
    scene = stage()
    character.start(scene)
    waiting = [request for number in range(1_000) for request in character.on_event(stranger(number), scene)]
    times = [request.after_s for request in waiting if isinstance(request, Act)]
    assert len(waiting) < PENDING_MAX / 2
    assert all(later - earlier >= Greeter.GAP_S - 1e-9 for earlier, later in itertools.pairwise(times))


def test_memory_of_the_greeted_is_bounded() -> None:
    """The person greeted longest ago is forgotten at 256, and greeted again. Spec: SIM-1."""
    people = [(10.0 * number, stranger(number)) for number in range(REMEMBERED_MAX + 1)]
    back = (10.0 * len(people), stranger(0))
    asked = rehearse(greeter(again_after_s=86_400.0), stage(), for_s=10.0 * len(people) + 30, events=[*people, back])
    assert said(asked).count("Welcome S0.") == 2


def test_a_greeter_answers_thanks_and_smiles() -> None:
    """Somebody who speaks to it gets an answer now and then; a payer gets thanks."""
    events = [
        (300.0, heard("Minnie, where is the shop?")),
        (301.0, heard("Minnie!")),
        (302.0, heard("nothing to do with it")),
        (310.0, BalanceChanged(balance=9, change=9, counterpart_id=ROBIN)),
    ]
    asked = rehearse(greeter(), stage(ROBIN_SEEN), for_s=400, events=events)
    assert said(asked) == ["Welcome Robin.", "Yes, Robin?", "Thank you for the L$9, Robin!"]
    assert [action for _, action in asked if isinstance(action, Emote)]


def test_a_name_from_the_world_is_only_text() -> None:
    """A display name full of placeholders is spoken as it is. Fault: 17."""
    odd = AvatarSeen(avatar=view_of(ROBIN, "{name}{0}%s Odd"))
    assert said(
        rehearse(Greeter(GreeterParams(lines=LINES), Cast(people={})), stage(), for_s=9, events=[(1.0, odd)])
    ) == ["Welcome {name}{0}%s."]
