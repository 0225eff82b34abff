"""What a reply claims only because of what it answers: ``Done``, ``Yes``, ``Right behind you``.

Owns what somebody may be asking the avatar to do, and the many short ways of telling them that it is done. Pure, and
linear in the text.

Invariant: without a deed that was asked for, or asked about, nothing here is a claim (Spec: MND-9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gridagent.turn.claims import Claim, claim_of, claims_in, is_said_so
from gridagent.turn.clauses import Sentence, amount_of, is_amount, sentences_of
from gridagent.turn.deeds import DONE, NOUNS, STILL, WHEN_ASKED, Deed

__all__ = ("answers_in", "asked_for")

_NEAR: Final = 8
_YES: Final = frozenset(
    {"yes", "yep", "yeah", "yup", "indeed", "certainly", "absolutely", "affirmative", "correct", "already"}
)
_YES_ONLY: Final = frozenset({"i did", "i have", "of course", "of course i did", "sure did", "just now", "i just did"})
_ASKED: Final[dict[str, frozenset[Deed]]] = {
    **dict.fromkeys(("pay", "tip", "refund", "transfer", "wire"), frozenset({Deed.PAY})),
    "follow": frozenset({Deed.FOLLOW}),
    **dict.fromkeys(("come", "walk"), frozenset({Deed.WALK, Deed.FOLLOW, Deed.TELEPORT})),
    "sit": frozenset({Deed.SIT}),
    "stand": frozenset({Deed.STAND}),
    "remember": frozenset({Deed.REMEMBER}),
    **dict.fromkeys(("teleport", "tp"), frozenset({Deed.TELEPORT, Deed.INVITE})),
    "invite": frozenset({Deed.INVITE, Deed.BEFRIEND}),
    "befriend": frozenset({Deed.BEFRIEND}),
    **dict.fromkeys(("touch", "click", "press"), frozenset({Deed.TOUCH})),
    "rez": frozenset({Deed.REZ}),
    "rename": frozenset({Deed.EDIT}),
    "delete": frozenset({Deed.DELETE}),
    **dict.fromkeys(("eject", "kick", "ban"), frozenset({Deed.EJECT})),
    **dict.fromkeys(("mute", "block"), frozenset({Deed.MUTE})),
    **dict.fromkeys(("message", "notify", "im"), frozenset({Deed.MESSAGE})),
}
_PAST_OF: Final = {
    "pay": "paid",
    "tip": "tipped",
    "send": "sent",
    "give": "gave",
    "transfer": "transferred",
    "hand": "handed",
    "refund": "refunded",
    "follow": "followed",
    "teleport": "teleported",
    "invite": "invited",
    "message": "messaged",
    "add": "added",
    "ban": "banned",
    "notify": "notified",
    "tell": "informed",
    "inform": "informed",
    "contact": "contacted",
    "delete": "deleted",
    "mute": "muted",
    "eject": "ejected",
    "kick": "kicked",
    "block": "blocked",
    "accept": "accepted",
    "touch": "touched",
    "rez": "rezzed",
}
_ASKS_WHETHER: Final = frozenset({"how", "why", "when", "what", "who", "where", "which"})
"""What a question begins with that asks for words, whatever deed is in it."""
_GOING: Final = frozenset({"go", "teleport", "tp", "return", "head"})
_ASKED_MAX: Final = 64
_TURNED: Final = {"you": "i", "your": "my", "me": "you", "us": "you"}


def asked_for(text: str) -> frozenset[Deed]:
    """Return the deeds that somebody may be asking for."""
    found: set[Deed] = set()
    for sentence in sentences_of(text)[:_ASKED_MAX]:
        words = sentence.words
        if words[0] in _ASKS_WHETHER and words[:2] != ("how", "about"):
            continue
        for at, word in enumerate(words):
            found |= _ASKED.get(word, frozenset())
            if word in {"give", "send", "hand", "lend"}:
                near = words[at + 1 : at + 1 + _NEAR]
                found |= {NOUNS[each] for each in near if each in NOUNS} | (
                    {Deed.PAY} if any(map(is_amount, near)) else set()
                )
            if word == "home" and not _GOING.isdisjoint(words[:at]):
                found.add(Deed.TELEPORT)
            if (word == "add" and "friend" in words[at:]) or (word == "friend" and "me" in words[at : at + 2]):
                found.add(Deed.BEFRIEND)
            if word == "stop" and not {"following", "moving", "walking"}.isdisjoint(words[at:]):
                found.add(Deed.HALT)
            if word in {"tell", "inform"} and words[at + 1 : at + 2] not in {("me",), ("us",)}:
                found.add(Deed.MESSAGE)
    return frozenset(found)


def answers_in(sentences: Sequence[Sentence], asked: str) -> Iterator[Claim]:
    """Yield what a reply claims because of what it answers.

    Args:
        sentences: the reply's.
        asked: what it answers.
    """
    wanted = asked_for(asked)
    if wanted:
        for sentence in sentences:
            yield from _as_asked(sentence, wanted)
            if not sentence.question and DONE.search(sentence.text):
                amounts = [amount_of(word) for word in sentence.words if is_amount(word)]
                yield Claim(
                    wanted,
                    to_you=False,
                    names=(),
                    amount=amounts[0] if amounts else None,
                    elsewhere=False,
                    outspoken=False,
                )
    first = sentences[0].words if sentences else ("",)
    head = " ".join(word for word in first if word != ",")
    if (first[0] in _YES and "not" not in first and "but" not in first[:3]) or head in _YES_ONLY:
        for question in sentences_of(asked):
            yield from claims_in([_as_statement(question)])


def _as_asked(sentence: Sentence, wanted: frozenset[Deed]) -> Iterator[Claim]:
    """Yield what a sentence says was done of what was asked for."""
    if sentence.question or sentence.narrated or not STILL.isdisjoint(sentence.words):
        return
    text = sentence.text
    for pattern, deeds in WHEN_ASKED:
        meant = deeds or wanted
        found = None if meant.isdisjoint(wanted) else pattern.search(text)
        if found is None:
            continue
        if is_said_so(text, found):
            yield claim_of(sentence, meant, tuple(found[0].split()), ())


def _as_statement(question: Sentence) -> Sentence:
    """Return what a yes to ``Did you pay me?`` says."""
    words = tuple(_TURNED.get(word, word) for word in question.words)
    if words[:2] in {("did", "i"), ("have", "i")}:
        words = ("i", *(_PAST_OF.get(word, word) for word in words[2:]))
        return Sentence(words, question.capital[-len(words) :], question=False, narrated=False)
    return Sentence((), (), question=False, narrated=False)
