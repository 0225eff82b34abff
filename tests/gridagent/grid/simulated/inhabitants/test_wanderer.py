"""The wanderer wanders."""

from __future__ import annotations

import itertools

from gridagent.actions import Emote, Position, WalkTo
from gridagent.events import BalanceChanged
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.wanderer import Wanderer, WandererParams
from tests.gridagent.grid.simulated.inhabitants.company import CAST, ROBIN, ROBIN_SEEN, of_kind, said, stage


def test_a_wanderer_walks_around_the_place_where_it_began() -> None:
    """Every walk ends within the radius of its first position. Spec: SIM-1."""
    scene = stage()
    character = Wanderer(WandererParams(radius_m=10.0, every_s=20.0), CAST)
    walks = of_kind(rehearse(character, scene, for_s=3_600), WalkTo)
    assert 100 < len(walks) < 400
    assert all(abs(walk.position.x - 128) <= 10 and abs(walk.position.y - 128) <= 10 for walk in walks)


def test_a_wanderer_that_returns_after_a_restart_keeps_its_home() -> None:
    """Logging in elsewhere does not move the middle of its ways."""
    scene = stage()
    character = Wanderer(WandererParams(radius_m=10.0), CAST)
    rehearse(character, scene, for_s=10)
    scene.position = Position(x=10.0, y=10.0, z=22.0)
    assert all(walk.position.x >= 118 for walk in of_kind(rehearse(character, scene, for_s=600), WalkTo))


def test_remarks_follow_their_share_and_never_repeat_at_once() -> None:
    """A share of 1 remarks on every walk, a share of 0 on none."""
    talker = rehearse(Wanderer(WandererParams(remark_share=1.0), CAST), stage(), for_s=600)
    lines = said(talker)
    assert not of_kind(talker, Emote)
    assert all(one != other for one, other in itertools.pairwise(lines))
    silent = rehearse(Wanderer(WandererParams(remark_share=0.0), CAST), stage(), for_s=600)
    assert said(silent) == []
    assert of_kind(silent, Emote)


def test_a_wanderer_thanks_for_money() -> None:
    """A gift is answered."""
    gift = BalanceChanged(balance=1, change=1, counterpart_id=ROBIN)
    character = Wanderer(WandererParams(remark_share=0.0), CAST)
    assert said(rehearse(character, stage(ROBIN_SEEN), for_s=10, events=[(1.0, gift)])) == [
        "Thank you for the L$1, Robin!"
    ]
