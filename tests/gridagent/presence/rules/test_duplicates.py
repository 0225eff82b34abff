"""An utterance that arrives twice."""

from gridagent.presence.hearing import SEEN_MAX
from gridagent.presence.rules.duplicates import judge
from tests.gridagent.presence.stage import Stage


def test_the_same_utterance_is_answered_once():
    """Spec: PRS-1 — by its id, whatever came in between."""
    stage = Stage()
    assert stage.say("Robin, hi", utterance_id="x") == "addressed"
    assert stage.say("nice weather", utterance_id="y") == "quiet:not_addressed"
    assert stage.say("Robin, hi", utterance_id="x") == "quiet:duplicate"


def test_the_ids_kept_are_bounded():
    """The oldest id goes first."""
    stage = Stage()
    for number in range(SEEN_MAX + 10):
        assert judge(stage.heard(stage.chat("hi", utterance_id=f"n{number}")), stage.room) is None
    assert len(stage.room.seen) == SEEN_MAX
    assert judge(stage.heard(stage.chat("hi", utterance_id="n0")), stage.room) is None
    assert judge(stage.heard(stage.chat("hi", utterance_id=f"n{SEEN_MAX + 9}")), stage.room) == "quiet:duplicate"


def test_no_id_is_no_duplicate():
    """An adapter that has none gives none, and nothing is lost by it."""
    stage = Stage()
    assert judge(stage.heard(stage.chat("hi", utterance_id="")), stage.room) is None
    assert judge(stage.heard(stage.chat("hi", utterance_id="")), stage.room) is None
