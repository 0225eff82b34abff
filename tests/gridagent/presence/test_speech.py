"""Splitting and pacing of speech (Spec: PRS-3)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.limits import CHAT_MAX_BYTES
from gridagent.presence.speech import plan_speech, split_speech

WIDE = [
    "a",
    "word",
    "é",
    "漢",
    "字",
    "。",
    ". ",
    "! ",
    "😀",
    "👍🏽",
    "👩‍👩‍👧",
    "🇩🇪",
    "e\u0301\u0323",
    "한",
    "\u1112\u1161\u11ab",
    " ",
]
SEEN_AS_ONE = ("👍🏽", "👩‍👩‍👧", "🇩🇪", "e\u0301\u0323", "\u1112\u1161\u11ab")


def _bare(text: str) -> str:
    return "".join(text.split())


@given(st.lists(st.sampled_from(WIDE), max_size=400).map("".join) | st.text(max_size=300), st.integers(16, 60))
def test_together_the_parts_are_the_text(text, part_bytes):
    """Spec: PRS-3 — nothing is lost, doubled or torn; each part fits and says something."""
    parts, is_cut = split_speech(text, parts_max=10_000, part_bytes=part_bytes)
    assert not is_cut
    assert _bare("".join(parts)) == _bare(text)
    for part in parts:
        assert part
        assert part == part.strip()
        assert len(part.encode()) <= part_bytes
    if len(text.encode()) <= part_bytes:
        assert len(parts) <= 1


@given(st.lists(st.sampled_from([*SEEN_AS_ONE, "a", " ", "漢"]), min_size=1, max_size=120), st.integers(32, 64))
def test_what_is_seen_as_one_character_stays_whole(pieces, part_bytes):
    """Spec: PRS-3 — accents, skin tones, families, flags and syllables are never torn while one fits."""
    text = "".join(pieces)
    parts, _ = split_speech(text, parts_max=10_000, part_bytes=part_bytes)
    for whole in SEEN_AS_ONE:
        assert sum(part.count(whole) for part in parts) == text.count(whole)


@given(st.lists(st.text(alphabet="abcdefgh,", min_size=1, max_size=12), max_size=200), st.integers(16, 80))
def test_words_stay_whole_where_they_fit(words, part_bytes):
    """Spec: PRS-3 — no part ends within a word that fits into one."""
    parts, _ = split_speech(" ".join(words), parts_max=10_000, part_bytes=part_bytes)
    assert " ".join(parts).split() == words


@given(st.lists(st.sampled_from(WIDE), max_size=600).map("".join), st.integers(1, 6))
def test_there_are_at_most_so_many_parts(text, parts_max):
    """Spec: PRS-3 — what is over is left out, and marked."""
    parts, is_cut = split_speech(text, parts_max=parts_max, part_bytes=40)
    assert len(parts) <= parts_max
    assert all(len(part.encode()) <= 40 for part in parts)
    if is_cut:
        assert parts[-1].endswith("…")
        assert _bare(text).startswith(_bare("".join(parts)).removesuffix("…"))
    else:
        assert _bare("".join(parts)) == _bare(text)


def test_the_grids_limit_is_the_size_of_a_part():
    """Spec: PRS-3 — 1,023 bytes fit, of whatever characters; one more makes two parts."""
    assert split_speech("x" * CHAT_MAX_BYTES, parts_max=4) == (("x" * CHAT_MAX_BYTES,), False)
    assert len(split_speech("x" * (CHAT_MAX_BYTES + 1), parts_max=4)[0]) == 2
    assert len(split_speech("漢" * 341, parts_max=4)[0]) == 1
    assert len(split_speech("漢" * 342, parts_max=4)[0]) == 2


def test_a_sentence_is_the_best_place_to_part():
    """In the second half of what fits, a sentence's end wins over a later word's."""
    said = "One two three four. Five six seven"
    assert split_speech(said, parts_max=9, part_bytes=30)[0] == ("One two three four.", "Five six seven")
    assert split_speech("One. Two three four five six", parts_max=9, part_bytes=20)[0][0] == "One. Two three four"
    assert split_speech("今日は晴れです。明日は雨", parts_max=9, part_bytes=30)[0] == ("今日は晴れです。", "明日は雨")


def test_a_word_longer_than_half_a_part_still_begins_a_new_one():
    """The only gap may stand early."""
    assert split_speech("ab " + "x" * 18, parts_max=9, part_bytes=20)[0] == ("ab", "x" * 18)


def test_a_tower_of_accents_is_torn_where_it_must_be():
    """One character of a thousand accents still goes out within the limit."""
    text = "e" + "\u0301" * 1_000
    parts, _ = split_speech(text, parts_max=9)
    assert "".join(parts) == text
    assert all(len(part.encode()) <= CHAT_MAX_BYTES for part in parts)


def test_half_a_character_becomes_a_whole_one():
    """A lone surrogate, which a provider may send, cannot break the grid's encoding."""
    parts, _ = split_speech("a\ud83d b", parts_max=2)
    assert parts == ("a? b",)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nothing_is_spoken_as_nothing(text):
    """A silent reply has no part, takes no time and shows no typing."""
    plan = plan_speech(text, PresenceSection())
    assert plan.parts == ()
    assert plan.takes_s == 0.0
    assert not plan.shows_typing


