"""Joining in."""

from itertools import pairwise

import pytest

from gridagent.presence.decision import PresenceMode
from tests.gridagent.presence.stage import ANN, BEN, BOT, SISTER, Around, Stage, view

SPEAKERS = (ANN, BEN)


def _overhear(stage, number, after):
    # three words that are never alike, from two people in turn, so that nothing else keeps it quiet
    word = "abcdefghijklmnopqrstuvwxyz"[number % 26] * 3
    return stage.judge(stage.chat(f"{word} {word}x {word}y", SPEAKERS[number % 2]), after=after)


def test_by_default_it_never_joins_in():
    """Spec: PRS-1 — it speaks when it is spoken to."""
    stage = Stage()
    assert not any(_overhear(stage, number, 10.0).answers for number in range(500))


@pytest.mark.parametrize("seed", range(20))
def test_it_never_joins_in_more_often_than_configured(seed):
    """Spec: PRS-1 — pause and number an hour are ceilings over every seed, even at the greatest chance."""
    stage = Stage(seed=seed, ambient_probability=0.5 + seed / 38, ambient_pause_s=60.0, ambient_per_hour=6)
    joined = []
    for number in range(1_500):
        decision = _overhear(stage, number, 7.0)
        if decision.answers:
            assert decision.mode is PresenceMode.AMBIENT
            joined.append(stage.now)
    assert joined
    assert all(later - earlier >= 60.0 for earlier, later in pairwise(joined))
    assert all(sum(start <= at < start + 3_600.0 for at in joined) <= 6 for start in joined)


def test_the_chance_is_the_configured_one():
    """Over many seeds, of utterances that may be joined about one in ten is."""
    joined = sum(_overhear(Stage(seed=seed, ambient_probability=0.1), 0, 1.0).answers for seed in range(1_000))
    assert 70 <= joined <= 130


def test_the_same_seed_joins_in_at_the_same_times():
    """Spec: PRS-1 — chance comes from the seeded stream alone."""
    runs = []
    for _ in range(2):
        stage = Stage(seed=7, ambient_probability=0.2, ambient_pause_s=1.0, ambient_per_hour=120)
        runs.append([_overhear(stage, number, 9.0).answers for number in range(200)])
    assert runs[0] == runs[1]
    assert any(runs[0])


def test_it_joins_neither_bots_nor_what_is_far_away():
    """Spec: PRS-2 — no bot is encouraged."""
    stage = Stage(ambient_probability=1.0)
    assert stage.say("buy my hats today", BOT) == "quiet:not_addressed"
    assert stage.say("buy my hats today", SISTER) == "quiet:not_addressed"
    assert stage.say("what a lovely day", distance_m=21.0) == "quiet:not_addressed"
    stage.around = Around(view(ANN, scripted=True), view(BEN))
    assert stage.say("buy my hats today", ANN) == "quiet:scripted_agent"
    assert stage.say("what a lovely day", BEN) == "ambient"


def test_each_bound_is_exact():
    """Spec: PRS-1 — pause, hour, distance and quiet end where they say."""
    stage = Stage(ambient_probability=1.0, ambient_pause_s=60.0, ambient_per_hour=2, answers_per_minute=600)
    assert stage.say("lovely day", distance_m=20.0) == "ambient"
    assert stage.say("very warm", BEN, after=59.0) == "quiet:not_addressed"
    assert stage.say("rather dry", BEN, after=1.0) == "ambient"
    assert stage.say("some wind", after=3_539.0) == "quiet:not_addressed"
    assert stage.say("clear sky", after=1.0) == "ambient"
    stage.room.ambient_quiet_until = stage.now + 3_600.0
    assert stage.say("cold night", after=3_599.0) == "quiet:not_addressed"
    assert stage.say("bright moon", after=1.0) == "ambient"
