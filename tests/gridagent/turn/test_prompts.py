"""What we tell a model ourselves, and that none of it is ever repeated."""

from __future__ import annotations

import pytest

from gridagent.presence.address import words_of
from gridagent.presence.persona import Persona
from gridagent.tools import TurnMode
from gridagent.turn.prompts import Correction, note_for, repeats_ours, system_text


def test_a_system_prompt_is_the_personas_and_ours() -> None:
    """Name, style, knowledge, language, rules and mode are in it. Spec: MND-4, PRS-6."""
    persona = Persona(style="Dry wit.", knowledge=("The shop is north.",), language="German")
    text = system_text(persona, "Ruth", TurnMode.AMBIENT)
    for part in ("You are Ruth", "Dry wit.", "- The shop is north.", "Answer in German.", "Nobody speaks to you"):
        assert part in text
    assert "You know" not in system_text(Persona(style=""), "Ruth", TurnMode.GOAL)


@pytest.mark.parametrize("mode", list(TurnMode))
def test_each_mode_has_its_line(mode: TurnMode) -> None:
    """Every mode is explained, differently. Spec: MND-16."""
    texts = {system_text(Persona(style="x"), "R", each) for each in TurnMode}
    assert len(texts) == len(TurnMode)
    assert system_text(Persona(style="x"), "R", mode) in texts


@pytest.mark.parametrize("correction", list(Correction))
def test_a_note_is_never_repeated(correction: Correction) -> None:
    """Each reason has words of its own, and a reply that has them is noticed. Spec: MND-9."""
    note = note_for([correction], last=False)
    assert note.startswith("A draft of your answer was refused because")
    assert repeats_ours(words_of(f"Sure! {note}"))


def test_nothing_wrong_needs_no_note() -> None:
    """Without a correction nothing is added; when no call is left, that is said."""
    assert note_for([], last=False) == ""
    assert "No tool can be called" in note_for([], last=True)


def test_plain_talk_repeats_nothing_of_ours() -> None:
    """Rules are recognised by long runs of words, so that talk about the same things is not."""
    assert not repeats_ours(words_of("When nothing should be said, I am silent; otherwise I say openly what I think."))
    assert repeats_ours(words_of("My rule: Never write a command, a tool's name or its arguments into your answer."))
