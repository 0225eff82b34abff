"""Accounts, bodies and where they are."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.errors import LimitExceeded
from gridagent.events import SpeakerKind
from gridagent.grid.simulated import Account, World
from gridagent.grid.simulated.avatars import Body, Walk
from gridagent.grid.simulated.timers import Timers
from gridagent.grid.simulated.witness import Witness


@pytest.mark.parametrize(
    ("now", "x"), [(5.0, 10.0), (10.0, 10.0), (12.5, 15.0), (15.0, 20.0), (20.0, 30.0), (99.0, 30.0)]
)
def test_a_walking_body_is_where_its_segment_says(world: World, now: float, x: float) -> None:
    """Before the start it stands at the start, after the end at the end, and in between exactly between.

    Spec: SIM-1
    """
    body = Body(region=world.regions()[0], position=Position(x=10.0, y=0.0))
    body.walk = Walk(
        start=Position(x=10.0, y=0.0),
        target=Position(x=30.0, y=0.0),
        started_at=10.0,
        ends_at=20.0,
        reference="",
        timer=Timers().at(20.0, list),
    )
    assert body.position_at(now).x == pytest.approx(x)


def test_a_body_is_there_exactly_while_somebody_is_logged_in(world: World, ada: Witness) -> None:
    """Account and body part at the logout."""
    avatar = world.avatar(ada.avatar_id)
    assert (avatar.online, avatar.body is not None) == (True, True)
    ada.leave()
    assert (avatar.online, avatar.body is not None) == (False, False)


def test_others_see_name_place_and_whether_it_is_a_bot(world: World) -> None:
    """The scripted-agent flag is visible, and words name their speaker."""
    bot = world.avatar(world.add_avatar(Account(name="Robbie", scripted_agent=True)))
    view = bot.view(Position(x=1.0, y=2.0), 3.0)
    assert (view.name, view.scripted_agent, view.distance_m) == ("Robbie", True, 3.0)
    assert bot.speaker().kind is SpeakerKind.AVATAR
    assert bot.speaker(SpeakerKind.SELF).id == bot.avatar_id


def test_names_are_bounded() -> None:
    """A name longer than a grid's is refused.

    Spec: BND-1
    """
    with pytest.raises(LimitExceeded):
        Account(name="x" * 129)
