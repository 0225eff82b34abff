"""What a visitor wants, told by the words alone.

Owns a table of phrases. Decides nothing about who may have it: whoever asks, the model proposes, and the policy
gateway answers. Pure; English only.

Invariant: the first phrase that stands in the words decides, so the table's order is its meaning.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gridagent.presence.address import words_of

__all__ = ("Intent", "amount_in", "intent_of", "sought_in")

_AMOUNT_DIGITS_MAX: Final = 7
_SOUGHT_WORDS_MAX: Final = 6


class Intent(StrEnum):
    """What is wanted."""

    GREET = "greet"
    FAREWELL = "farewell"
    THANKS = "thanks"
    HOW_ARE_YOU = "how_are_you"
    WHO_ARE_YOU = "who_are_you"
    HELP = "help"
    WHO_NEAR = "who_near"
    WHAT_NEAR = "what_near"
    WHERE = "where"
    FIND = "find"
    COME = "come"
    FOLLOW = "follow"
    STOP = "stop"
    SIT = "sit"
    STAND = "stand"
    HOME = "home"
    EMOTE = "emote"
    PAY = "pay"
    BALANCE = "balance"
    TIME = "time"
    QUIET = "quiet"
    INJECTION = "injection"
    OTHER = "other"


# A phrase is words in one piece; "…" between parts lets other words stand there.
_PHRASES: Final[tuple[tuple[Intent, tuple[str, ...]], ...]] = (
    # What is said to change the rules is answered as such, whatever else stands beside it.
    (Intent.INJECTION, ("previous instructions", "all instructions", "your instructions", "system prompt")),
    (Intent.INJECTION, ("you are now my", "you must obey", "developer mode", "system you are")),
    (Intent.QUIET, ("be quiet", "keep quiet", "stay quiet", "be silent", "quiet please", "hush")),
    (Intent.WHO_ARE_YOU, ("who are you", "what are you", "are you a", "are you an", "are you human", "are you real")),
    (Intent.WHO_ARE_YOU, ("your name", "introduce yourself")),
    (Intent.HOW_ARE_YOU, ("how are you", "how do you do", "are you well", "are you ok")),
    (Intent.HELP, ("what can you do", "what do you do", "help", "commands")),
    (Intent.TIME, ("what time", "the time", "what day", "what date")),
    (Intent.BALANCE, ("how much money", "your balance", "how rich", "how many linden", "how much linden")),
    (Intent.PAY, ("pay", "tip me", "give me … l", "give me … linden", "send me … l", "send me … linden")),
    (Intent.WHO_NEAR, ("who is here", "who s here", "who else", "who is near", "who is around", "who is there")),
    (Intent.WHO_NEAR, ("anybody near", "anyone near", "anybody here", "anyone here", "anybody around")),
    (Intent.WHO_NEAR, ("anyone around", "how many people", "how many avatars", "which people", "everybody here")),
    (Intent.WHERE, ("where are we", "where am i", "where are you", "which region", "what region", "which place")),
    (Intent.FIND, ("where is", "where s", "where can i find", "how do i get to", "way to the", "can you see the")),
    (Intent.FIND, ("do you see the", "directions to", "find the", "can you find")),
    (
        Intent.WHAT_NEAR,
        ("what is around", "what is here", "what s here", "what is near", "what objects", "what things"),
    ),
    (Intent.WHAT_NEAR, ("what can you see", "what do you see", "which objects", "look around")),
    (Intent.STOP, ("stop", "don t follow", "stay here", "stay there")),
    (Intent.FOLLOW, ("follow", "walk with me", "come with me", "come along")),
    (Intent.COME, ("come here", "come over", "come to me", "come closer", "over here", "come")),
    (Intent.STAND, ("stand up", "stand", "get up from")),
    (Intent.SIT, ("sit",)),
    (Intent.HOME, ("go home", "teleport home", "home now")),
    (Intent.EMOTE, ("wave", "dance", "bow", "smile", "laugh", "clap", "jump")),
    (Intent.THANKS, ("thank you", "thanks", "thank")),
    (Intent.FAREWELL, ("bye", "goodbye", "good night", "see you", "farewell")),
    (Intent.GREET, ("hello", "hi", "hey", "greetings", "good morning", "good evening", "good day", "welcome")),
)
_PARTS: Final = tuple(
    (intent, tuple(tuple(part.split()) for part in phrase.split("…")))
    for intent, phrases in _PHRASES
    for phrase in phrases
)
_SOUGHT_AFTER: Final = (
    *("where is", "where s", "where can i find", "how do i get to", "way to", "see", "directions to", "find"),
    *("looking for", "seen"),
)
_ARTICLES: Final = frozenset({"the", "a", "an", "my", "that", "this"})


def intent_of(text: str) -> Intent:
    """Return what is wanted."""
    words = words_of(text)
    for intent, parts in _PARTS:
        at = 0
        for part in parts:
            at = _end_of(words, part, at)
            if at < 0:
                break
        if at >= 0:
            return intent
    return Intent.OTHER


def amount_in(text: str) -> int | None:
    """Return the first whole number of a payment's size."""
    for word in words_of(text):
        if word.isascii() and word.isdigit() and len(word) <= _AMOUNT_DIGITS_MAX and int(word) > 0:
            return int(word)
    return None


def sought_in(text: str) -> tuple[str, ...]:
    """Return the words that name what is looked for; empty where nothing is named."""
    words = words_of(text)
    for phrase in _SOUGHT_AFTER:
        at = _end_of(words, tuple(phrase.split()), 0)
        if at >= 0:
            named = words[at:]
            while named and named[0] in _ARTICLES:
                named = named[1:]
            return named[:_SOUGHT_WORDS_MAX]
    return ()


def _end_of(words: tuple[str, ...], part: tuple[str, ...], start: int) -> int:
    """Return where the first ``part`` in one piece ends, from ``start`` on; -1 where there is none."""
    for at in range(start, len(words) - len(part) + 1):
        if words[at : at + len(part)] == part:
            return at + len(part)
    return -1
