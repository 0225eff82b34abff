"""Whether words are meant for the avatar.

Owns one decision, on text alone: a name or alias stands in it as a word of its own. Names only tell
whom the words are for; they never tell who speaks, and never make a role (Spec: POL-4).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ("Names", "is_named", "words_of")


_PLAIN: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Most of what is heard is ASCII, where nothing is invisible, combined or folded but case."""

_UNSPACED: Final = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGUL ", "THAI ", "LAO ", "KHMER ", "MYANMAR ")
"""Scripts that set names into a sentence without spaces around them."""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of ``text``, folded for comparing: NFKC, case, and without invisible characters."""
    if text.isascii():
        return tuple(text.lower().translate(_PLAIN).split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Each kind of character once: most of them are letters, which stay, and this is done for all that is heard.
    for char in set(folded):
        if not char.isalnum():
            if unicodedata.category(char) == "Cf":
                folded = folded.replace(char, "")
            elif not unicodedata.combining(char):
                folded = folded.replace(char, " ")
    return tuple(folded.split())


def is_named(words: tuple[str, ...], names: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether one of ``names`` (each as `words_of` gives it) stands in ``words`` in one piece."""
    return Names(names).find(words) >= 0


class Names:
    """A set of names or phrases, each as `words_of` gives it, that is looked for in what is said."""

    __slots__ = ("_by_first", "_unspaced", "words")

    def __init__(self, names: Iterable[tuple[str, ...]]) -> None:
        by_first: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            if name:
                by_first.setdefault(name[0], []).append(name)
        self._by_first = {first: tuple(rest) for first, rest in by_first.items()}
        self._unspaced = tuple(first for first, rest in by_first.items() if (first,) in rest and _is_unspaced(first))
        self.words = frozenset(word for rest in by_first.values() for name in rest for word in name)
        """Every word that is part of one of them."""

    def find(self, words: tuple[str, ...]) -> int:
        """Return where in ``words`` the first of them stands in one piece; -1 where none does."""
        if not self._by_first.keys().isdisjoint(words):
            for start, word in enumerate(words):
                for name in self._by_first.get(word, ()):
                    if words[start : start + len(name)] == name:
                        return start
        for part in self._unspaced:
            for start, word in enumerate(words):
                if part in word:
                    return start
        return -1


def _is_unspaced(name: str) -> bool:
    return len(name) > 1 and all(unicodedata.name(char, "").startswith(_UNSPACED) for char in name)
