"""Claims about who is being spoken to."""

import pytest

from gridagent.presence.address import Names, is_named, words_of


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


def test_a_name_without_spaces_around_it_is_found_in_its_script():
    """Spec: PRS-1 — Japanese or Thai set no spaces; a single character is no name there, and Latin stays strict."""
    assert Names((words_of("ロビン"),)).find(words_of("ロビンさん、こんにちは")) == 0
    assert Names((words_of("ロビン"),)).find(words_of("やあ、ロビンさん")) == 1
    assert Names((words_of("ロビン"),)).find(words_of("こんにちは、みなさん")) == -1
    assert Names((words_of("鳥"),)).find(words_of("小鳥")) == -1
    assert Names((words_of("ロビン 号"),)).find(words_of("ロビンさん")) == -1
    assert Names((words_of("Robin"),)).find(words_of("Robinさん")) == -1
    assert Names((words_of("美鳥"),)).find(words_of("美鳥さん")) == 0
    assert Names((words_of("鳥x"),)).find(words_of("鳥xさん")) == -1


def test_the_first_place_of_any_name_is_told():
    """Several names, some with the same first word, and one that is empty."""
    names = Names(map(words_of, ("Lady Red", "Lady Robin", "Rob", "")))
    assert names.find(words_of("oh lady robin hello")) == 1
    assert names.find(words_of("lady green, and rob")) == 3
    assert names.find(()) == -1
    assert names.words == {"lady", "red", "robin", "rob"}


def test_every_character_there_is_can_be_folded():
    """Whatever script, mark or symbol stands in a text, a word beside it is still found."""
    for start in range(0x100, 0x30000, 0x200):
        text = "".join(map(chr, range(start, start + 0x200))).encode("utf-8", "ignore").decode()
        assert words_of(f"{text} Größe\u200b é")[-2:] == ("grösse", "é")
