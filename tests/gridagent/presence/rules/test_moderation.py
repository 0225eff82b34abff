"""Floods and blocked phrases."""

import tracemalloc

import pytest

from gridagent.presence.peers import PEERS_MAX
from tests.gridagent.presence.stage import ANN, BEN, BOT, MANAGER, OWNER, SISTER, Stage, person


def test_a_flood_is_met_with_silence_until_it_has_stopped():
    """Spec: PRS-1 — a third of a minute's messages may come at once; then the pause lasts as long as the flood."""
    stage = Stage(messages_per_minute=30, flood_pause_s=60.0)
    first = [stage.say(f"Robin, thing {word}", after=0.1) for word in "abcdefghij"]
    assert "quiet:flood" not in first
    assert stage.say("Robin, thing k", after=0.1) == "quiet:flood"
    assert stage.say("Robin, are you there", after=59.0) == "quiet:flood"
    assert stage.say("Robin, do you hear me", after=2.0) == "addressed"


def test_who_goes_on_is_ignored_on():
    """Each message over the rate renews the pause."""
    stage = Stage(messages_per_minute=6, flood_pause_s=60.0)
    codes = [stage.say(f"Robin, {number}", after=2.0) for number in range(300)]
    assert codes[10:] == ["quiet:flood"] * 290


@pytest.mark.slow
def test_a_flood_of_ten_thousand_costs_little_and_the_owner_is_still_answered():
    """Spec: PRS-1, PRS-4 — half by one sender, half by as many; memory stays bounded."""
    stage = Stage()
    for number in range(1_000):
        stage.say(f"Robin, {number}", person(10_000 + number % 2), after=0.001)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(5_000):
            stage.say(f"Robin, {number}", ANN, after=0.001)
        for number in range(5_000):
            stage.say(f"Robin, {number}", person(20_000 + number), after=0.001)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert stage.chain.people == PEERS_MAX
    assert grown < 4 * 1024 * 1024
    assert stage.say("Robin, come here", OWNER, after=0.001) == "addressed"
    assert stage.tell("come here", OWNER, after=0.001) == "addressed"
    assert stage.say("Robin, hi", MANAGER, after=0.001) == "addressed"


def test_a_flood_by_one_keeps_no_other_from_being_heard():
    """Each person has a rate of their own."""
    stage = Stage()
    for number in range(100):
        stage.say(f"Robin, {number}", ANN, after=0.01)
    assert stage.say("Robin, hello there", BEN) == "addressed"


def test_exempt_from_the_rate_are_overseers_alone():
    """Spec: PRS-4 — our own avatars and declared bots may not flood."""
    for who, exempt in ((OWNER, True), (MANAGER, True), (BOT, False), (SISTER, False), (ANN, False)):
        stage = Stage()
        codes = {stage.say(f"Robin, thing {number}", who, after=0.01) for number in range(40)}
        assert ("quiet:flood" in codes) is not exempt


@pytest.mark.parametrize("text", ["buy Cheap Linden now", "CHEAP\u200b linden!", "ｃｈｅａｐ ｌｉｎｄｅｎ"])
def test_a_blocked_phrase_is_found_in_any_case_and_dress(text):
    """Spec: PRS-1 — as whole words, after folding."""
    stage = Stage(blocked_phrases=("cheap linden", "slots"))
    assert stage.say(f"Robin, {text}") == "quiet:blocked_phrase"
    assert stage.say("Robin, cheaply, Lindenberg") == "addressed"
    assert stage.say("Robin, cheap linden", OWNER) == "addressed"
    assert stage.say("Robin, cheap linden", BOT) == "addressed"
