"""The gates a reply passes before it is said, in their order; the first that refuses decides.

Owns the order and what each gate looks at: fresh data, invented company, unverified deeds, commands in prose, gaps
that were never filled, and our own instructions repeated. Judges only; asking again is the loop's. Pure.

Invariant: what is judged is the reply against this turn's own results, never what a model says about itself; and
talk that claims nothing passes every gate (Spec: MND-7, MND-9).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import attrs
import msgspec

from gridagent.authority import TextSource
from gridagent.conversation.entries import Finding, Heard, Said, Used
from gridagent.ids import UUID_PATTERN
from gridagent.presence.address import words_of
from gridagent.tools.codes import ResultCode
from gridagent.tools.evidence import Evidence
from gridagent.turn.answers import answers_in
from gridagent.turn.backing import is_backed
from gridagent.turn.brief import Brief
from gridagent.turn.claims import claims_in
from gridagent.turn.clauses import Sentence, sentences_of
from gridagent.turn.deeds import Deed
from gridagent.turn.prompts import Correction, repeats_ours
from gridagent.turn.questions import LOOKS, Topic, asserts, near_claimed, topics_in

__all__ = ("GATES", "Draft", "refused_by")

_UUID: Final = re.compile(UUID_PATTERN.strip("^$"))
_ONE_TARGET: Final = frozenset({"look_at_avatar", "look_at_object", "find_region"})
"""Look-ups about one thing; they tell nothing of another."""
_ASKED_MAX_CHARS: Final = 8_192
_EARLIER_MAX: Final = 64
_EARLIER_MAX_CHARS: Final = 4_096
"""Of each text of earlier that is read; an utterance has 1,023 bytes, an answer rarely more than 3,000."""
_DATA_MAX_BYTES: Final = 128 * 1024
_DEPTH_MAX: Final = 8
_PEOPLE_MAX: Final = 512


@attrs.frozen
class Draft:
    """A reply as it is judged."""

    text: str
    sentences: tuple[Sentence, ...]
    asked: str
    """What it answers, as one text; a remark of our own asks for nothing."""
    topics: frozenset[Topic]
    """What that asks about."""
    brief: Brief
    evidence: tuple[Evidence, ...]
    """What this turn's calls brought."""

    @classmethod
    def of(cls, text: str, brief: Brief, evidence: tuple[Evidence, ...]) -> Draft:
        """Read a reply."""
        said = "\n".join(each.text for each in brief.now_said if each.source is not TextSource.SYSTEM)
        asked = said[-_ASKED_MAX_CHARS:]
        return cls(text, tuple(sentences_of(text)), asked, topics_in(asked), brief, evidence)


def refused_by(draft: Draft) -> Correction | None:
    """Return what is wrong with a reply, going by the first gate that refuses it; None where none does."""
    return next((correction for correction, refuses in GATES if refuses(draft)), None)


# --- what is true now --------------------------------------------------------------------------------


def _is_stale(draft: Draft) -> bool:
    """Tell whether it answers a question about now that nobody looked into in this turn."""
    topics = {each for each in draft.topics if not _is_looked_up(each, draft)}
    return bool(topics) and asserts(draft.sentences, _speakers(draft.brief))


def _is_looked_up(topic: Topic, draft: Draft) -> bool:
    brief = draft.brief
    if topic is Topic.TIME or (topic is Topic.PLACE and brief.surroundings_line):
        return True  # every request says when and where this is
    if all(isinstance(brief.access.find(name), ResultCode) for name in LOOKS[topic]):
        return True  # nothing could tell; whether it is made up is the next gate's
    return any(each.tool in LOOKS[topic] and _concerns(each, draft.asked) for each in draft.evidence)


def _concerns(evidence: Evidence, asked: str) -> bool:
    """Tell whether a look-up is about what was asked: by UUID, or by a word of its name."""
    if evidence.tool not in _ONE_TARGET:
        return True
    named = _UUID.findall(asked.lower())
    if named:
        return any(map(evidence.concerns, named))
    told = set(words_of(_text(evidence.data))) | set(words_of(_text(evidence.arguments)))
    return any(len(word) > 2 and word in told for word in words_of(asked) if word not in _PLAIN_WORDS)  # noqa: PLR2004


