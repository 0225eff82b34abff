"""Whether words are meant for the avatar.

Owns one decision, on text alone: a name or alias stands in it as a word of its own. Names only tell
whom the words are for; they never tell who speaks, and never make a role (Spec: POL-4).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ("is_named", "words_of")


_PLAIN: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Most of what is heard is ASCII, where nothing is invisible, combined or folded but case."""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of ``text``, folded for comparing: NFKC, case, and without invisible characters."""
    if text.isascii():
        return tuple(text.lower().translate(_PLAIN).split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (
        "" if unicodedata.category(c) == "Cf" else (c if c.isalnum() or unicodedata.combining(c) else " ")
        for c in folded
    )
    return tuple("".join(kept).split())


def is_named(words: tuple[str, ...], names: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether one of ``names`` (each as `words_of` gives it) stands in ``words`` in one piece."""
    return any(
        name == words[start : start + len(name)]
        for name in names
        if name
        for start in range(len(words) - len(name) + 1)
    )
