"""What is done for a sick part, how often, and when the connection is given up."""

from __future__ import annotations

import pytest

from live_grid.handover.events import Part
from live_grid.handover.watchdog import (
    ANSWER_S,
    PLANS,
    QUIET_S,
    SETTLE_S,
    WELL_S,
    Picture,
    Remedy,
    WorldWatch,
    remedy_for,
)

WHOLE = Picture(described=True, shows_us=True, has_things=True)


@pytest.mark.parametrize(
    ("part", "remedies"),
    [
        (Part.EVENT_QUEUE, [Remedy.RENEW, Remedy.RENEW, Remedy.RENEW, Remedy.RECONNECT, Remedy.RECONNECT]),
        (Part.WORLD, [Remedy.ASK_AGAIN, Remedy.ASK_AGAIN, Remedy.ASK_AGAIN, Remedy.RECONNECT, Remedy.RECONNECT]),
        (Part.CAPABILITIES, [Remedy.RENEW] * 5),
    ],
)
def test_each_part_has_its_remedy_each_time(part, remedies) -> None:
    """The row of each part, time by time. Spec: LIV-12, SUP-7."""
    assert [remedy_for(part, times) for times in range(1, 6)] == remedies


def test_every_part_has_a_row() -> None:
    """The table is total. Spec: LIV-12."""
    assert set(PLANS) == set(Part)


@pytest.mark.parametrize(
    "picture",
    [
        Picture(described=False, shows_us=True, has_things=True),
        Picture(described=True, shows_us=False, has_things=True),
        Picture(described=False, shows_us=False, has_things=False),
    ],
)
def test_a_picture_that_is_not_whole_is_treated_after_a_while(picture) -> None:
    """A region gets its time to show itself, and each treatment its time to work. Spec: LIV-12, SUP-7."""
    watch = WorldWatch(now=0.0)
    assert watch.look(picture, SETTLE_S - 0.1) is None
    assert not watch.sick
    assert watch.look(picture, SETTLE_S) is Remedy.ASK_AGAIN
    assert watch.sick
    assert watch.look(picture, 2 * SETTLE_S - 0.1) is None
    assert [watch.look(picture, number * SETTLE_S) for number in (2, 3, 4)] == [
        Remedy.ASK_AGAIN,
        Remedy.ASK_AGAIN,
        Remedy.RECONNECT,
    ]
    assert watch.times == 4


def test_being_well_for_long_makes_treatments_forgotten() -> None:
    """A shorter time does not: a part that flaps is given up all the same. Spec: SUP-7."""
    ill = Picture(described=True, shows_us=False, has_things=False)
    watch = WorldWatch(now=0.0)
    watch.look(ill, SETTLE_S)
    assert watch.look(Picture(described=True, shows_us=True, has_things=False), 40.0) is None
    assert not watch.sick
    assert watch.times == 1
    watch.look(Picture(described=True, shows_us=True, has_things=False), 40.0 + WELL_S)
    assert watch.times == 0


def test_a_quiet_region_is_asked_and_believed() -> None:
    """It answers, and is asked again only after it was quiet again. Spec: LIV-12."""
    watch = WorldWatch(now=0.0)
    assert watch.look(WHOLE, QUIET_S - 1.0) is None
    assert watch.look(WHOLE, QUIET_S) is Remedy.ASK_AGAIN
    watch.heard(QUIET_S + 1.0)
    assert watch.look(WHOLE, QUIET_S + 2.0) is None
    assert watch.look(WHOLE, 2 * QUIET_S + 1.0) is Remedy.ASK_AGAIN
    assert not watch.sick


def test_a_region_that_ceases_to_answer_is_treated() -> None:
    """It answered before, so its silence says something. Spec: LIV-12, SUP-7."""
    watch = WorldWatch(now=0.0)
    watch.look(WHOLE, QUIET_S)
    watch.heard(QUIET_S + 1.0)
    asked = 2 * QUIET_S + 1.0
    assert watch.look(WHOLE, asked) is Remedy.ASK_AGAIN
    assert watch.look(WHOLE, asked + ANSWER_S) is None
    now = asked + ANSWER_S + 0.1
    assert watch.look(WHOLE, now) is Remedy.ASK_AGAIN
    assert watch.sick
    watch.heard(now + 1.0)
    assert watch.look(WHOLE, now + 5.0) is None
    assert not watch.sick


def test_a_grid_that_never_answers_such_questions_is_not_sick() -> None:
    """And neither is one that has nothing we could ask for. Spec: LIV-12."""
    watch = WorldWatch(now=0.0)
    asked = [at for at in range(5, 2_000, 5) if watch.look(WHOLE, float(at)) is Remedy.ASK_AGAIN]
    assert asked == list(range(120, 2_000, 240))
    assert not watch.sick
    empty = WorldWatch(now=0.0)
    assert all(
        empty.look(Picture(described=True, shows_us=True, has_things=False), float(at)) is None
        for at in range(5, 1_000, 5)
    )


def test_an_answer_that_comes_late_proves_nothing() -> None:
    """It may have been said for another reason. Spec: LIV-12."""
    watch = WorldWatch(now=0.0)
    watch.look(WHOLE, QUIET_S)
    watch.heard(QUIET_S + ANSWER_S + 1.0)
    again = 2 * QUIET_S + ANSWER_S + 1.0
    assert watch.look(WHOLE, again) is Remedy.ASK_AGAIN
    assert watch.look(WHOLE, again + 60.0) is None
    assert not watch.sick


def test_an_arrival_begins_anew() -> None:
    """Another region gets its own time to show itself. Spec: LIV-12."""
    watch = WorldWatch(now=0.0)
    ill = Picture(described=False, shows_us=False, has_things=False)
    watch.arrived(25.0)
    assert watch.look(ill, 54.0) is None
    assert watch.look(ill, 55.0) is Remedy.ASK_AGAIN
