"""What a reply claims the avatar has done.

Owns telling a claim from everything that only sounds like one: denials, questions, conditions, quotes, what others
did, and talk of another time. What deeds there are, and their words, is `gridagent.turn.deeds`; whether anything
stands behind a claim is `gridagent.turn.backing`. Pure, and linear in the text.

Invariant: what only asks, denies, supposes, quotes or tells of others is no claim (Spec: MND-9).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gridagent.turn.clauses import Sentence, amount_of, is_amount
from gridagent.turn.deeds import ELSEWHERE, HANDED, NOUNS, STATE_WORDS, STATES, VERBS, Deed, Form

__all__ = ("Claim", "claim_of", "claims_in", "is_said_so")

_OURS: Final = frozenset({"i", "we"})
_OTHERS: Final = frozenset(
    {
        *("you", "he", "she", "they", "it", "who", "someone", "somebody", "people", "everyone", "everybody", "nobody"),
        *("one", "others", "that", "which", "this", "him", "her", "them"),
    }
)
_BETWEEN: Final = frozenset(
    {
        *("have", "has", "had", "just", "already", "now", "also", "successfully", "happily", "finally", "even", "then"),
        *("safely", "gladly", "hereby", "really", "am", "are", "still", "so", "again", "first", "quickly", "too"),
        *("immediately", "indeed", "actually", "personally", "duly", "went", "ahead", "did", "gone", "officially"),
        *("is", "was", "were", "been", "be", "got", "both", "recently", "earlier", "currently", "all", "simply"),
    }
)
_PASSIVE: Final = frozenset({"am", "are", "is", "was", "were", "been", "be", "got"})
_PAST_GOING: Final = frozenset({"was", "were", "been", "be", "got"})
_PARTS: Final = frozenset({",", ":", "and", "but", "so", "because", "then", "or", "while", "since"})
_INTERJECTIONS: Final = frozenset(
    {
        *("yes", "yeah", "yep", "ok", "okay", "sure", "alright", "right", "great", "done", "there", "well", "oh", "ah"),
        *("thing", "all", "good", "of", "course", "hi", "hello", "hey", "thanks", "thank", "you", "no", "problem"),
        *("certainly", "absolutely", "perfect", "fine", "as", "requested", "promised", "here", "go", "it", "is"),
    }
)
_UNREAL: Final = frozenset(
    {
        *("if", "unless", "whether", "suppose", "imagine", "pretend", "until", "once", "before", "when", "after"),
        *("wish", "would", "though", "soon", "not", "never", "no", "neither", "nor", "hardly", "cannot", "without"),
        *("nobody", "nothing", "none", "lie", "false", "untrue", "wrong"),
        # as the languages say it in which a payment is claimed
        *(
            "nicht",
            "nichts",
            "kein",
            "nie",
            "pas",
            "rien",
            "jamais",
            "nunca",
            "nada",
            "non",
            "n\u00e3o",
            "niet",
            "niets",
        ),
    }
)
_SAYING: Final = frozenset(
    {
        *("said", "say", "says", "saying", "think", "thinks", "thought", "claim", "claims", "claimed", "believe"),
        *("believes", "told", "tell", "tells", "heard", "ask", "asks", "asked", "want", "wants", "wanted", "mean"),
        *("means", "suggest", "suggests", "insist", "insists", "assume", "assumes", "hoped", "hope", "hopes"),
    }
)
_WILL: Final = frozenset({"will", "would", "can", "could", "may", "might", "must", "shall", "to"})
_NOTHING: Final = frozenset({"nothing", "nobody", "none", "no", "zero", "neither"})
_PARTICIPLES_GO_ON: Final = frozenset({"by", "from", "in", "of", "near", "that", "with", "as", "on", "at"})
_GERUNDS_GO_ON: Final = frozenset(
    {"is", "would", "was", "can", "could", "will", "might", "may", "has", "requires", "needs"}
)
_WINDOW: Final = 8
_BACK: Final = 64
"""Words that are looked at in front of a verb; a sentence may be as long as a reply."""
_TAG_WORDS: Final = 3
_HARMLESS: Final = frozenset({Deed.WALK, Deed.SIT, Deed.STAND, Deed.TOUCH, Deed.HALT, Deed.LOOK})
"""Deeds whose narration is taken out of what is spoken, and is no lie then."""
_OUTSPOKEN: Final = frozenset({"now", "just", "again"})


@attrs.frozen
class Claim:
    """One thing a reply says was done."""

    deeds: frozenset[Deed]
    """Any of them would make it true."""
    to_you: bool
    """It is said to be done to whoever is spoken to."""
    names: tuple[str, ...]
    """Words with a capital that say to whom or what."""
    amount: int | None
    elsewhere: bool
    """It tells of another time."""
    outspoken: bool
    """It says that it was just now: what was done in earlier turns is not meant."""


def claims_in(sentences: Sequence[Sentence], *, own: frozenset[str] = frozenset()) -> tuple[Claim, ...]:
    """Return what a reply claims.

    Args:
        sentences: the reply's.
        own: words of the avatar's names; as a subject they mean the avatar.
    """
    return tuple(claim for sentence in sentences for claim in _claims(sentence, own))


# --- finding claims -------------------------------------------------------------------------------


def _claims(sentence: Sentence, own: frozenset[str]) -> Iterator[Claim]:
    words = sentence.words
    last = _last_claimable(sentence)
    for at, word in enumerate(words[:last]):
        verb = VERBS.get(word)
        if verb is None or (verb.form is Form.NARRATED and not (sentence.narrated or _named(words, at, own))):
            continue
        if not _is_ours(sentence, at, verb.form, own):
            continue
        after, names = _objects(sentence, at)
        if not _NOTHING.isdisjoint(after) or "money:0" in after or after[:1] in {("me",), ("us",)}:
            continue
        deeds = _deeds(verb.deed, after, names, verb.wants, verb.never)
        if sentence.narrated:
            deeds -= _HARMLESS
        if deeds:
            yield claim_of(sentence, deeds, after, names)
    if last == len(words) and not sentence.question:
        yield from _states(sentence)


def _last_claimable(sentence: Sentence) -> int:
    """Return how many words of a sentence can claim: of a question, what stands before a tag such as ``right?``."""
    words = sentence.words
    if not sentence.question:
        return len(words)
    commas = [at for at, word in enumerate(words) if word == ","]
    declared = bool(words) and (words[0] in _OURS or words[0] in VERBS or words[0] in _INTERJECTIONS)
    if commas and declared and len(words) - commas[-1] - 1 <= _TAG_WORDS:
        return commas[-1]
    return 0


def _named(words: tuple[str, ...], at: int, own: frozenset[str]) -> bool:
    return at > 0 and words[at - 1] in own


def _is_ours(  # noqa: PLR0911 - one return a reason
    sentence: Sentence, at: int, form: Form, own: frozenset[str]
) -> bool:
    """Tell whether the verb at a place says what the avatar did, and says that it is so."""
    words = sentence.words
    here = at - 1
    while here >= 0 and words[here] in _BETWEEN and words[here] not in own:
        here -= 1
    between = frozenset(words[here + 1 : at])
    if form is Form.PAST and not _PASSIVE.isdisjoint(between):
        return False
    if form is Form.GOING_ON and not _PAST_GOING.isdisjoint(between):
        return False
    if here >= 0 and (words[here] in _OURS or words[here] in own):
        return (form is not Form.GOING_ON or not {"am", "are"}.isdisjoint(between)) and _is_real(words, here)
    after = words[at + 1 : at + 1 + _WINDOW]
    if form is Form.GOING_ON and not _GERUNDS_GO_ON.isdisjoint(after):
        return False
    if form is Form.PAST and (
        words[at] in {"given", "made", "written"} or (after[:1] and after[0] in _PARTICIPLES_GO_ON)
    ):
        return False
    if here < 0:
        return True
    if words[here] not in _PARTS:
        return False
    return _inherits(sentence, here, form, own)


def _inherits(sentence: Sentence, here: int, form: Form, own: frozenset[str]) -> bool:
    """Tell whether a verb behind a comma or an ``and`` has the avatar for its subject."""
    words = sentence.words
    before = words[max(0, here - _BACK) : here]
    if all(word in _INTERJECTIONS or word in _PARTS for word in before):
        return True
    if sentence.narrated:
        return True
    for back in range(here - 1, max(-1, here - _BACK), -1):
        word = words[back]
        if word in _OURS or word in own:
            between = frozenset(words[back + 1 : here])
            return _is_real(words, back) and between.isdisjoint(
                {"not", "never", "will", "would", "can", "could", "should"}
            )
        if word in _OTHERS and back + 1 < here and not (back and words[back - 1] in VERBS):
            return False
    return form is Form.PAST and words[here] == "," and not sentence.capital[0]


def _is_real(words: tuple[str, ...], subject: int) -> bool:
    """Tell whether what a subject is said to have done is said to be so: no condition, denial or report."""
    far = max(0, subject - _BACK)
    start = next((at + 1 for at in range(subject - 1, far - 1, -1) if words[at] in _PARTS), far)
    lead = words[start:subject]
    if not _UNREAL.isdisjoint(lead):
        return False
    said = not _SAYING.isdisjoint(lead)
    if said and _OURS.isdisjoint(lead):
        return False
    by_others = start >= 2 and words[start - 1] in {",", ":"} and words[start - 2] in _SAYING  # noqa: PLR2004
    return not (by_others and _OURS.isdisjoint(words[max(0, start - _BACK) : start - 1]))


def _objects(sentence: Sentence, at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words behind a verb up to the end of its clause, and those of them with a capital."""
    words = sentence.words
    stop = next(
        (
            end
            for end in range(at + 1, min(len(words), at + 1 + _WINDOW))
            if words[end] in _PARTS and words[end : end + 2] != ("so", "far")
        ),
        min(len(words), at + 1 + _WINDOW),
    )
    after = words[at + 1 : stop]
    names = tuple(
        word
        for word, capital in zip(after, sentence.capital[at + 1 : stop], strict=True)
        if capital and word not in _OURS and not is_amount(word) and word not in {"l", "im", "pm", "tp", "lm"}
    )
    return after, names