_PLAIN_WORDS: Final = frozenset(
    {
        *("the", "and", "you", "your", "are", "who", "what", "where", "this", "that", "here", "near", "see", "can"),
        *("there", "how", "much", "many", "does", "name", "region", "object", "avatar", "online", "price", "for"),
    }
)


def _is_invented(draft: Draft) -> bool:
    """Tell whether it names somebody or something near that no look of this turn shows."""
    asked = not draft.topics.isdisjoint({Topic.WHO, Topic.WHAT})
    claimed = {name for names in near_claimed(draft.sentences, asked=asked) for name in names}
    if not claimed:
        return False
    brief = draft.brief
    known = set(_speakers(brief)) | _own(brief)
    persona = brief.persona
    for text in (brief.surroundings_line, persona.style, *persona.knowledge):
        known.update(words_of(text))
    if not asked:  # places and people that were spoken of may be spoken of again
        spoken = (each.text for each in brief.history[-_EARLIER_MAX:] if isinstance(each, Heard | Said))
        for text in (draft.asked, *spoken):
            known.update(words_of(text[:_EARLIER_MAX_CHARS]))
    room = _DATA_MAX_BYTES
    for each in draft.evidence:
        known.update(words_of(_text(each.data[:room])))
        room -= min(room, len(each.data))
    return not claimed <= known


# --- what was done ------------------------------------------------------------------------------------


def _is_unverified(draft: Draft) -> bool:
    """Tell whether it claims a deed that nothing stands behind."""
    brief = draft.brief
    claims = [*claims_in(draft.sentences, own=_own(brief)), *answers_in(draft.sentences, draft.asked)]
    if not claims:
        return False
    speaker = brief.now_said[-1].avatar_id or ""
    people = _people(draft)
    foreign = any("__" in each.tool for each in draft.evidence)
    backed = partial(is_backed, now=draft.evidence, speaker=speaker, people=people, foreign=foreign)
    # What this turn did is nearly always all there is to it; only what is left is held against earlier turns.
    left = [claim for claim in claims if not backed(claim)]
    if not left:
        return False
    earlier, said = tuple(_findings(brief)), frozenset(_said(brief))
    return not all(backed(claim, earlier=earlier, said=said) for claim in left)


def _findings(brief: Brief) -> Iterator[Finding]:
    for entry in brief.history[-_EARLIER_MAX:]:
        if isinstance(entry, Used):
            yield from entry.evidence


def _said(brief: Brief) -> Iterator[Deed]:
    """Yield what we claimed earlier: it passed this gate then."""
    for entry in brief.history[-_EARLIER_MAX:]:
        if isinstance(entry, Said) and not entry.restored and entry.persona == brief.persona.digest:
            for claim in claims_in(sentences_of(entry.text[:_EARLIER_MAX_CHARS]), own=_own(brief)):
                yield from claim.deeds


