"""The end of the chain."""

from tests.gridagent.presence.stage import MANAGER, OWNER, Stage, person


def test_a_crowd_of_new_faces_gets_so_many_answers_a_minute():
    """Spec: PRS-2 — all together, while overseers are answered on."""
    stage = Stage(answers_per_minute=10)
    codes = [stage.say("Robin, hi", person(100 + number), after=0.1) for number in range(50)]
    assert codes.count("addressed") == 10
    assert codes.count("quiet:crowded") == 40
    assert stage.say("Robin, hi", OWNER, after=0.1) == "addressed"
    assert stage.say("Robin, hi", MANAGER, after=0.1) == "addressed"
    later = [stage.say("Robin, hi", person(200 + number), after=6.0) for number in range(10)]
    assert later.count("addressed") == 10


def test_joining_in_counts_as_well():
    """An answer is an answer."""
    stage = Stage(answers_per_minute=1, ambient_probability=1.0)
    assert stage.say("what a day", after=1.0) == "ambient"
    assert stage.say("Robin, hi", after=1.0) == "quiet:crowded"
