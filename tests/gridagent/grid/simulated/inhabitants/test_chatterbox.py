"""The chatterbox talks."""

from __future__ import annotations

import itertools

from gridagent.events import BalanceChanged, SpeakerKind
from gridagent.grid.simulated.inhabitants.chatterbox import Chatterbox, ChatterboxParams
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA_SEEN,
    ROBIN,
    ROBIN_SEEN,
    heard,
    messaged,
    received,
    said,
    stage,
)

ROBIN_ONLY = ("Robin Resident",)


def test_a_chatterbox_talks_at_its_pace_and_addresses_its_share() -> None:
    """An hour at one line in 20 s gives about 180, three tenths of them to its target. Spec: SIM-1."""
    character = Chatterbox(ChatterboxParams(targets=ROBIN_ONLY, addressed_share=0.3, im_share=0.5), CAST)
    asked = rehearse(character, stage(ROBIN_SEEN, GRETA_SEEN), for_s=3_600)
    addressed = len([text for text in said(asked) if "Robin" in text]) + len(messaged(asked))
    assert 150 <= len(asked) <= 220
    assert 0.2 <= addressed / len(asked) <= 0.4
    assert {to for to, _ in messaged(asked)} == {ROBIN}


def test_nobody_is_addressed_while_the_target_is_away() -> None:
    """Without its target a chatterbox talks to everybody. Spec: SIM-1."""
    character = Chatterbox(ChatterboxParams(targets=ROBIN_ONLY, addressed_share=1.0, im_share=1.0), CAST)
    asked = rehearse(character, stage(), for_s=600)
    assert said(asked)
    assert messaged(asked) == []


def test_no_line_is_said_twice_running() -> None:
    """A chatterbox varies."""
    lines = said(rehearse(Chatterbox(ChatterboxParams(), CAST), stage(), for_s=3_600))
    assert all(one != other for one, other in itertools.pairwise(lines))


def test_answers_go_out_by_the_door_the_words_came_in() -> None:
    """What is said in an IM is answered in an IM, public words in public. Spec: SIM-1."""
    params = ChatterboxParams(every_s=86_400.0, answers=("I see, {name}.",), answer_gap_s=20.0)
    events = [
        (10.0, received("psst")),
        (11.0, received("psst again, too soon")),
        (40.0, heard("what do you think, Minnie?")),
        (70.0, heard("Minnie!", kind=SpeakerKind.OBJECT)),
    ]
    asked = rehearse(Chatterbox(params, CAST), stage(ROBIN_SEEN), for_s=300, events=events)
    assert messaged(asked) == [(ROBIN, "I see, Robin.")]
    assert said(asked)[1:] == ["I see, Robin."]


def test_two_chatterboxes_cannot_answer_each_other_without_end() -> None:
    """The same person is answered once in `answer_gap_s`. Fault: 18."""
    events = [(float(at), heard("Minnie!")) for at in range(1, 200)]
    params = ChatterboxParams(every_s=86_400.0, answer_gap_s=20.0)
    answers = said(rehearse(Chatterbox(params, CAST), stage(ROBIN_SEEN), for_s=205, events=events))[1:]
    assert 9 <= len(answers) <= 11


def test_a_chatterbox_thanks_for_money() -> None:
    """A gift is answered."""
    gift = BalanceChanged(balance=1, change=3, counterpart_id=ROBIN)
    asked = rehearse(Chatterbox(ChatterboxParams(), CAST), stage(ROBIN_SEEN), for_s=10, events=[(1.0, gift)])
    assert "Thank you for the L$3, Robin!" in said(asked)
