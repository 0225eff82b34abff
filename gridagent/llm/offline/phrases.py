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
_ORDER_WORDS_MAX: Final = 2
"""A name and the order."""


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
    PRICE = "price"
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
    SPEAK_AGAIN = "speak_again"
    REMEMBER = "remember"
    INJECTION = "injection"
    OTHER = "other"


# A phrase is words in one piece; "…" between parts lets other words stand there. Whole phrases come first, single
# words that say enough by themselves after all of them.
_PHRASES: Final[tuple[tuple[Intent, tuple[str, ...]], ...]] = (
    # What is said to change the rules is answered as such, whatever else stands beside it.
    (Intent.INJECTION, ("previous instructions", "all instructions", "your instructions", "system prompt")),
    (Intent.INJECTION, ("you are now my", "obey", "developer mode", "system you are", "your rules", "no restrictions")),
    (Intent.INJECTION, ("disregard", "override", "jailbreak", "as your developer", "hidden prompt", "your prompt")),
    (Intent.QUIET, ("be quiet", "keep quiet", "stay quiet", "be silent", "quiet please", "hush", "shush", "shut up")),
    (Intent.QUIET, ("stop talking", "stop speaking", "stop chatting", "silence", "not another word")),
    (Intent.SPEAK_AGAIN, ("talk again",)),
    (Intent.REMEMBER, ("remember me",)),
    (
        Intent.HOW_ARE_YOU,
        ("how are you", "how do you do", "are you well", "are you ok", "are you okay", "how are things"),
    ),
    (
        Intent.HOW_ARE_YOU,
        ("how s it going", "how is it going", "how do you feel", "you doing", "how s life", "what s up"),
    ),
    (Intent.BALANCE, ("how much money", "your balance", "how rich", "how many linden", "how many lindens")),
    (Intent.BALANCE, ("how much linden", "are you rich", "are you poor", "any money", "your wallet")),
    (
        Intent.WHO_ARE_YOU,
        ("who are you", "what are you exactly", "what are you", "are you a", "are you an", "are you real"),
    ),
    (Intent.WHO_ARE_YOU, ("your name", "introduce yourself", "about yourself", "are you human", "are you some")),
    (Intent.WHO_ARE_YOU, ("to a machine", "to a bot", "to a robot", "an ai", "am i talking to", "am i speaking to")),
    (Intent.HELP, ("what can you do", "what do you do", "help", "commands", "good for", "what else can you")),
    (Intent.TIME, ("what time", "the time", "what day", "what date", "the hour", "how late", "current time")),
    (Intent.PAY, ("give me … l", "give me … linden", "send me … l", "send me … linden", "lend me", "transfer … me")),
    (Intent.PAY, ("need … linden", "need … lindens", "spare … lindens", "borrow … linden", "tip me")),
    (Intent.PRICE, ("how much is", "how much are", "how much for", "how much does", "what does … cost", "price of")),
    (Intent.WHO_NEAR, ("who is here", "who s here", "who else", "who is near", "who is around", "who is there")),
    (
        Intent.WHO_NEAR,
        ("who s there", "who s around", "who s that", "who is that", "who you can see", "who can you see"),
    ),
    (Intent.WHO_NEAR, ("anybody near", "anyone near", "anybody here", "anyone here", "anybody around", "anyone else")),
    (Intent.WHO_NEAR, ("anybody else", "someone else", "somebody else", "are we alone", "alone here", "people nearby")),
    (Intent.WHO_NEAR, ("anyone around", "how many people", "how many avatars", "which people", "everybody here")),
    (Intent.WHERE, ("where are we", "where am i", "where i am", "where are you", "which region", "what region")),
    (
        Intent.WHERE,
        ("which place", "what place", "this place", "what sim", "which sim", "where is this", "this region"),
    ),
    (Intent.FIND, ("where is", "where s", "where can i find", "how do i get to", "way to the", "can you see the")),
    (Intent.FIND, ("do you see the", "directions to", "find the", "can you find", "have you seen", "looking for")),
    (Intent.FIND, ("which way", "where the", "show me the way", "lead me to", "take me to")),
    (
        Intent.WHAT_NEAR,
        ("what is around", "what is here", "what s here", "what is near", "what objects", "what things"),
    ),
    (Intent.WHAT_NEAR, ("what can you see", "what do you see", "what you see", "which objects", "look around")),
    (Intent.WHAT_NEAR, ("what s near", "what s around", "what s there", "what is there", "anything interesting")),
    (Intent.WHAT_NEAR, ("what s over there", "describe what", "around you")),
    (Intent.STOP, ("stop", "don t follow", "don t move", "stay here", "stay there", "stay where", "wait here")),
    (Intent.STOP, ("halt", "freeze", "stand still", "hold it")),
    (
        Intent.FOLLOW,
        ("follow", "walk with me", "come with me", "come along", "tag along", "stay with me", "with me … go"),
    ),
    (Intent.HOME, ("go home", "teleport home", "home now", "your home", "return home", "head home", "back home")),
    (Intent.COME, ("come here", "come over", "come to me", "come closer", "come nearer", "over here", "walk to me")),
    (Intent.COME, ("closer", "join me", "where i stand")),
    (Intent.STAND, ("stand up", "get up", "please stand", "and stand", "now stand", "on your feet", "rise")),
    (Intent.SIT, ("sit", "seat", "be seated", "sit down")),
    (Intent.COME, ("come",)),
    (Intent.PAY, ("pay",)),
    (Intent.EMOTE, ("wave", "dance", "bow", "smile", "laugh", "clap", "jump", "nod")),
    (Intent.THANKS, ("thank you", "thanks", "thank", "thx", "ty", "appreciated", "cheers")),
    (
        Intent.FAREWELL,
        ("bye", "goodbye", "good night", "see you", "see ya", "cya", "farewell", "take care", "got to go"),
    ),
    (Intent.FAREWELL, ("have to go", "catch you", "until next time", "night night", "i m off")),
    (
        Intent.GREET,
        ("hello", "hi", "hey", "hiya", "howdy", "greetings", "good morning", "good afternoon", "good evening"),
    ),
    (Intent.GREET, ("good day", "welcome", "nice to see you", "nice to meet you")),
)
_PARTS: Final = tuple(
    (intent, tuple(tuple(part.split()) for part in phrase.split("…")))
    for intent, phrases in _PHRASES
    for phrase in phrases
)
_SOUGHT_AFTER: Final = (
    *("where is", "where s", "where can i find", "how do i get to", "way to", "see", "directions to", "find"),
    *("looking for", "seen", "how much is", "how much are", "how much for", "how much does", "what does", "price of"),
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
    # The word alone is an order; "how is the lemonade stand" asks nobody to stand up.
    return Intent.STAND if words and words[-1] == "stand" and len(words) <= _ORDER_WORDS_MAX else Intent.OTHER


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
