"""Questions about what is true right now, and what has to be looked at before they are answered.

Owns telling which of the things that change an utterance asks about, which look-ups can tell, and which replies are
no answer at all and so need none. Also what a reply says of who is near. English. Pure.

Invariant: a question about another time, or about the avatar's opinions, asks for nothing that has to be looked at
(Spec: MND-9).
"""
# ruff: noqa: E501 - patterns are read a row at a time

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from gridagent.presence.address import words_of
from gridagent.turn.clauses import Sentence

__all__ = ("LOOKS", "Topic", "asserts", "near_claimed", "topics_in")


class Topic(StrEnum):
    """What changes, and may be asked about."""

    WHO = "who"
    """Who is near, or whether somebody is, and where."""
    WHAT = "what"
    """What is near."""
    PLACE = "place"
    """Where this is."""
    LAND = "land"
    """Whose land it is, and what may be done there."""
    MONEY = "money"
    """What the avatar has."""
    ITEMS = "items"
    """What is in its inventory."""
    REGION = "region"
    """How another region is."""
    TIME = "time"
    """The date and the time of day."""


_AROUND: Final = frozenset({"look_around"})
LOOKS: Final[dict[Topic, frozenset[str]]] = {
    Topic.WHO: _AROUND | {"look_at_avatar"},
    Topic.WHAT: _AROUND | {"look_at_object"},
    Topic.PLACE: _AROUND | {"look_at_parcel"},
    Topic.LAND: frozenset({"look_at_parcel"}),
    Topic.MONEY: frozenset({"check_balance"}),
    Topic.ITEMS: frozenset({"search_inventory"}),
    Topic.REGION: frozenset({"find_region"}),
    Topic.TIME: frozenset({"get_time"}),
}
"""Which look-ups can tell; one of them has to have succeeded in this turn."""

