"""Requests to be quiet, in words (Spec: PRS-1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.presence.address import words_of
from gridagent.presence.quiet_words import HushRequest, read_hush

NAMES = frozenset({"robin"})


def _read(text):
    return read_hush(words_of(text), NAMES)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Robin, be quiet for ten minutes", 600.0),
        ("be quiet for 10 minutes please", 600.0),
        ("Could you please be quiet for a couple of minutes, Robin?", 120.0),
        ("shut up for half an hour", 1_800.0),
        ("be quiet for an hour", 3_600.0),
        ("be quiet for the next hour", 3_600.0),
        ("hush 90 secs", 90.0),
        ("quiet for 5min", 300.0),
        ("be silent for 1 hour 30 minutes", 5_400.0),
        ("stay quiet for twenty five minutes", 1_500.0),
        ("say nothing for 0 seconds", 0.0),
        ("Robin, sei bitte zehn Minuten still", 600.0),
        ("sei für eine halbe Stunde ruhig, Robin", 1_800.0),
        ("halt mal fünf minuten den Mund", 300.0),
        ("be quiet", None),
        ("Robin! SHUT UP!!!", None),
        ("hush now", None),
        ("silence, please", None),
        ("don't talk", None),
        ("don\u2019t talk", None),
        ("stop talking for a while", None),
        ("be quiet for a little bit", None),
        ("keep quiet until I come back", None),
        ("be quiet because we are watching a film", None),
        ("can you pipe down a moment", None),
        ("Ruhe!", None),
        ("Halt die Klappe, Robin", None),
    ],
)
def test_requests_in_many_wordings_are_read(text, seconds):
    """Spec: PRS-1 — with a time or without, in English and German."""
    assert _read(text) == HushRequest(quiet=True, seconds=seconds)


@pytest.mark.parametrize(
    "text", ["you may talk again", "Robin, speak", "wake up!", "don't be quiet", "Robin, du darfst wieder reden"]
)
def test_the_way_back_is_read(text):
    """Spec: PRS-1."""
    assert _read(text) == HushRequest(quiet=False)


@pytest.mark.parametrize(
    "text",
    [
        "why are you so quiet",
        "it is quiet here",
        "stop talking about cats",
        "quiet when it rains",
        "let us talk about hats",
        "I told him to be quiet for ten minutes",
        "be quiet for ten",
        "ten minutes",
        "123456 minutes of fame",
        "10apples",
        "10x",
        "while",
        "for",
        "the",
        "",
        "be quiet " + "very " * 30,
    ],
)
def test_what_only_sounds_like_one_is_none(text):
    """The request has to be the whole of what is said."""
    assert _read(text) is None


def test_who_is_asked_may_be_everybody():
    """Who says "everyone" means the avatar too."""
    assert _read("quiet please, everyone") == HushRequest(quiet=True, everybody=True)


WORDS = [
    "be",
    "quiet",
    "for",
    "ten",
    "10",
    "99999",
    "a",
    "half",
    "hour",
    "minutes",
    "while",
    "until",
    "7min",
    "the",
    "x",
]


@given(st.lists(st.sampled_from(WORDS)))
def test_any_words_are_read_with_a_time_that_is_finite(words):
    """No arrangement of words breaks the reader or makes it endless."""
    request = read_hush(tuple(words))
    assert request is None or request.seconds is None or 0.0 <= request.seconds < float("inf")


def test_what_is_too_long_is_a_story():
    """Twenty-four words may be a request with much politeness; one more is none."""
    assert _read("please " * 22 + "be quiet") == HushRequest(quiet=True)
    assert _read("please " * 23 + "be quiet") is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("be quiet for 99999 seconds", 99_999.0),
        ("be quiet for 100000 seconds", None),
        ("be quiet for twenty ten minutes", 12_000.0),
        ("be quiet a moment", None),
        ("be quiet for ten minutes and thirty seconds", None),
        ("be quiet ten minutes thirty seconds", 630.0),
    ],
)
def test_numbers_have_bounds_and_sums(text, seconds):
    """A number of six digits is none; tens and ones add, other numbers multiply; what is left over is no request."""
    request = _read(text)
    if text.endswith(("100000 seconds", "and thirty seconds")):
        assert request is None
    else:
        assert request == HushRequest(quiet=True, seconds=seconds)
