"""The table of deeds: it names tools there are, and words that are read."""

from __future__ import annotations

from gridagent.tools.catalogue import CATALOGUE
from gridagent.turn.clauses import words_in
from gridagent.turn.deeds import AIMED, BACKED_BY, HANDED, KEPT, NOUNS, VERBS, Deed, Form


def test_every_tool_of_the_table_is_in_the_catalogue() -> None:
    """A deed can only be backed by tools there are. Spec: MND-9, MND-13."""
    there = {native.tool.name for native in CATALOGUE}
    assert there >= set().union(*BACKED_BY.values()) | AIMED
    assert set(BACKED_BY) == set(Deed)
    assert set(Deed) >= KEPT | HANDED


def test_every_tool_that_acts_stands_behind_some_deed() -> None:
    """What an avatar can do, it can claim; what is mere gesture is listed here. Spec: MND-9, MND-13."""
    gestures = {"emote", "turn_to", "play_animation", "stop_animation"}
    acting = {native.tool.name for native in CATALOGUE if not native.tool.read_only}
    assert acting - set().union(*BACKED_BY.values()) == gestures


def test_every_verb_is_one_word_as_it_is_read() -> None:
    """A verb that the reader would write differently would never be found."""
    for word, verb in VERBS.items():
        assert words_in(word) == (word,)
        assert verb.form in Form
        assert verb.deed is not None or not verb.wants
    assert all(words_in(noun) == (noun,) for noun in NOUNS if noun != "im")