_SOMEBODY: Final = (
    "(?:anybody|anyone|somebody|someone|everybody|everyone|people|avatars?|person|persons|visitors?|guests?|users?)"
)
_HERE: Final = "(?:here|around|near|nearby|near you|near us|close|close by|about|present|in sight|with us|with you|in this region|in the region|on this sim|on the sim|in the room|in this place|at the moment|right now|online)"
_IS: Final = "(?:is|are|s|re)"
_PATTERNS: Final[tuple[tuple[Topic, str], ...]] = (
    (Topic.WHO, f" who(?: else| all)? {_IS} (?:\\w+ ){{0,3}}?{_HERE} "),
    (Topic.WHO, f" who {_IS} (?:that|this|it) (?:over there |standing |next |behind |near |beside |avatar |person )"),
    (Topic.WHO, " who (?:can|do) you (?:all )?see "),
    (Topic.WHO, f" (?:{_IS}|see) (?:there )?(?:\\w+ )?{_SOMEBODY} (?:else )?(?:\\w+ ){{0,2}}?{_HERE} "),
    (Topic.WHO, f" how many (?:{_SOMEBODY}|of us|others) (?:\\w+ ){{0,4}}?{_HERE} "),
    (Topic.WHO, f" (?:{_IS}) (?:we|you|i) (?:all )?alone "),
    (Topic.WHO, f" (?:{_IS}) (?!there |it |this |that |you |we |i |any|some|every|no|all )(?:[^\\W_]+ ){{1,3}}(?:here|around|near(?:by)?|close by|online|with you|in sight|still here)(?: now| right now)? $"),
    (Topic.WHO, " (?:can|do) you see (?:anybody|anyone|somebody|someone|people|any \\w+ avatars?) "),
    (Topic.WHO, " (?:is|s) anybody (?:there|home) | (?:is|s) anyone there "),
    (Topic.WHO, f" where (?:{_IS}) (?:everybody|everyone|everybody else|he|she|they|him|her) "),
    (Topic.WHAT, f" what(?: else)? {_IS} (?:\\w+ ){{0,2}}?(?:here|around|near|nearby|over there|in front of|behind|next to|beside|around you|near you)(?: \\w+)? "),
    (Topic.WHAT, " what(?: else)? (?:can|do) you see "),
    (Topic.WHAT, f" (?:{_IS}) there (?:a|an|any|some) (?:\\w+ ){{1,3}}(?:here|around|near|nearby|near here|close by|in this region) "),
    (Topic.WHAT, f" what (?:{_IS} (?:this|that) (?:thing|object|box|building|prim)|(?:objects?|things?) {_IS}) "),
    (Topic.WHAT, " how much (?:is|does) (?:this|that|the) (?:\\w+ ){0,3}cost | what(?: is| s)? (?:the )?price of (?:this|that) "),
    (Topic.PLACE, " where (?:are|re) (?:we|you) (?:right now |now |at |exactly |currently |located )*$| where am i | where (?:exactly )?(?:are|re) (?:we|you)(?: now| right now| exactly) "),
    (Topic.PLACE, " (?:what|which) (?:region|sim|place|parcel) (?:is (?:this|it|that)|are (?:we|you)) | what is this (?:place|region|sim) | your (?:position|coordinates|location) "),
    (Topic.LAND, " who owns (?:this|the|that) (?:land|parcel|place) | whose (?:land|parcel|place) is (?:this|it|that) | can (?:i|we|you) (?:build|rez|fly) here "),
    (Topic.MONEY, " (?:what(?: is| s)|check|tell me|show me|how (?:high|big) is) (?:\\w+ )?your (?:balance|l balance|account balance|wallet) | how (?:much|many) (?:money |l |linden |lindens |linden dollars |cash |dollars )(?:do you (?:have|own|got|hold)|have you(?: got)?|is in your|are in your|you have|you got|have you) | how rich are you | your (?:current )?balance (?:now |right now |please )*$"),
    (Topic.ITEMS, " (?:what|which|how many) (?:\\w+ ){0,3}(?:in your inventory|do you carry|are you carrying) | (?:do|have) you (?:have|got)? ?(?:\\w+ ){1,5}in your inventory | (?:check|search|look in|look into) your inventory "),
    (Topic.REGION, " is (?:the )?(?:region |sim )?(?:\\w+ ){1,3}(?:region |sim )(?:online|up|down|offline|open)(?: now)? | how many (?:\\w+ )?(?:in|on) (?:the )?(?:region|sim) \\w+ "),
    (Topic.TIME, " what(?:s| is| s)? (?:the )?time (?:is it |now |right now |please |$)| what time (?:is it|do you have|s it) | what(?: is| s)? the (?:current )?(?:time|date) | what (?:day|date) is (?:it|today) | do you (?:know|have) the time | how late is it "),
)  # fmt: skip
_COMPILED: Final = tuple((topic, re.compile(pattern)) for topic, pattern in _PATTERNS)
_NOT_NOW: Final = re.compile(
    " (?:was|were|yesterday|tomorrow|earlier|ago|will|usually|often|always|normally|sometimes|tonight|later|last|next week"
    "|next month|used to|ever|if|would|should|going|from|born|when you|next event|open|close) "
)
_WORDS_MAX: Final = 400
_SEEN_MAX: Final = 64

_NO_ANSWER: Final = re.compile(
    r" (?:(?:do|does|did|can|could|am|is|are|was|will|would|have|has) not (?:\w+ )?(?:know|tell|see|sure|able|check|say|look|find|answer|have access|want|share|help|discuss|make out|allowed)"
    r"|no idea|not sure|unable to|can not|could not|not able|not allowed|rather not|hard to (?:say|tell)|unsure|not certain"
    r"|let me (?:look|check|see|have a look)|one moment|give me a (?:moment|second)|hold on|i will (?:look|check|see|find out)"
    r"|no way to (?:tell|know|see|check)|only my owner|private|secret|none of your|wish i knew) "
)
_GREETINGS: Final = frozenset(
    {
        *(
            "hi",
            "hello",
            "hey",
            "hiya",
            "welcome",
            "greetings",
            "good",
            "morning",
            "evening",
            "afternoon",
            "day",
            "there",
        ),
        *("thanks", "thank", "you", "sorry", "well", "oh", "hmm", "sure", "ok", "okay", "nice", "to", "see", "meet"),
        *(
            "of",
            "course",
            "question",
            "great",
            "ah",
            "please",
            "i",
            "am",
            "afraid",
            "right",
            "again",
            "my",
            "friend",
            "dear",
        ),
    }
)


def topics_in(text: str) -> frozenset[Topic]:
    """Return what an utterance asks about that has to be looked at."""
    found: set[Topic] = set()
    for part in re.split(r"(?<=[?!.;])\s+|\n", text):
        words = words_of(part)[:_WORDS_MAX]
        said = f" {' '.join(words)} "
        if _NOT_NOW.search(said):
            continue
        found |= {topic for topic, pattern in _COMPILED if pattern.search(said)}
    return frozenset(found)