def _deeds(
    deed: Deed | None, after: tuple[str, ...], names: tuple[str, ...], wants: frozenset[str], never: frozenset[str]
) -> frozenset[Deed]:
    """Return what a verb with these words behind it may mean."""
    has_money = any(map(is_amount, after))
    if deed is None:
        handed = {NOUNS[word] for word in after if word in NOUNS} | ({Deed.PAY} if has_money else set())
        if handed:
            return frozenset(handed)
        vague = not after or all(word in _VAGUE for word in after)
        return HANDED if vague else frozenset()
    if not never.isdisjoint(after) and not has_money:
        return frozenset()
    if deed is Deed.PAY and after[:1] == ("for",) and not has_money:
        return frozenset()
    if not wants or not wants.isdisjoint(after) or (names and "NAME" in wants) or (has_money and "money" in wants):
        return frozenset({deed})
    numbers = deed is Deed.PAY and any(word.isdigit() for word in after)
    return frozenset({deed}) if numbers or (deed is Deed.PAY and not after) else frozenset()


_VAGUE: Final = frozenset(
    {
        *("it", "them", "that", "you", "him", "her", "to", "over", "now", "already", "just", "all", "everything"),
        *("both", "as", "requested", "promised"),
    }
)


def claim_of(sentence: Sentence, deeds: frozenset[Deed], after: tuple[str, ...], names: tuple[str, ...]) -> Claim:
    """Return the claim of these deeds; the words behind the verb say to whom and how much."""
    amounts = [amount_of(word) for word in after if is_amount(word)]
    return Claim(
        deeds=deeds,
        to_you="you" in after or "your" in after,
        names=names,
        amount=amounts[0] if amounts else None,
        elsewhere=not ELSEWHERE.isdisjoint(sentence.words),
        outspoken=not _OUTSPOKEN.isdisjoint(sentence.words),
    )


def _states(sentence: Sentence) -> Iterator[Claim]:
    """Yield claims that say how things are now, without saying who did it."""
    if STATE_WORDS.isdisjoint(sentence.words) and not any(map(is_amount, sentence.words)):
        return
    text = sentence.text
    for pattern, deed in STATES:
        found = pattern.search(text)
        if found is None:
            continue
        behind = text[found.end() :].split()
        if behind[:1] in (["by"], ["from"]) or not is_said_so(text, found):
            continue
        yield claim_of(sentence, frozenset({deed}), (*found[0].split(), *behind[:_WINDOW]), ())


def is_said_so(text: str, found: re.Match[str]) -> bool:
    """Tell whether what was found in a sentence's text is said to be so: no denial, condition, report or plan."""
    before = text[: found.start()].split()
    clause = before[max((at + 1 for at, word in enumerate(before) if word in _PARTS), default=0) :]
    reported = not _SAYING.isdisjoint(clause) and _OURS.isdisjoint(clause)
    return not reported and _UNREAL.isdisjoint({*clause, *found[0].split()}) and _WILL.isdisjoint(clause)
