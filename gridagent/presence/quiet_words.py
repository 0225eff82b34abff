"""Whether words ask the avatar to be quiet, or to talk again, and for how long (Spec: PRS-1).

Owns the phrases in English and German. What is asked for has to be the whole of what is said, beside names,
politeness and a time: "why are you so quiet" and "stop talking about cats" ask for nothing.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

__all__ = ("HushRequest", "read_hush")


class HushRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked."""

    quiet: bool
    """Be quiet, or talk again."""
    seconds: float | None = None
    """For how long; None where no time was named."""
    everybody: bool = False
    """It was said to all who are here."""


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(line.split()) for line in text.split(","))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _counted(text: str) -> dict[str, float]:
    return {word: float(number) for number, word in enumerate(text.split())}


_QUIET: Final = _phrases(
    "be quiet, be silent, be still, be mute, keep quiet, keep silent, keep still, keep it down, stay quiet, "
    "stay silent, go quiet, go silent, quiet, quiet down, silence, hush, hush up, shush, shut up, shut it, "
    "shut your mouth, shut the fuck up, stfu, zip it, pipe down, say nothing, say no more, stop talking, "
    "stop speaking, stop chatting, stop answering, stop replying, no talking, no more talking, no chatting, "
    "don t talk, don t speak, don t say anything, don t answer, do not talk, do not speak, do not answer, "
    "mute yourself, hold your tongue, "
    "sei still, sei ruhig, sei leise, ruhe, schweig, schweige, schnauze, halt den mund, halt die klappe, "
    "hör auf reden, hör auf zu reden, nicht reden, rede nicht, sprich nicht, sag nichts"
)
_TALK: Final = _phrases(
    "talk again, speak again, may talk again, may speak again, may talk, may speak, talk, speak, wake up, "
    "unmute, unmute yourself, stop being quiet, stop being silent, no need to be quiet, don t be quiet, "
    "darfst wieder reden, darfst wieder sprechen, wieder reden, wieder sprechen, rede wieder, sprich wieder, wach auf"
)
_LONGEST: Final = max(map(len, _QUIET))
_FIRSTS: Final = frozenset(phrase[0] for phrase in _QUIET | _TALK)
"""No request is without one of these words; most utterances are."""

_POLITE: Final = _words(
    "please pls plz now just can could would will you ok okay hey hi hello thanks thank ty kindly bot dear "
    "bitte mal jetzt kannst könntest du danke hallo"
)
_EVERYBODY: Final = _words("everyone everybody all folks guys alle leute")
_CONTINUES: Final = _words("until till while when because i we or bis solange wenn weil ich wir")
"""A reason or an end may follow; it is not understood, and the usual time holds."""
_BEFORE_TIME: Final = _words("for about next the für etwa die nächsten")
_VAGUE: Final = _words("while bit moment sec weile")
"""Times that cannot be measured; the usual time holds."""

_NUMBERS: Final = {
    **_counted("zero one two three four five six seven eight nine ten eleven twelve"),
    **_counted("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
    "fifteen": 15.0,
    "twenty": 20.0,
    "thirty": 30.0,
    "forty": 40.0,
    "fünfzehn": 15.0,
    "zwanzig": 20.0,
    "dreissig": 30.0,
    "vierzig": 40.0,
    "couple": 2.0,
    "few": 3.0,
    "paar": 3.0,
    "half": 0.5,
    "halbe": 0.5,
    **dict.fromkeys(_words("a an another of little one ein eine einen kleine"), 1.0),
}
_UNITS: Final = {
    **dict.fromkeys(_words("s secs second seconds sekunde sekunden"), 1.0),
    **dict.fromkeys(_words("m min mins minute minutes minuten"), 60.0),
    **dict.fromkeys(_words("h hr hrs hour hours stunde stunden"), 3_600.0),
}
_JOINED: Final = re.compile(r"([0-9]{1,5})([a-z]{1,7})\Z")
_DIGITS_MAX: Final = 5
_TENS: Final = 20
_TEN: Final = 10
_SAID_MAX: Final = 24
"""Longer than that, it is a story with these words in it."""


def read_hush(words: tuple[str, ...], own_names: frozenset[str] = frozenset()) -> HushRequest | None:
    """Read what is asked; None where neither quiet nor talk is.

    Args:
        words: as `words_of` gives them.
        own_names: every word of the avatar's names, which are passed over.
    """
    if len(words) > _SAID_MAX or _FIRSTS.isdisjoint(words):
        return None
    everybody = not _EVERYBODY.isdisjoint(words)
    passed = _POLITE | _EVERYBODY | own_names
    asked, seconds = _without_times([word for word in words if word not in passed])
    if asked in _TALK:
        return HushRequest(quiet=False, everybody=everybody)
    for length in range(min(_LONGEST, len(asked)), 0, -1):
        rest = asked[length:]
        if asked[:length] in _QUIET and (not rest or (rest[0] in _CONTINUES and length > 1)):
            return HushRequest(quiet=True, seconds=seconds, everybody=everybody)
    return None


def _without_times(words: list[str]) -> tuple[tuple[str, ...], float | None]:
    """Take every time, such as "for ten minutes", out of ``words``, and add them up."""
    kept: list[str] = []
    total: float | None = None
    at = 0
    while at < len(words):
        end, seconds = _time_at(words, at)
        if end == at:
            kept.append(words[at])
            end += 1
        at = end
        if seconds is not None:
            total = (total or 0.0) + seconds
    return tuple(kept), total


def _time_at(words: list[str], start: int) -> tuple[int, float | None]:
    """Read a time that begins at ``start``; returns where it ends (``start`` itself for none) and its seconds."""
    at = start
    while at < len(words) and words[at] in _BEFORE_TIME:
        at += 1
    number = 1.0
    while at < len(words) and (value := _value(words[at])) is not None:
        # "twenty five" is a sum, "half an" and "a couple of" are products
        number = number + value if number >= _TENS and value < _TEN else number * value
        at += 1
    if at == len(words):
        return start, None
    if words[at] in _UNITS:
        return at + 1, number * _UNITS[words[at]]
    joined = _JOINED.match(words[at])
    if joined is not None and joined[2] in _UNITS:
        return at + 1, int(joined[1]) * _UNITS[joined[2]]
    return (at + 1, None) if at > start and words[at] in _VAGUE else (start, None)


def _value(word: str) -> float | None:
    if word.isdecimal() and word.isascii() and len(word) <= _DIGITS_MAX:
        return float(word)
    return _NUMBERS.get(word)
