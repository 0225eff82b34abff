"""The bot-loop guard."""

from random import Random

import pytest

from gridagent.authority import Origin
from gridagent.presence.hearing import BOT_STRIKES
from tests.gridagent.presence.stage import ANN, BOT, CROWD, ME, OWNER, SISTER, Around, Stage, view

WORDS = [first + second for first in "bdfgklmnprst" for second in ("aro", "elu", "imo", "ota", "uze")]


def _novel(number, size=8):
    """Return words that are like none said before."""
    return " ".join(Random(number).sample(WORDS, size))


def test_a_bot_that_nobody_declared_is_not_answered():
    """Spec: PRS-2, PRS-4 — the grid's mark counts, unless the avatar is ours, declared or the owner's."""
    stage = Stage()
    stage.around = Around(*(view(who, scripted=True) for who in (ANN, BOT, SISTER, OWNER)))
    assert stage.say("Robin, hi", ANN) == "quiet:scripted_agent"
    assert stage.say("what a day", ANN) == "quiet:scripted_agent"
    for who in (BOT, SISTER, OWNER):
        assert stage.say("Robin, hi", who) == "addressed"


def test_nearly_the_same_words_are_answered_so_often_and_no_more():
    """Spec: PRS-2 — also when a number in them counts up, and when two sentences take turns."""
    stage = Stage(repeats_max=2)
    codes = [stage.say(f"Robin, this is offer number {number} of my shop") for number in range(5)]
    assert codes == ["addressed", "addressed"] + ["quiet:repeated"] * 3
    stage = Stage(repeats_max=2)
    pair = ("Robin, come and see my shop", "Robin, everything is cheap today")
    codes = [stage.say(pair[number % 2]) for number in range(6)]
    assert codes == ["addressed"] * 3 + ["quiet:repeated"] * 3


def test_something_new_is_answered_again():
    """Silence is for the repetition, not for the person."""
    stage = Stage(repeats_max=1)
    assert stage.say("Robin, where is the fountain") == "addressed"
    assert stage.say("Robin, where is the fountain?") == "quiet:repeated"
    assert stage.say("Robin, how old are you then") == "addressed"


def test_short_words_may_come_more_often():
    """Three times "yes" is a conversation; six times is a parrot."""
    stage = Stage(repeats_max=2)
    codes = [stage.tell("yes") for _ in range(7)]
    assert codes == ["addressed"] * 5 + ["quiet:repeated"] * 2


def test_an_echo_ends():
    """Spec: PRS-2 — who only says back what the avatar said is soon talking to nobody."""
    stage = Stage(repeats_max=2)
    said = _novel(0)
    codes = []
    for number in range(1, 8):
        codes.append(stage.say(f"Robin, {said}"))
        if not codes[-1].startswith("addressed"):
            break
        said = _novel(number)
        stage.chain.replied(ANN, said, Origin.PUBLIC_CHAT, stage.now)
    assert codes == ["addressed", "addressed", "quiet:echo"]


def test_an_owner_may_repeat_and_echo():
    """Spec: PRS-4 — "come here" is obeyed each time."""
    stage = Stage()
    codes = set()
    for _ in range(100):
        codes.add(stage.say("Robin, come here to me", OWNER, after=0.5))
        stage.chain.replied(OWNER, "come here to me", Origin.PUBLIC_CHAT, stage.now)
    assert codes == {"addressed"}


def test_a_person_has_many_answers_until_a_pause():
    """Spec: PRS-2 — a silence renews them."""
    stage = Stage(turns_per_person=20, turns_pause_s=120.0)
    codes = [stage.say(f"Robin, {_novel(number)}") for number in range(25)]
    assert codes == ["addressed"] * 20 + ["quiet:turn_ceiling"] * 5
    assert stage.say("Robin, still there?", after=119.0) == "quiet:turn_ceiling"
    assert stage.say("Robin, back again", after=120.0) == "addressed"


@pytest.mark.parametrize("who", [SISTER, BOT])
def test_bots_have_few_answers_however_new_their_words(who):
    """Spec: PRS-2, PRS-4 — our own avatars and declared bots, named or not."""
    stage = Stage(turns_per_bot=6)
    codes = [stage.say(f"Robin, {_novel(number)}", who) for number in range(50)]
    assert codes == ["addressed"] * 6 + ["quiet:turn_ceiling"] * 44


def test_one_of_ours_that_is_also_an_owner_is_a_bot():
    """Spec: PRS-4 — two avatars that own each other still stop."""
    stage = Stage(own=(OWNER,), turns_per_bot=3)
    codes = [stage.say(f"Robin, {_novel(number)}", OWNER) for number in range(6)]
    assert codes == ["addressed"] * 3 + ["quiet:turn_ceiling"] * 3


