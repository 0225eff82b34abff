"""What actions act with."""

from __future__ import annotations

from gridagent.events import Delivered
from tests.live_grid.backend.hands import BOX, Hands, text


def test_a_stage_finds_things_and_places() -> None:
    """Only what can be named on the wire; a point on the border lies inside."""
    hands = Hands()
    stage = hands.stage
    assert stage.thing(text(BOX)) is None
    thing = hands.thing()
    assert stage.thing(text(BOX)) is thing
    hands.world.here.call(hands.avatar(), thing.local_id)
    assert stage.thing(text(BOX)) is None
    assert stage.inside((0.0, 256.0, 0.0))
    assert not stage.inside((-0.1, 0.0, 0.0))
    assert not stage.inside((1.0, 256.1, 0.0))


def test_what_is_evident_is_taken_once_and_time_is_a_nudge() -> None:
    """Whoever asks for the time is about to change something."""
    hands = Hands()
    hands.stage.show(Delivered(reference="r1"))
    assert hands.stage.take_evident() == [Delivered(reference="r1")]
    assert hands.stage.take_evident() == []
    before = hands.nudged
    assert hands.stage.now() == hands.grid.now
    assert hands.nudged == before + 1
    assert hands.stage.new_id() != hands.stage.new_id()
    assert hands.stage.me is hands.session.me
