"""Whom the operator muted."""

from tests.gridagent.presence.stage import ANN, BEN, BOT, MANAGER, OWNER, SISTER, Stage


def test_the_muted_get_nothing_and_others_do():
    """Spec: PRS-1 — by UUID, in public and over IM."""
    stage = Stage(muted=(ANN,))
    assert stage.say("Robin, hi", ANN) == "quiet:muted"
    assert stage.tell("hi", ANN) == "quiet:muted"
    assert stage.say("Robin, hi", BEN, name="Ann Onymous") == "addressed"


def test_only_overseers_cannot_be_muted():
    """Spec: PRS-4 — the owner and estate managers are exempt; our own avatars and declared bots are not."""
    stage = Stage(muted=(OWNER, MANAGER, BOT, SISTER))
    assert stage.say("Robin, hi", OWNER) == "addressed"
    assert stage.say("Robin, hi", MANAGER) == "addressed"
    assert stage.say("Robin, hi", BOT) == "quiet:muted"
    assert stage.say("Robin, hi", SISTER) == "quiet:muted"
