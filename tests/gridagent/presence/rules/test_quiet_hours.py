"""Quiet hours: only the owner is answered."""

from __future__ import annotations

import pytest

from gridagent.config.presence import PresenceSection
from tests.gridagent.presence.stage import ANN, BOT, MANAGER, OWNER, SISTER, Stage

NIGHT = {"quiet_hours": ("11:00-13:00",)}
"""The stage's wall clock shows noon."""


@pytest.mark.parametrize("who", [ANN, MANAGER, BOT, SISTER])
def test_nobody_but_the_owner_is_answered(who) -> None:
    """In public and by IM, whatever else somebody is exempt from. Spec: PRS-1, PRS-4."""
    stage = Stage(**NIGHT)
    assert stage.say("Robin, hello", who) == "quiet:quiet_hours"
    assert stage.tell("hello", who) == "quiet:quiet_hours"


def test_the_owner_is_always_answered() -> None:
    """Also at night. Spec: PRS-4."""
    stage = Stage(**NIGHT)
    assert stage.say("Robin, hello", OWNER) == "addressed"
    assert stage.tell("hello", OWNER) == "addressed"


def test_outside_the_span_everything_is_as_usual() -> None:
    """By the wall clock, not by how long it runs. Spec: PRS-1."""
    stage = Stage(**NIGHT)
    stage.wall = 46_800.0  # 13:00
    assert stage.say("Robin, hello", ANN) == "addressed"
    stage.wall = 46_799.0
    assert stage.say("Robin, hello again", ANN) == "quiet:quiet_hours"


def test_it_joins_in_nowhere_then() -> None:
    """Not even where the owner talks with somebody else. Spec: PRS-1."""
    stage = Stage(**NIGHT, ambient_probability=1.0, ambient_pause_s=1.0)
    assert stage.say("lovely weather", OWNER) == "quiet:not_addressed"
    stage.wall = 50_000.0
    assert stage.say("lovely weather again today", OWNER) == "ambient"


def test_a_reload_changes_the_hours_at_once() -> None:
    """From the next utterance on. Spec: SUP-8, PRS-1."""
    stage = Stage()
    assert stage.say("Robin, hello", ANN) == "addressed"
    stage.chain.configure(PresenceSection(**NIGHT), ("Robin",))
    assert stage.say("Robin, are you there", ANN) == "quiet:quiet_hours"