def _people(draft: Draft) -> dict[str, str]:
    """Return the words of names we know, each with the UUID it belongs to; what two share is nobody's."""
    found: dict[str, str] = {}  # at most _PEOPLE_MAX and the words of one name
    heard = (each for each in (*draft.brief.history, *draft.brief.now_said) if isinstance(each, Heard))
    named: list[tuple[str, str]] = [(each.who, each.avatar_id) for each in heard if each.avatar_id]
    for each in draft.evidence:
        named += _named_in(_decoded(each.data), 0)
    for name, avatar_id in named:
        for word in words_of(name):
            found[word] = avatar_id if found.get(word, avatar_id) == avatar_id else ""
        if len(found) >= _PEOPLE_MAX:
            break
    return {word: avatar_id for word, avatar_id in found.items() if avatar_id}


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data) if data else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _named_in(tree: object, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEPTH_MAX:
        return
    if isinstance(tree, dict):
        name, avatar_id = tree.get("name"), tree.get("avatar_id")
        if isinstance(name, str) and isinstance(avatar_id, str):
            yield name, avatar_id
    below: Iterable[object] = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for each in below:
        yield from _named_in(each, depth + 1)


# --- how it is written -----------------------------------------------------------------------------------

_DOES: Final = (
    "pay|give|send|tp|teleport|follow|unfollow|im|sit|stand|walk|goto|go|kick|ban|eject|invite|friend|rez|delete|touch"
    "|transfer|tip|move|money"
)
_COMMANDS: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"^[ \t]*[/!\\@](?:{_DOES})\b",
        rf"[\[<{{]\s*/?(?:{_DOES})\b[^\]>}}\n]{{0,80}}[\]>}}]",
        r"</?(?:tool_calls?|function_calls?|function|invoke|tool|tool_use|parameter|action)\b[^>\n]{0,80}>",
        r"\[/?TOOL_CALLS?\]|<\|(?:tool|python_tag|function)[^|\n]{0,40}\|>",
        r"[{,]\s*[\"'](?:name|tool|tool_name|function|action|arguments|parameters|command)[\"']\s*:",
        r"^[ \t]*(?:action|tool|function|call|command)\s*:\s*[a-z]+(?:_[a-z]+|\s*\()",
    )
)
_CALLED: Final = re.compile(r"\b([a-z]+)\s?\(\s*[^()\n]{0,200}[=:{\"'][^()\n]{0,200}\)")
_TOOL_WORD: Final = re.compile(r"(?<![\w/.:-])[a-z]+(?:_[a-z0-9]+)+(?![\w/.-])")
_CALLED_MAX: Final = 64


def _is_command(draft: Draft) -> bool:
    """Tell whether it has a command in it: one that looks like one, or the name of a tool."""
    text = draft.text
    if any(pattern.search(text) for pattern in _COMMANDS):
        return True
    words = [*_TOOL_WORD.findall(text)[:_CALLED_MAX], *_CALLED.findall(text)[:_CALLED_MAX]]
    find = draft.brief.access.find
    return any(find(word) is not ResultCode.UNKNOWN_TOOL for word in words)


_GAPS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"\[\s*(?:insert|your|enter|fill|add|todo|tbd|placeholder|user|visitor|avatar|owner|person|speaker|amount"
            r"|place|name|region|location|link|url|number|date|time|x{2,})\b[^\]\n]{0,60}\]"
        ),
        r"\{\{[^{}\n]{0,60}\}\}|\$\{[^{}\n]{1,60}\}|\{[a-z_]{2,30}\}|%\([a-z_]{1,30}\)s|(?<![\w%])%[sd]\b",
        r"<\s*(?:insert|your|user(?:name)?|visitor|avatar|name|placeholder|amount|owner)\b[^<>\n]{0,40}>",
        r"_{4,}|lorem ipsum|\[object object\]",
        (
            r"\A\W*(?:todo|tbd|placeholder|undefined|null|nan|response|reply|assistant"
            r"|your (?:answer|reply|response) here)\W*\Z"
        ),
    )
)


def _has_gap(draft: Draft) -> bool:
    """Tell whether there is something in it that was never filled in."""
    return any(pattern.search(draft.text) for pattern in _GAPS)


def _is_echo(draft: Draft) -> bool:
    """Tell whether it repeats what only we told the model."""
    return repeats_ours(words_of(draft.text))


GATES: Final[tuple[tuple[Correction, Callable[[Draft], bool]], ...]] = (
    (Correction.STALE, _is_stale),
    (Correction.INVENTED, _is_invented),
    (Correction.UNVERIFIED_ACTION, _is_unverified),
    (Correction.COMMAND_IN_PROSE, _is_command),
    (Correction.PLACEHOLDER, _has_gap),
    (Correction.ECHO, _is_echo),
)
"""The gates in the order in which they are asked."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _speakers(brief: Brief) -> frozenset[str]:
    return frozenset(word for each in brief.now_said for word in words_of(each.who))


def _own(brief: Brief) -> frozenset[str]:
    names = (brief.persona.name, brief.self_name, *brief.persona.aliases)
    return frozenset(word for name in names for word in words_of(name) if word != "resident")
