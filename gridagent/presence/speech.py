"""How a reply is spoken: in how many utterances, how fast, and with the typing sign or without (Spec: PRS-3).

Owns the splitting and the pace; says nothing itself. The mind asks for a plan, and proposes its parts one after the
other when their time has come. White space is folded; words stay whole where one fits, and what a reader sees as
one character (a letter with its accents, an emoji with its tone, a flag) stays whole where one fits.

Invariant: each part is at most 1,023 bytes of UTF-8 and never empty, there are at most so many, and together they
are the text, up to a mark where it was too long.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import msgspec

from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.limits import CHAT_MAX_BYTES, Bounded, ChatText

__all__ = ("SpeechPart", "SpeechPlan", "plan_speech", "split_speech")

_CUT: Final = "…"
_UNSPACED_ENDS: Final = frozenset("\u3002\uff01\uff1f")
"""The full-width marks that end a sentence without a space behind them."""
_SENTENCE_ENDS: Final = frozenset(".!?\u2026") | _UNSPACED_ENDS
_JOINER: Final = "\u200d"


class SpeechPart(Bounded, frozen=True, kw_only=True):
    """One utterance."""

    text: ChatText
    after_s: float
    """Seconds of typing between the part before (or the beginning) and this one."""


class SpeechPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one reply is spoken."""

    parts: tuple[SpeechPart, ...]
    """In order; none for a reply of nothing but white space."""
    shows_typing: bool
    """Show the typing sign before each part, and hide it after the last."""
    is_cut: bool
    """The text was too long; the last part ends with a mark."""

    @property
    def takes_s(self) -> float:
        """Seconds until the last part is spoken."""
        return sum(part.after_s for part in self.parts)


def plan_speech(text: str, section: PresenceSection, origin: Origin = Origin.PUBLIC_CHAT) -> SpeechPlan:
    """Plan how a reply is spoken.

    Args:
        text: the whole reply.
        section: bounds and pace.
        origin: the door it goes out by; the typing sign is a public one.
    """
    texts, is_cut = split_speech(text, parts_max=section.speech_parts_max)
    parts = tuple(SpeechPart(text=part, after_s=_typing_s(part, section)) for part in texts)
    types = any(part.after_s > 0.0 for part in parts)
    shows = section.show_typing and origin is Origin.PUBLIC_CHAT and types
    return SpeechPlan(parts=parts, shows_typing=shows, is_cut=is_cut)


def split_speech(text: str, *, parts_max: int, part_bytes: int = CHAT_MAX_BYTES) -> tuple[tuple[str, ...], bool]:
    """Split a text into utterances.

    Args:
        text: any text.
        parts_max: most parts, at least 1.
        part_bytes: most bytes of UTF-8 of one part, at least 8.

    Returns:
        The parts, and whether something was left out after the last.
    """
    rest = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    parts: list[str] = []
    while rest and len(parts) < parts_max:
        is_last = len(parts) + 1 == parts_max
        end = _fitting(rest, part_bytes)
        if is_last and end < len(rest):
            end = _break(rest, _fitting(rest, part_bytes - len(_CUT.encode())))
            parts.append(rest[:end].rstrip() + _CUT)
            return tuple(parts), True
        end = _break(rest, end)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return tuple(parts), False


def _typing_s(part: str, section: PresenceSection) -> float:
    return min(len(part) / section.speech_characters_per_s, section.speech_pause_max_s)


def _fitting(text: str, size: int) -> int:
    """Return how many characters of ``text`` fit into ``size`` bytes."""
    return len(text[:size].encode("utf-8")[:size].decode("utf-8", "ignore"))


def _break(text: str, fits: int) -> int:
    """Return where to end a part: after a sentence, else between words, else between characters as people see them."""
    if fits == len(text):
        return fits
    sentences = (at for at in range(fits, fits // 2, -1) if _ends_sentence(text, at))
    gaps = (at for at in range(fits, 0, -1) if _is_gap(text, at))
    seams = (at for at in range(fits, 0, -1) if not _continues(text, at))
    return next(sentences, 0) or next(gaps, 0) or next(seams, fits)


def _is_gap(text: str, at: int) -> bool:
    """Tell whether a word ends at ``at``; a space that carries an accent is no gap."""
    return text[at] == " " and not _continues(text, at + 1)


def _ends_sentence(text: str, at: int) -> bool:
    last = text[at - 1]
    return (last in _SENTENCE_ENDS and _is_gap(text, at)) or (last in _UNSPACED_ENDS and not _continues(text, at))


def _continues(text: str, at: int) -> bool:
    """Tell whether the character at ``at`` belongs to what a reader sees as one with the character before it."""
    char, before = text[at], text[at - 1]
    if unicodedata.category(char)[0] == "M" or _JOINER in {char, before}:
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True  # skin tones; the tags of a flag
    if _is_flag_half(char) and _is_flag_half(before):
        start = at
        while start and _is_flag_half(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    # Hangul written in parts: a vowel or final consonant goes with what it follows
    return "\u1160" <= char <= "\u11ff" and "\u1100" <= before <= "\u11ff"


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
