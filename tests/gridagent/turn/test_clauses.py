"""Prose taken apart: sentences, quotes, narration, contractions and amounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.turn.clauses import amount_of, is_amount, sentences_of, words_in


def words(text: str) -> list[tuple[str, ...]]:
    """Return the words of each sentence."""
    return [sentence.words for sentence in sentences_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've paid. You can't!", [("i", "have", "paid"), ("you", "can", "not")]),
        ("I\u2019m here \u2014 hello", [("i", "am", "here"), ("hello",)]),
        ("Ive paid u", [("i", "have", "paid", "u")]),
        ("He isn't, she's o'clock", [("he", "is", "not", ",", "she", "is", "o", "clock")]),
        ("cannot; wont\ndont", [("can", "not"), ("will", "not"), ("do", "not")]),
        ('"I paid you 500."', [("i", "paid", "you", "500")]),
        ('He said "I paid you" twice', [("he", "said", ",", "quoted", ",", "twice")]),
        ("He said 'I paid you' twice", [("he", "said", ",", "quoted", ",", "twice")]),
        ("Use `pay me now` for it", [("use", ",", "quoted", ",", "for", "it")]),
        ('I "paid" you', [("i", "paid", "you")]),
        ("I have *not* paid", [("i", "have", "not", "paid")]),
        ("I (really) paid", [("i", ",", "really", ",", "paid")]),
        ("pa\u200bid \uff29", [("paid", "i")]),
        ("...", []),
    ],
)
def test_sentences_and_words(text: str, expected: list[tuple[str, ...]]) -> None:
    """Words are folded and written out, quotes are one word, and what is in stars for its weight stays."""
    assert words(text) == expected


@pytest.mark.parametrize(
    "text", ["*hands you L$5* Hi", "(hands you L$5) Hi", "/me hands you L$5\nHi", "_hands you L$5_ Hi"]
)
def test_narration_is_a_sentence_of_its_own(text: str) -> None:
    """What is told between stars, in brackets or behind /me is about the avatar. Spec: MND-9."""
    spoken, narrated = sentences_of(text)
    assert (spoken.words, spoken.narrated) == (("hi",), False)
    assert (narrated.words, narrated.narrated) == (("hands", "you", "money:5"), True)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("L$500", 500), ("L$ 1,500", 1500), ("500 L$", 500), ("500L$", 500), ("500 lindens", 500),
        ("500 Linden dollars", 500),
        ("$500", 500), ("L$5.00", 5), ("500L", 500), ("lindens 20", 20), ("L$999999999999", 999999999),
    ],
)  # fmt: skip
def test_amounts_are_one_word(text: str, amount: int) -> None:
    """However an amount is written, it is one word that says how much. Spec: MND-9."""
    (word,) = [word for word in words_in(f"I paid {text} now") if is_amount(word)]
    assert amount_of(word) == amount


def test_a_question_is_one() -> None:
    """A question mark at the end makes a question, and only that sentence."""
    assert [sentence.question for sentence in sentences_of("Did I? Yes. (Really?)")] == [True, False, True]


@given(st.text(max_size=300))
def test_any_text_is_taken_apart(text: str) -> None:
    """Whatever is written, each sentence has words, and as many capitals as words."""
    for sentence in sentences_of(text):
        assert sentence.words
        assert len(sentence.words) == len(sentence.capital)
        assert sentence.text.split() == list(sentence.words)
