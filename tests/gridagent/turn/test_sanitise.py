"""Sanitising: what is taken out of a reply before it is said, and what stays."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.turn.sanitise import sanitised

NAMES = ("Ruth", "Ruth Resident", "")
UUID = "1a2b3c4d-0000-4000-8000-00000000000a"


def clean(text: str, max_bytes: int = 3_000) -> str:
    """Return what is said of a text."""
    return sanitised(text, NAMES, max_bytes=max_bytes).text


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ("*waves* Hello!", "Hello!", "stage_direction"),
        ("Hello! *smiles warmly and bows*", "Hello!", "stage_direction"),
        ("(laughs) Sure.", "Sure.", "stage_direction"),
        ("[nods] Sure.", "Sure.", "stage_direction"),
        ("/me waves\nHello!", "Hello!", "stage_direction"),
        ("<think>what now</think>Hello!", "Hello!", "tag"),
        ("<think>never ends", "", "tag"),
        ("<|im_start|>assistant\nHello!<|im_end|>", "assistant\nHello!", "tag"),
        ("Hello!</s>", "Hello!", "tag"),
        ("[INST] Hi [/INST] Hello!", "Hi Hello!", "tag"),
        ("<response>Hello!</response>", "Hello!", "tag"),
        ("Hello <silent/>", "Hello", "tag"),
        ("Ruth: Hello!", "Hello!", "label"),
        ("**Ruth Resident:** Hello!", "Hello!", "label"),
        ("Ruth [1a2b3c4d, stranger]: Hello!", "Hello!", "label"),
        ("Assistant: Hello!", "Hello!", "label"),
        ("Ask " + UUID + " please", "Ask please", "id"),
        ("Ask Bob (" + UUID + ").", "Ask Bob.", "id"),
        ("```\nHello\n```", "Hello", "layout"),
        ("# Hello\nyou", "Hello\nyou", "layout"),
        ("As an AI language model, I can't fly.", "I can't fly.", "persona_drift"),
        ("I'm ChatGPT, made by OpenAI. Nice day!", "Nice day!", "persona_drift"),
        ("Hello. I was created by Anthropic to help.", "Hello.", "persona_drift"),
        ("He\u202ello\x07", "Hello", "unseen"),
    ],
)
def test_what_is_no_speech_is_taken_out(text: str, said: str, code: str) -> None:
    """Each kind goes, under a code of its own. Spec: MND-9."""
    found = sanitised(text, NAMES, max_bytes=3_000)
    assert (found.text, code in found.codes) == (said, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I *really* like it", "I really like it"),
        ("I have *not* paid", "I have not paid"),
        ("2 * 3 * 4 is 24", "2 * 3 * 4 is 24"),
        ("The shop (north) is open", "The shop (north) is open"),
        ("I'm a bot, yes. I am an AI language model.", "I'm a bot, yes. I am an AI language model."),
        ("I'm not ChatGPT.", "I'm not ChatGPT."),
        ("Note: it is closed", "Note: it is closed"),
        ("Time 12:30", "Time 12:30"),
        ("a   b\n\n\nc", "a b\nc"),
        ("snake_case and #1", "snake_case and #1"),
        ("👩‍🚀 hi", "👩‍🚀 hi"),
        ("I <3 you", "I <3 you"),
        ("[sic] it is", "[sic] it is"),
    ],
)
def test_speech_stays_as_it_is(text: str, said: str) -> None:
    """Words said for their weight, owning up to be a bot, and plain signs stay. Spec: MND-9, PRS-5."""
    assert clean(text) == said


def test_an_own_name_is_no_product() -> None:
    """An avatar that is called like a product may say its name. Spec: PRS-6."""
    assert sanitised("I am Claude, the guide.", ("Claude",), max_bytes=99).text == "I am Claude, the guide."


@pytest.mark.parametrize(
    ("text", "max_bytes", "said"),
    [
        ("One. Two. Three.", 11, "One. Two."),
        ("One two three four", 14, "One two\u2026"),
        ("Onetwothreefourfive", 14, "Onetwothree\u2026"),
        ("ééééééééééééééé", 16, "éééééé\u2026"),
        ("short", 16, "short"),
    ],
)
def test_what_is_too_long_ends_well(text: str, max_bytes: int, said: str) -> None:
    """The cut is at the end of a sentence, of a word, or of a character. Spec: MND-9, PRS-3."""
    found = sanitised(text, NAMES, max_bytes=max_bytes)
    assert found.text == said
    assert len(found.text.encode()) <= max_bytes
    assert ("too_long" in found.codes) is (said != text)


def test_a_cut_reply_loses_its_last_half_sentence() -> None:
    """Where the model was cut off, half a sentence goes, unless it is all there is. Spec: MND-9."""
    assert sanitised("One. Two is", NAMES, max_bytes=99, cut=True).text == "One."
    assert sanitised("One two", NAMES, max_bytes=99, cut=True).text == "One two"


def test_a_rest_without_a_word_is_nothing() -> None:
    """What is left of a gesture in dots is silence. Spec: MND-10."""
    assert sanitised("*waves* ...", NAMES, max_bytes=99).text == ""


BITS = [
    *("*waves*", "(nods)", "<think>", "</think>", "<|im_end|>", "Ruth:", "```", UUID, "**", "# ", "/me x\n", "[/INST]"),
    *("I'm ChatGPT.", "As an AI,", "<silent/>", "\u202e", "hello", "not", ".", "\n", " ", "é" * 9, "assistant:", "<s>"),
]
PIECES = st.lists(st.one_of(st.sampled_from(BITS), st.text(max_size=12)), max_size=14)


@given(PIECES, st.integers(16, 200))
def test_what_comes_out_is_plain_and_stays_so(pieces: list[str], max_bytes: int) -> None:
    """Any reply comes out within its bound, without controls, ids or tags, and cleaning it again changes nothing."""
    text = "".join(pieces)
    found = sanitised(text, NAMES, max_bytes=max_bytes).text
    assert len(found.encode("utf-8", "replace")) <= max_bytes
    assert not re.search(UUID, found)
    bad = {"Cc", "Cf", "Cs", "Co"}
    assert not [each for each in found if unicodedata.category(each) in bad and each not in "\n\u200c\u200d"]
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("piece", ["*a ", "(", "<", "i am ", ". ", "`", "[a", "As an AI ", "# ", "<think>", "_"])
def test_sanitising_is_linear(piece: str) -> None:
    """The longest text that is read takes no longer than a moment, whatever is repeated in it."""
    began = time.process_time()
    clean(piece * (12_000 // len(piece)))
    assert time.process_time() - began < 1.5
