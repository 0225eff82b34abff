"""Claims about who is being spoken to."""

import pytest

from gridagent.presence.address import is_named, words_of


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Robin, come here", True),
        ("hey ROBIN!", True),
        ("ask Robin Resident about it", True),
        ("robins sing", False),
        ("a robinesque tune", False),
        ("", False),
        ("Ro\u200bbin?", True),
        ("Ｒｏｂｉｎ", True),
    ],
)
def test_a_name_counts_only_as_a_word_of_its_own(text, named):
    """Spec: PRS-1 — addressed means the name stands there in one piece, in any case and without invisible marks."""
    assert is_named(words_of(text), (words_of("Robin"),)) is named


def test_a_name_of_two_words_is_matched_whole():
    """Half of a name is not the name."""
    name = words_of("Robin Hood")
    assert is_named(words_of("so, robin hood, how are you"), (name,))
    assert not is_named(words_of("robin, hello hood"), (name,))
    assert not is_named(words_of("robin"), ((),))


def test_confusable_letters_do_not_merge():
    """Fault: 14 — Cyrillic O stays another letter: whoever looks like a name is not that name."""
    assert not is_named(words_of("R\u043ebin"), (words_of("Robin"),))


def test_the_short_way_for_ascii_comes_to_the_same():
    """Each ASCII character parts or joins words as it does in a text that is not ASCII."""
    for code in range(128):
        text = f"Ab{chr(code)}cD {chr(code)}x"
        assert (*words_of(text), "\N{LATIN SMALL LETTER E WITH ACUTE}") == words_of(
            f"{text} \N{LATIN SMALL LETTER E WITH ACUTE}"
        )
