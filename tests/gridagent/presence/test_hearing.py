"""One utterance, and what lasts between two."""

from gridagent.presence.hearing import NEAREST_LOOKED_AT
from gridagent.presence.protected import Exemption
from tests.gridagent.presence.stage import ANN, BOT, OWNER, Around, Stage, person, view


def test_who_is_near_is_looked_up_once_and_so_many():
    """A crowded region costs no more than its nearest."""
    stage = Stage()
    stage.around = Around(*(view(person(100 + number)) for number in range(200)))
    heard = stage.heard(stage.chat("hi"))
    assert len(heard.avatars()) == NEAREST_LOOKED_AT
    heard.is_scripted()
    assert stage.around.looks == 1


def test_an_utterance_knows_its_door_and_distance():
    """An IM has no distance."""
    stage = Stage()
    chat, im = stage.heard(stage.chat("hi", distance_m=12.0)), stage.heard(stage.im("hi"))
    assert (chat.in_public, chat.distance_m) == (True, 12.0)
    assert (im.in_public, im.distance_m) == (False, 0.0)


def test_who_gets_a_bots_turns():
    """Declared bots always, strangers by what they do, owners never."""
    stage = Stage()
    assert stage.heard(stage.chat("hi", BOT)).is_like_a_bot()
    stranger = stage.heard(stage.chat("hi", ANN))
    assert not stranger.is_like_a_bot()
    stranger.peer.strikes = 3
    assert stranger.is_like_a_bot()
    owner = stage.heard(stage.chat("hi", OWNER))
    owner.peer.strikes = 99
    assert not owner.is_like_a_bot()
    assert owner.is_exempt(Exemption.MUTING)


def test_a_lowered_rate_holds_at_once():
    """Spec: SUP-8 — what was saved up under a higher rate is cut."""
    stage = Stage(messages_per_minute=600, answers_per_minute=600)
    peer = stage.room.meet(ANN, stage.now)
    assert stage.room.take_message(peer, stage.now)
    assert stage.room.take_answer(stage.now)
    stage.chain.configure(Stage(messages_per_minute=1, answers_per_minute=1).section, ("Robin",))
    assert [stage.room.take_message(peer, stage.now) for _ in range(2)] == [True, False]
    assert [stage.room.take_answer(stage.now) for _ in range(2)] == [True, False]
