"""Whether a moment is a quiet one, beside an oracle that counts minutes."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import ConfigError
from gridagent.presence.quiet_hours import QuietHours

ZONES = (
    "Europe/Zurich",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
)
CLOCKS = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)]


def at(zone: str, *when: int, fold: int = 0) -> float:
    """A local moment as seconds of the wall clock."""
    return datetime(*when, tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def minutes_in(begins: str, ends: str) -> set[str]:
    """Every clock face of a span, one minute after the other."""
    faces, place = set(), CLOCKS.index(begins)
    while CLOCKS[place] != ends:
        faces.add(CLOCKS[place])
        place = (place + 1) % len(CLOCKS)
    return faces


@given(
    spans=st.lists(st.lists(st.sampled_from(CLOCKS), min_size=2, max_size=2, unique=True), max_size=3),
    zone=st.sampled_from(ZONES),
    wall=st.floats(min_value=0.0, max_value=4e9),
)
def test_it_agrees_with_whoever_counts_minutes_by_the_wall(spans, zone, wall) -> None:
    """In every zone and at every moment, days with a change of the clock among them. Spec: PRS-1. Fault: 30."""
    faces = set().union(*(minutes_in(*span) for span in spans))
    shown = datetime.fromtimestamp(wall, ZoneInfo(zone)).strftime("%H:%M")
    assert QuietHours([f"{begins}-{ends}" for begins, ends in spans], zone).hold(wall) is (shown in faces)


def test_a_span_over_midnight_holds_on_both_sides_of_it() -> None:
    """It begins in the evening and ends in the morning, the end not in it. Spec: PRS-1."""
    hours = QuietHours(["23:00-07:00"], "Europe/Zurich")
    day = ("Europe/Zurich", 2026, 6, 10)
    assert [hours.hold(at(*day, *time)) for time in ((22, 59), (23, 0), (0, 0), (6, 59), (7, 0))] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_daylight_saving_moves_the_span_with_the_wall() -> None:
    """Seven is seven in winter and summer; the hour that comes twice is quiet twice. Spec: PRS-1. Fault: 30."""
    hours = QuietHours(["02:00-03:00"], "Europe/Zurich")
    zone = "Europe/Zurich"
    assert hours.hold(at(zone, 2026, 10, 25, 2, 30, fold=0))
    assert hours.hold(at(zone, 2026, 10, 25, 2, 30, fold=1))
    before = at(zone, 2026, 3, 29, 1, 59)
    assert not hours.hold(before)
    assert not hours.hold(before + 60.0)  # the wall shows three
    assert QuietHours(["00:00-24:00"], zone).hold(before)


def test_without_spans_nothing_is_quiet_and_an_unknown_zone_is_refused() -> None:
    """The loader refuses it too; this is for who has no loader. Spec: PRS-1, CFG-1."""
    assert not QuietHours((), "UTC").hold(0.0)
    with pytest.raises(ConfigError, match="not known on this machine"):
        QuietHours((), "Mars/Base")
