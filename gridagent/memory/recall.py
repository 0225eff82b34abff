"""Recall: which words are looked for, and what comes back.

Owns the question and the answer; the search itself is storage's (ranked by BM25 in SQLite, by plain counting where
nothing is kept on a disk). Pure.

Invariant: nothing that a model writes reaches the search but plain words, so no operator of a query language can be
smuggled into it; what comes back still says where it came from and whether it is tainted (Spec: MEM-4, POL-5).
"""

from __future__ import annotations

import unicodedata
from typing import Annotated, Final

from msgspec import Meta

from gridagent.limits import RECALLED_MAX, Bounded
from gridagent.memory.facts import Fact, Reader

__all__ = ("TERMS_MAX", "RecallQuestion", "matches", "terms_of")

TERMS_MAX: Final = 16
TERM_MAX_CHARACTERS: Final = 32
_WORDS_MAX_CHARACTERS: Final = 512


class RecallQuestion(Bounded, frozen=True, kw_only=True):
    """What is looked for, and who asks."""

    reader: Reader
    words: Annotated[str, Meta(max_length=_WORDS_MAX_CHARACTERS)]
    limit: Annotated[int, Meta(ge=1, le=RECALLED_MAX)] = 10


def terms_of(words: str) -> tuple[str, ...]:
    """Return the words to look for: letters and digits only, folded, each once, at most 16."""
    folded = unicodedata.normalize("NFKD", words[:_WORDS_MAX_CHARACTERS]).casefold()
    bare = "".join(c for c in folded if not unicodedata.combining(c))
    parted = "".join(c if c.isalnum() else " " for c in bare).split()
    return tuple(dict.fromkeys(each[:TERM_MAX_CHARACTERS] for each in parted))[:TERMS_MAX]


def matches(fact: Fact, terms: tuple[str, ...]) -> int:
    """Return how many of the terms begin a word of a fact."""
    folded = unicodedata.normalize("NFKD", fact.text).casefold()
    bare = "".join(c for c in folded if not unicodedata.combining(c))
    said = "".join(c if c.isalnum() else " " for c in bare).split()
    return sum(any(word.startswith(term) for word in said) for term in terms)
