"""How like two utterances are: enough to see a parrot or a counter, cheap enough to do for each (Spec: PRS-2).

Owns the sketch of an utterance: hashes of at most 32 different words, never its text. A word with a digit in it and
a number word count as one and the same, so "reply 17" is like "reply 18". Two sketches are alike when at least
four fifths of their words are shared.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from typing import Final
from zlib import crc32

__all__ = ("are_alike", "sketch")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS_MAX: Final = 32
_NUMBER: Final = "#"
_NUMBER_WORDS: Final = _words(
    "zero one two three four five six seven eight nine ten eleven twelve first second third last next "
    "eins zwei drei vier fünf sechs sieben acht neun zehn"
)
_SHARED: Final = 0.8
_DIGIT: Final = re.compile(r"\d")


def sketch(words: Iterable[str]) -> array[int]:
    """Return the sketch of an utterance's words: sorted 16-bit hashes."""
    kept: dict[str, None] = {}
    for word in words:
        # most words are all letters, and then have no digit in them
        is_number = word in _NUMBER_WORDS or (not word.isalpha() and _DIGIT.search(word) is not None)
        kept[_NUMBER if is_number else word] = None
        if len(kept) == _WORDS_MAX:
            break
    return array("H", sorted(crc32(word.encode("utf-8", "replace")) & 0xFFFF for word in kept))


def are_alike(one: array[int], other: array[int]) -> bool:
    """Tell whether two sketches are of nearly the same words; two empty ones are."""
    both = len(one) + len(other)
    return 2 * len(set(one).intersection(other)) >= _SHARED * both