def test_a_stranger_who_behaves_like_a_bot_is_treated_as_one():
    """Spec: PRS-2 — so many repetitions, and only a pause makes a person of it again."""
    stage = Stage(repeats_max=1, turns_per_bot=2, turns_per_person=50)
    for number in range(BOT_STRIKES + 2):
        stage.say(f"Robin, visit shop {number} in the market")
    assert stage.say(f"Robin, {_novel(1)}") == "addressed"
    assert stage.say(f"Robin, {_novel(2)}") == "quiet:turn_ceiling"
    assert stage.say(f"Robin, {_novel(3)}", after=120.0) == "addressed"


def test_three_repetitions_make_a_bot_and_two_do_not():
    """Spec: PRS-2 — counted one by one."""
    for repetitions, code in ((BOT_STRIKES - 1, "addressed"), (BOT_STRIKES, "quiet:turn_ceiling")):
        stage = Stage(repeats_max=1, turns_per_bot=1, turns_per_person=50)
        for _ in range(repetitions + 1):
            stage.say("Robin, visit my shop in the market")
        assert stage.say(f"Robin, {_novel(1)}") == code


def test_a_pause_makes_old_words_new():
    """Spec: PRS-2 — repetitions, echoes and turns are counted from it, and from nothing before."""
    stage = Stage(repeats_max=1, turns_per_person=2, turns_pause_s=100.0)
    assert stage.say("Robin, where is the fountain") == "addressed"
    stage.chain.replied(ANN, "what a lovely day it is", Origin.PUBLIC_CHAT, stage.now)
    assert stage.say("Robin, where is the fountain", after=100.0) == "addressed"
    assert stage.say("Robin, what a lovely day it is", after=99.0) == "addressed"
    assert stage.say("Robin, good bye to you then", after=99.0) == "quiet:turn_ceiling"


def test_two_words_are_short_and_three_are_not():
    """People say "yes please" more often in a row than "yes please do"."""
    for text, answered in (("yes please", 4), ("yes please do", 1)):
        stage = Stage(repeats_max=1)
        codes = [stage.tell(text) for _ in range(6)]
        assert codes.count("addressed") == answered


def test_what_is_overheard_leaves_no_mark():
    """People who talk among themselves may say "yes" as often as they like."""
    stage = Stage(repeats_max=1)
    for _ in range(10):
        stage.say("yes, that is how it is")
    assert stage.room.peers.get(ANN).strikes == 0
    assert stage.say("Robin, yes, that is how it is") == "addressed"


def _converse(answer, *, rounds=400, pause=4.0, own=True, alone=True, **keys):
    """Let two chains answer each other until one is silent; returns how many answers there were."""
    ids = (ME, SISTER)
    stages = [
        Stage(
            own=(ids[1 - index],) if own else (), who=(ids[1 - index],) if alone else (ids[1 - index], *CROWD), **keys
        )
        for index in range(2)
    ]
    for stage, me in zip(stages, ids, strict=True):
        stage.around.self_id = me
    said, turns = answer("", 0), 0
    while turns < rounds:
        listener, speaker = stages[turns % 2], ids[1 - turns % 2]
        if not listener.judge(listener.chat(said, speaker), after=2 * pause).answers:
            break
        turns += 1
        said = answer(said, turns)
        listener.chain.replied(speaker, said, Origin.PUBLIC_CHAT, listener.now)
    return turns


ANSWERS = {
    "an echo": lambda said, number: said or "hello dear Robin",
    "a counter": lambda said, number: f"Robin, this is reply number {number} from me to you",
    "a counter in words": lambda said, number: f"Robin, take {WORDS[number % 60]} as my very latest word on that",
    "never the same": lambda said, number: f"Robin, {_novel(number)}",
    "one word": lambda said, number: "Robin",
}


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_two_of_our_avatars_talking_to_each_other_stop_by_themselves(answer, own, alone):
    """Spec: PRS-2 — known as ours or not, alone or in company, saying the same or something new each time."""
    turns = _converse(answer, own=own, alone=alone)
    assert 1 <= turns <= (12 if own else 121)


def test_avatars_that_talk_slowly_stop_too():
    """A loop with answers half a minute apart is a loop."""
    assert _converse(ANSWERS["never the same"], pause=15.0) <= 12


def test_a_ring_of_three_stops():
    """Spec: PRS-2 — each hears two others, and answers each so often."""
    ids = (ME, SISTER, BOT)
    stages = [Stage(own=ids, who=ids) for _ in ids]
    for stage, me in zip(stages, ids, strict=True):
        stage.around.self_id = me
    waiting, answers = [(0, f"Robin, {_novel(0)}")], 0
    while waiting and answers < 500:
        speaker, said = waiting.pop(0)
        for index, stage in enumerate(stages):
            if index != speaker and stage.judge(stage.chat(said, ids[speaker]), after=1.0).answers:
                answers += 1
                waiting.append((index, f"Robin, {_novel(answers)}"))
    assert not waiting
    assert answers <= 3 * 2 * 6
