"""From a model's reply to what is said: what does not belong into speech is taken out.

Owns taking out labels, tags of chat templates, stage directions, ids, marks for layout, and sentences in which the
model takes itself for some product; and cutting at the end of a sentence. Adds no word. Pure.

Invariant: what comes out is plain text within its bound, without control characters or a UUID; cleaning it again
changes nothing. Whoever uses it judges the outcome once more, since leaving words out can turn a sentence round
(Spec: MND-9, PRS-3).
"""
# ruff: noqa: E501 - patterns are read a row at a time

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import attrs

from gridagent.ids import UUID_PATTERN
from gridagent.presence.address import words_of
from gridagent.turn.silence import says_nothing, without_markers

__all__ = ("Sanitised", "sanitised")

_PASSES_MAX: Final = 4
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_JOINERS: Final = frozenset("\u200c\u200d")
"""Written in the middle of words and of emoji; harmless in speech."""

_THINK: Final = re.compile(r"<(think(?:ing)?|reasoning|scratchpad)>.{0,65536}?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_TEMPLATE: Final = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\uff5c[^\uff5c<>\n]{0,40}\uff5c>|</?s>|\[/?INST\]|<<?/?SYS>>?|<(?:start|end)_of_turn>"
    r"|</?(?:assistant|user|system|response|answer|reply|message|output|final|speech|say)>|<br\s*/?>",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"```[a-z]{0,12}[ \t]*\n?|`", re.IGNORECASE)
_LABEL: Final = re.compile(r"^[^\n:\[\]]{0,70}\[(?:[0-9a-f-]{8,36}, )?(?:owner|authorised|stranger|object|system|memory)\][ \t]*:[ \t]*", re.IGNORECASE)  # fmt: skip
_ROLE: Final = re.compile(r"^(?:assistant|ai|bot|response|reply|answer|output|system)[ \t]*:[ \t]*", re.IGNORECASE)
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
_STARS: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,300}?)(?<=\S)\1(?![\w*])")
_BRACKETED: Final = re.compile(r"(?<!\w)[(\[]([^()\[\]\n]{2,200})[)\]]")
_EMOTED: Final = re.compile(r"^[ \t]*/me\b[^\n]*(?:\n|\Z)", re.MULTILINE)
_GESTURES: Final = re.compile(
    r"(?:(?:softly|gently|warmly|slowly|quietly|happily|cheerfully|then|and|he|she|they|i)\s+)?"
    r"(?:smil|wav|nod|grin|laugh|chuckl|giggl|sigh|bow|wink|shrug|blush|frown|gasp|whisper|pois|paus|turn|look|glanc|lean|tilt"
    r"|step|walk|mov|approach|point|gestur|rais|scratch|stretch|yawn|danc|spin|hug|pat|kneel|sit|stand|clap|cheer|thinks?|pat"
    r"|purr|beam|gaz|star(?:e|ing)|shak|lift|twirl|jump|hop|curts|salut|hum|sing|whistl|clear|adjust|offer|extend|hold|reach"
    r"|giv|hand|tak|pull|push|open|clos|run|follow|stay|remain|listen|watch|consider|ponder)(?:s|es|ies|ing|ning|ting|ping)\b",
    re.IGNORECASE,
)
_IDS: Final = re.compile(rf"\s?[(\[<]?(?:uuid|id|key)?[:= ]{{0,2}}{UUID_PATTERN.strip('^$')}[)\]>]?", re.IGNORECASE)
_PRODUCTS: Final = (
    "chatgpt|gpt-?[0-9][\\w.-]{0,12}|claude|gemini|bard|llama(?:[ -]?[0-9][\\w.]*)?|mistral|qwen|deepseek|copilot|grok"
)
_MAKERS: Final = (
    "openai|anthropic|google(?: deepmind)?|meta(?: ai)?|mistral(?: ai)?|alibaba(?: cloud)?|microsoft|deepseek|xai"
)
_DRIFT: Final = re.compile(
    rf"(?:\A|(?<=[.!?\n]))[ \t]*[^.!?\n]{{0,80}}?\b(?:i\s*am|i['\u2019]m|my name is|call me|this is)\s+(?:{_PRODUCTS})\b[^.!?\n]{{0,300}}[.!?]*"
    rf"|(?:\A|(?<=[.!?\n]))[ \t]*[^.!?\n]{{0,80}}?\bi\s*(?:was|am|['\u2019]m|have been)\s+(?:an? [^.!?\n]{{0,40}})?"
    rf"(?:made|created|developed|trained|built)\s+by\s+(?:{_MAKERS})\b[^.!?\n]{{0,300}}[.!?]*",
    re.IGNORECASE,
)
_AS_A_MODEL: Final = re.compile(
    r"(?:\A|(?<=[.!?]\s)|(?<=\n))(?:(?:i['\u2019]?m sorry|sorry|apologies|unfortunately),?\s+(?:but\s+)?)?as an? (?:large |helpful |virtual |artificial )*"
    r"(?:ai|language|artificial intelligence)(?: language)?(?: model| assistant)?(?: (?:made|created|developed|trained) by \w+)?,\s*(?=\w)",
    re.IGNORECASE,
)
_SPACES: Final = re.compile(r"[ \t\u00a0]+")
_LINES: Final = re.compile(r"\s*\n\s*")
_SENTENCE_END: Final = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019]*(?=\s|\Z)")