def asserts(sentences: Iterable[Sentence], names: frozenset[str]) -> bool:
    """Tell whether a reply tells anything: not so if all of it is greetings, questions, or that it cannot tell.

    Args:
        sentences: the reply's.
        names: words of names, which tell nothing in a greeting.
    """
    for sentence in sentences:
        words = [word for word in sentence.words if word not in {",", ":"} and word not in names]
        told = not sentence.question and not sentence.narrated and not _GREETINGS.issuperset(words)
        if told and not _NO_ANSWER.search(sentence.text):
            return True
    return False


# --- who is said to be near -------------------------------------------------------------------------

_NEAR: Final = re.compile(
    r" (?:is|are|stands|stand|sits|sit) (?:also |both |all |currently |now |right |just |still |standing |sitting |dancing |hanging |over |very )*"
    r"(?:here|near|nearby|next to|beside|close|around|behind|in front of|over there|with us|standing|sitting|dancing|present)(?= )"
)
_SEEN: Final = re.compile(r" (?:i|we) (?:can )?(?:also |currently |now |only |just )*(?:see|spot|notice)(?= )")
_THERE: Final = re.compile(r" there (?:is|are) (?=\S)")
_PLACED: Final = frozenset(
    {"here", "near", "nearby", "there", "standing", "sitting", "dancing", "beside", "next", "behind", "around", "close"}
)
"""Words of which one makes what is seen something that is seen here."""
_DENIED: Final = frozenset(
    {"not", "no", "nobody", "never", "if", "unless", "whether", "was", "were", "would", "will", "nothing"}
)
_NO_NAMES: Final = frozenset(
    {
        *(
            "i",
            "we",
            "you",
            "he",
            "she",
            "it",
            "they",
            "the",
            "a",
            "an",
            "and",
            "but",
            "or",
            "so",
            "yes",
            "no",
            "there",
        ),
        *("here", "right", "now", "only", "just", "also", "this", "that", "these", "those", "my", "your", "our", "in"),
        *("on", "at", "one", "two", "three", "hello", "hi", "hey", "well", "oh", "sure", "second", "life", "region"),
        *("somebody", "someone", "everybody", "everyone", "people", "avatars", "visitors", "both", "all", "another"),
        *("besides", "beside", "next", "near", "nearby", "behind", "over", "around", "currently", "apart", "besides"),
        *("welcome", "of", "course", "let", "me", "as", "for", "with", "to", "looks", "it's", "he's", "she's", "who"),
        *("some", "many", "several", "other", "others", "quite", "lots", "plenty", "what", "where", "how", "god", "im"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "english", "german", "french"),
    }
)


def near_claimed(sentences: Sequence[Sentence], *, asked: bool) -> Iterator[tuple[str, ...]]:
    """Yield, for each sentence that says who is near or seen, the words in it that are names.

    Args:
        sentences: the reply's.
        asked: somebody asked for it, so that the first word of a sentence is a name too, if it can be one, and what
            is seen is seen here.
    """
    for sentence in sentences[:_SEEN_MAX]:
        said = sentence.text
        if sentence.question or sentence.narrated or not _DENIED.isdisjoint(sentence.words):
            continue
        near, seen, there = _NEAR.search(said), _SEEN.search(said), _THERE.search(said)
        if near is not None:
            yield _names(sentence, 0 if asked else 1, said[: near.start()].count(" "))
        if seen is not None or there is not None:
            begin = seen if seen is not None else there
            assert begin is not None  # noqa: S101 - one of the two was found
            start = said[: begin.end()].count(" ") - (begin is there)
            # Names are told bare; behind an article stands a thing, whatever letters it is written in.
            placed = asked or not _PLACED.isdisjoint(sentence.words[start:])
            if placed and sentence.capital[start : start + 1] == (True,):
                yield _names(sentence, start, len(sentence.words))


def _names(sentence: Sentence, start: int, stop: int) -> tuple[str, ...]:
    words: Iterable[tuple[str, bool]] = zip(sentence.words[start:stop], sentence.capital[start:stop], strict=True)
    return tuple(word for word, capital in words if capital and word not in _NO_NAMES and len(word) > 1)
