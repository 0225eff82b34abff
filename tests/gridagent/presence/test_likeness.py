"""How like two utterances are (Spec: PRS-2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.presence.address import words_of
from gridagent.presence.likeness import are_alike, sketch


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("this is reply 17", "this is reply 18", True),
        ("reply seven of mine", "Reply EIGHT of mine!", True),
        ("msg17 to you", "msg18 to you", True),
        ("the shop sells hats today and boots", "the shop sells hats today and coats", True),
        ("yes", "no", False),
        ("where is the fountain", "where is the market", False),
        ("hello hello hello", "hello", True),
        ("", "", True),
        ("", "hello", False),
    ],
)
def test_counters_and_single_words_make_no_difference_and_others_do(one, other, alike):
    """Spec: PRS-2 — four fifths of the words, numbers all the same."""
    assert are_alike(sketch(words_of(one)), sketch(words_of(other))) is alike


@given(st.lists(st.text(alphabet="abcdef0", min_size=1, max_size=4), max_size=80))
def test_a_sketch_is_small_and_like_itself(words):
    """At most 32 numbers of two bytes, in one order whatever the order of the words."""
    made = sketch(words)
    assert len(made) <= 32
    assert made.itemsize == 2
    assert are_alike(made, made)
    if len(set(words)) <= 32:
        assert made == sketch(reversed(words))


def test_a_long_utterance_is_told_by_its_beginning():
    """Spec: PRS-2 — a text of a thousand words costs what thirty-two do."""
    words = [f"{first}{second}" for first in "abcdefghij" for second in "klmnopqrst"]
    assert len(sketch(words)) == 32
    assert are_alike(sketch(words), sketch(words[:40]))


def test_a_mark_in_a_word_makes_no_number_of_it():
    """Words of scripts with combining marks are told apart; digits of any script are numbers."""
    assert not are_alike(sketch(("हिन्दी",)), sketch(("मराठी",)))
    assert are_alike(sketch(("अध्याय१",)), sketch(("अध्याय२",)))
