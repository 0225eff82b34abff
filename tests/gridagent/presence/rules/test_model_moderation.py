"""The model as a moderator."""

from gridagent.presence.decision import PresenceMode
from tests.gridagent.presence.stage import ANN, BEN, MANAGER, OWNER, Stage


def test_overheard_words_may_be_looked_at_in_silence():
    """Spec: PRS-1, MND-16 — a moderator's turn does not answer, and has its own pause."""
    stage = Stage(moderate_by_model=True, moderation_pause_s=30.0)
    decision = stage.judge(stage.chat("you are all idiots"))
    assert (decision.code, decision.mode) == ("quiet:moderation", PresenceMode.MODERATION)
    assert not decision.answers
    assert stage.say("idiots I say", BEN, after=29.0) == "quiet:not_addressed"
    assert stage.say("idiots I say", BEN, after=1.0) == "quiet:moderation"


def test_what_is_meant_for_the_avatar_and_what_overseers_say_is_not_moderated():
    """Spec: PRS-4 — the owner and estate managers are left alone; so is everybody where it is off."""
    stage = Stage(moderate_by_model=True)
    assert stage.say("Robin, you idiot", ANN) == "addressed"
    assert stage.say("you idiots", OWNER) == "quiet:not_addressed"
    assert stage.say("you idiots", MANAGER) == "quiet:not_addressed"
    assert Stage().say("you idiots") == "quiet:not_addressed"