@attrs.frozen
class Sanitised:
    """What is left of a reply."""

    text: str
    """Empty where nothing is."""
    codes: tuple[str, ...]
    """What was taken out, in order."""


def sanitised(text: str, names: Iterable[str], *, max_bytes: int, cut: bool = False) -> Sanitised:
    """Return what is to be said of a reply.

    Args:
        text: as the model wrote it.
        names: of the avatar; a label or a product of that name is its own.
        max_bytes: of UTF-8.
        cut: the model was cut off, so its last sentence may be none.
    """
    own = [name for name in names if name.strip()]
    codes: list[str] = []
    here = text
    for _ in range(_PASSES_MAX):  # what is taken out may lay something bare
        before = here
        for code, clean in _STEPS:
            after = clean(here, own)
            if (
                after != here
                and code not in codes
                and _SPACES.sub(" ", after).strip() != _SPACES.sub(" ", here).strip()
            ):
                codes.append(code)
            here = after
        if here == before:
            break
    shorter = _fitted(here, max_bytes, cut=cut)
    if shorter != here:
        codes.append("too_long")
    if says_nothing(shorter):
        return Sanitised("", tuple(codes))
    return Sanitised(shorter, tuple(codes))


def _seen(text: str, _: list[str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept = (
        each if each in "\n\t" or each in _JOINERS or unicodedata.category(each) not in _UNSEEN else "" for each in text
    )
    return "".join(kept).replace("\u2028", "\n").replace("\u2029", "\n")


def _untagged(text: str, _: list[str]) -> str:
    return _TEMPLATE.sub(" ", _THINK.sub(" ", without_markers(text))) if "<" in text or "[" in text else text


def _unfenced(text: str, _: list[str]) -> str:
    return _HEADING.sub("", _FENCE.sub("", text)) if "`" in text or "#" in text else text


def _unlabelled(text: str, own: list[str]) -> str:
    bare = _ROLE.sub("", _LABEL.sub("", text.strip()))
    head, colon, rest = bare.partition(":")
    if colon and head.strip("*_ ").casefold() in {name.casefold() for name in own}:
        return rest.lstrip("* ")
    return bare


def _unnarrated(text: str, _: list[str]) -> str:
    text = _EMOTED.sub("", text)
    return _BRACKETED.sub(_without_gesture, _STARS.sub(_without_stars, text))


def _without_stars(found: re.Match[str]) -> str:
    inner = found[2]
    # One word in stars may be there for its weight, and "not" is: only what tells of a gesture goes.
    return " " if _GESTURES.match(inner.strip()) else inner


def _without_gesture(found: re.Match[str]) -> str:
    return " " if _GESTURES.match(found[1].strip()) else found[0]


def _without_ids(text: str, _: list[str]) -> str:
    return _IDS.sub("", text) if "-" in text else text


def _in_character(text: str, own: list[str]) -> str:
    kept = _AS_A_MODEL.sub("", text)
    called = {word for name in own for word in words_of(name)}
    return _DRIFT.sub(
        lambda found: found[0] if not called.isdisjoint(words_of(found[0])) or _denies(found[0]) else " ", kept
    )


def _denies(sentence: str) -> bool:
    return not {"not", "no", "isn", "never", "t", "if", "whether"}.isdisjoint(words_of(sentence))


def _spaced(text: str, _: list[str]) -> str:
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()


_STEPS: Final = (
    ("unseen", _seen),
    ("tag", _untagged),
    ("layout", _unfenced),
    ("label", _unlabelled),
    ("stage_direction", _unnarrated),
    ("id", _without_ids),
    ("persona_drift", _in_character),
    ("space", _spaced),
)


def _fitted(text: str, max_bytes: int, *, cut: bool) -> str:
    """Cut a text at the end of a sentence, of a word, or of a character, in that order."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= max_bytes and not cut:
        return text
    short = raw[:max_bytes].decode("utf-8", "ignore")
    ends = [found.end() for found in _SENTENCE_END.finditer(short)]
    if ends:
        return short[: ends[-1]].rstrip()
    if len(raw) <= max_bytes:
        return text
    head = short[: len(short) - 1] if max_bytes - len(short.encode()) < 3 else short  # noqa: PLR2004 - room for an ellipsis
    while len(head.encode()) > max_bytes - 3:
        head = head[:-1]
    word = head.rpartition(" ")[0]
    return f"{(word or head).rstrip()}\u2026"
