"""Addressed or overheard."""

import pytest

from gridagent.authority import Origin
from tests.gridagent.presence.stage import ANN, BEN, ME, OWNER, Around, Stage, view


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Robin, hi", "addressed"),
        ("has anybody seen ROBIN?", "addressed"),
        ("hey @robin!", "addressed"),
        ("R\u200bo\u2060bin: hi", "addressed"),
        ("ＲＯＢＩＮ hi", "addressed"),
        ("hello lady red", "addressed"),
        ("hello red lady", "quiet:not_addressed"),
        ("a lady, red with anger", "addressed"),
        ("Robinson is here", "quiet:not_addressed"),
        ("robins sing", "quiet:not_addressed"),
        ("R\u043ebin, hi", "quiet:not_addressed"),
        ("what a day", "quiet:not_addressed"),
    ],
)
def test_a_name_or_alias_as_a_word_of_its_own_addresses(text, code):
    """Spec: PRS-1 — in any case and dress, never inside another word, and not in look-alike letters."""
    assert Stage().say(text) == code


def test_an_im_is_always_for_the_avatar():
    """Spec: PRS-1 — nobody else could be meant."""
    decision = (stage := Stage()).judge(stage.im("what a day"))
    assert decision.code == "addressed"
    assert decision.origin is Origin.DIRECT_IM


def test_who_is_alone_with_the_avatar_talks_to_it():
    """Spec: PRS-1 — one on one, near by; a third person, or distance, ends it."""
    stage = Stage(who=(ANN,))
    stage.around = Around(view(ME), view(ANN), view(BEN, distance_m=40.0))
    assert stage.say("hi there") == "addressed:one_on_one"
    assert stage.say("and how are you", distance_m=12.0) == "addressed:one_on_one"
    assert stage.say("and how are you now", distance_m=25.0) == "quiet:not_addressed"
    stage.around = Around(view(ANN), view(BEN, distance_m=10.0))
    assert stage.say("what a day it is") == "quiet:not_addressed"


def test_what_follows_the_avatars_words_is_a_reply_until_somebody_else_speaks():
    """Spec: PRS-1 — within the window, and only by whom it spoke to."""
    stage = Stage(reply_window_s=45.0)
    stage.chain.replied(ANN, "How are you, Ann?", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("fine, thanks for asking") == "addressed:reply"
    assert stage.say("and what do you do", after=30.0) == "addressed:reply"
    assert stage.say("so quiet today", after=20.0) == "quiet:not_addressed"
    stage.chain.replied(ANN, "It is.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("hello all of you", BEN) == "quiet:not_addressed"
    assert stage.say("hello yourself") == "quiet:not_addressed"


def test_a_reply_comes_from_near_and_to_public_words():
    """Words in an IM open no public conversation."""
    stage = Stage()
    stage.chain.replied(ANN, "Hello.", Origin.DIRECT_IM, stage.now)
    assert stage.say("lovely morning") == "quiet:not_addressed"
    stage.chain.replied(ANN, "Hello.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("is it not", distance_m=30.0) == "quiet:not_addressed"


def test_what_begins_with_the_name_of_somebody_near_is_theirs():
    """A mention is no call, and one on one ends where another is called."""
    stage = Stage()
    assert stage.say("Ben, have you met Robin?") == "quiet:to_another"
    assert stage.say("hey Ben, have you met Robin?") == "quiet:to_another"
    assert stage.say("Robin, have you met Ben?") == "addressed"
    assert stage.say("Zoe, have you met Robin?") == "addressed"
    assert stage.say("Ann is my name, Robin") == "addressed"
    stage.chain.replied(ANN, "Pleased to meet you.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("Ben, come over") == "quiet:to_another"
    assert stage.tell("Ben was here with Robin") == "addressed"


def test_who_takes_a_common_word_for_a_name_keeps_nobody_from_being_heard():
    """A mark has to follow the other name where the avatar is named as well."""
    stage = Stage()
    stage.around = Around(view(ANN), view(BEN, name="What Ever"))
    assert stage.say("what time is it, Robin?") == "addressed"
    assert stage.say("What, is that Robin over there?") == "quiet:to_another"
    stage.chain.replied(ANN, "Pleased to meet you.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("what come over here") == "quiet:to_another"


def test_who_sees_nobody_is_not_alone_with_the_speaker():
    """Before the grid has told who is near, nothing without a name is taken as meant."""
    stage = Stage()
    stage.around = Around()
    assert stage.say("hi there") == "quiet:not_addressed"
    stage.around = Around(view(ANN, distance_m=30.0))
    assert stage.say("hello there") == "quiet:not_addressed"


def test_a_greeting_alone_calls_nobody_by_name():
    """Nameless people near by, and words that are all greeting, are no trap."""
    stage = Stage()
    stage.around = Around(view(BEN, name="  "))
    stage.chain.replied(ANN, "Pleased to meet you.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("hello") == "addressed:reply"
    assert stage.say("nice day") == "addressed:reply"


def test_what_is_said_too_far_away_is_not_answered():
    """Spec: PRS-4 — the owner's shout is."""
    stage = Stage(listen_m=50.0)
    assert stage.say("ROBIN!", distance_m=50.0) == "addressed"
    assert stage.say("ROBIN! HELLO!", distance_m=50.1) == "quiet:too_far"
    assert stage.say("ROBIN!", OWNER, distance_m=90.0) == "addressed"


GREETINGS = (
    "and",
    "dear",
    "evening",
    "good",
    "hallo",
    "hello",
    "hey",
    "hi",
    "morning",
    "oh",
    "ok",
    "okay",
    "so",
    "thanks",
)


@pytest.mark.parametrize("greeting", GREETINGS)
def test_a_greeting_before_a_name_is_passed_over(greeting):
    """Hello Ben calls Ben, and hello Robin the avatar."""
    stage = Stage()
    assert stage.say(f"{greeting} Ben, have you met Robin?") == "quiet:to_another"
    assert stage.say(f"{greeting} Robin, have you met Ben?") == "addressed"


def test_who_bears_the_avatars_name_does_not_take_its_calls():
    """Spec: PRS-1 — another Robin near by changes nothing for who calls Robin."""
    stage = Stage()
    stage.around = Around(view(ANN), view(BEN, name="Robin Hood"))
    assert stage.say("Robin, have you seen my hat?") == "addressed"


@pytest.mark.parametrize("mark", [",", ":", ";", "!", " -", " \N{EN DASH}"])
def test_a_mark_behind_a_name_makes_it_a_call(mark):
    """Written as people write to one of many."""
    assert Stage().say(f"Ben{mark} have you met Robin?") == "quiet:to_another"


def test_each_distance_belongs_to_what_it_bounds():
    """At the bound is within it: hearing, being alone, and the time for a reply."""
    stage = Stage(hearing_m=20.0, reply_window_s=45.0)
    stage.around = Around(view(ANN, distance_m=20.0))
    assert stage.say("how are you today", distance_m=20.0) == "addressed:one_on_one"
    stage.around = Around(view(ANN), view(BEN, distance_m=20.0))
    assert stage.say("lovely weather we have") == "quiet:not_addressed"
    stage.chain.replied(ANN, "Yes.", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("it rained before, though", after=45.0) == "addressed:reply"