def test_speech_is_paced_by_its_length():
    """Spec: PRS-3 — so many characters a second, and no part waits longer than configured."""
    section = PresenceSection(speech_characters_per_s=10.0, speech_pause_max_s=4.0)
    short = plan_speech("Hello, Ann, hello.", section)
    assert short.parts[0].after_s == pytest.approx(1.8)
    assert short.shows_typing
    assert not short.is_cut
    long = plan_speech("word " * 600, section)
    assert [part.after_s for part in long.parts] == [4.0, 4.0, 4.0]
    assert long.takes_s == 12.0


def test_the_typing_sign_is_public_and_optional():
    """Spec: PRS-3 — none over IM, where it is switched off, or where the avatar does not wait."""
    assert not plan_speech("Hello", PresenceSection(), Origin.DIRECT_IM).shows_typing
    assert not plan_speech("Hello", PresenceSection(show_typing=False)).shows_typing
    at_once = plan_speech("Hello", PresenceSection(speech_pause_max_s=0.0))
    assert not at_once.shows_typing
    assert at_once.takes_s == 0.0


def test_a_plan_is_cut_at_the_configured_number():
    """Spec: PRS-3 — and says so."""
    plan = plan_speech("word " * 2_000, PresenceSection(speech_parts_max=2))
    assert len(plan.parts) == 2
    assert plan.is_cut
    assert plan.parts[-1].text.endswith("…")
    assert unicodedata.is_normalized("NFC", plan.parts[-1].text)


@pytest.mark.parametrize(
    "whole",
    [
        "👍🏻",
        "👍🏿",
        "🏴\U000e0020\U000e007f",
        "🇦🇿",
        "🇿🇦",
        "\u1100\u1160",
        "\u1100\u1161\u11ff",
    ],
)
def test_the_first_and_last_of_what_belongs_together_do(whole):
    """Spec: PRS-3 — skin tones, tags, flags and syllables at the ends of their ranges."""
    parts, _ = split_speech(whole * 40, parts_max=999, part_bytes=3 * len(whole.encode()) - 1)
    assert parts == (whole * 2,) * 20


def test_flags_in_a_row_are_parted_between_two_flags():
    """Spec: PRS-3 — counted from the first of them, and no other character makes half a flag."""
    parts, _ = split_speech("a🇩🇪🇫🇷🇮🇹", parts_max=9, part_bytes=14)
    assert parts == ("a🇩🇪", "🇫🇷", "🇮🇹")
    parts, _ = split_speech("漢🇩漢漢", parts_max=9, part_bytes=8)
    assert parts == ("漢🇩", "漢漢")


def test_what_fits_exactly_is_not_cut():
    """Spec: PRS-3 — the last part may be full; a sentence at the middle of a part is not its end."""
    assert split_speech("abcd efghijkl", parts_max=2, part_bytes=8) == (("abcd", "efghijkl"), False)
    assert split_speech("abcd efghijklm", parts_max=2, part_bytes=8)[1]
    assert split_speech("abcd. ef ghij", parts_max=9, part_bytes=10)[0] == ("abcd. ef", "ghij")
    assert split_speech("abcde. fg hij", parts_max=9, part_bytes=10)[0] == ("abcde.", "fg hij")
