"""Requests to be quiet."""

import pytest

from tests.gridagent.presence.stage import ANN, BEN, MANAGER, OWNER, Stage


def test_who_asks_for_quiet_gets_it_for_the_time():
    """Spec: PRS-1 — "be quiet for ten minutes"."""
    stage = Stage()
    assert stage.say("Robin, be quiet for ten minutes") == "quiet:hushed"
    assert stage.say("Robin, hello", after=598.0) == "quiet:asked_to_be_quiet"
    assert stage.say("Robin, hello", after=3.0) == "addressed"


def test_others_are_still_answered_but_nobody_is_joined():
    """A stranger cannot silence the avatar for everybody; it only ceases to join in."""
    stage = Stage(ambient_probability=1.0)
    assert stage.say("Robin, shut up") == "quiet:hushed"
    assert stage.say("Robin, hello", BEN) == "addressed"
    assert stage.say("what a day", BEN) == "quiet:not_addressed"
    assert stage.say("what a day", BEN, after=601.0) == "ambient"


@pytest.mark.parametrize("overseer", [OWNER, MANAGER])
def test_an_overseer_asks_for_everybody_and_is_answered_on(overseer):
    """Spec: PRS-4 — the owner's and the estate manager's request holds for all."""
    stage = Stage(ambient_probability=1.0)
    assert stage.say("Robin, please be quiet for 20 minutes", overseer) == "quiet:hushed"
    assert stage.say("Robin, hello", BEN) == "quiet:asked_to_be_quiet"
    assert stage.say("what a day", BEN) == "quiet:asked_to_be_quiet"
    assert stage.tell("hello", BEN) == "addressed"
    assert stage.say("Robin, come here", OWNER) == "addressed"
    assert stage.say("Robin, you may talk again", overseer) == "addressed"
    assert stage.say("Robin, hello there", BEN) == "addressed"


def test_a_stranger_ends_only_what_they_asked_for():
    """Neither somebody else's quiet nor an overseer's ends by a stranger's word."""
    stage = Stage(ambient_probability=1.0)
    stage.say("Robin, be quiet", ANN)
    stage.say("Robin, be quiet for two minutes", BEN)
    assert stage.say("Robin, you can talk again", ANN) == "addressed"
    assert stage.say("Robin, hello", BEN) == "quiet:asked_to_be_quiet"
    assert stage.say("lovely fountain", ANN) == "quiet:not_addressed"
    assert stage.say("lovely fountain", ANN, after=120.0) == "ambient"
    stage.say("Robin, be quiet", OWNER)
    assert stage.say("Robin, wake up", ANN) == "quiet:asked_to_be_quiet"


def test_quiet_asked_for_in_an_im_holds_everywhere_and_in_public_only_there():
    """Who does not want to be written to does not want to be spoken to either."""
    stage = Stage()
    assert stage.tell("be quiet", ANN) == "quiet:hushed"
    assert stage.tell("hello", ANN) == "quiet:asked_to_be_quiet"
    assert stage.say("Robin, hello", ANN) == "quiet:asked_to_be_quiet"
    assert stage.say("Robin, be quiet", BEN) == "quiet:hushed"
    assert stage.tell("hello", BEN) == "addressed"


def test_only_words_for_the_avatar_quieten_it():
    """Two people who quarrel beside it are not heard as a request; one who asks everybody is."""
    stage = Stage()
    assert stage.say("shut up", ANN) == "quiet:not_addressed"
    assert stage.say("Robin, hello", ANN) == "addressed"
    assert stage.say("quiet please, everyone", ANN) == "quiet:hushed"
    assert stage.say("Robin, hello", ANN) == "quiet:asked_to_be_quiet"


def test_quiet_has_bounds_in_both_directions():
    """A thousand hours are cut to the longest time; zero seconds are one. Spec: PRS-1."""
    stage = Stage(quiet_max_s=100.0)
    stage.say("Robin, be quiet for 1000 hours")
    assert stage.say("Robin, hello", after=99.0) == "quiet:asked_to_be_quiet"
    assert stage.say("Robin, hello", after=2.0) == "addressed"
    assert stage.say("Robin, be quiet for 0 seconds") == "quiet:hushed"
    assert stage.say("Robin, oh well", after=0.5) == "quiet:asked_to_be_quiet"
