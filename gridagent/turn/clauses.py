"""Prose, taken apart as far as judging a claim needs: sentences, their words, and what was only quoted or narrated.

Owns reading a model's English, and no opinion on it. A rough reading on purpose: words, their order, and a handful
of signs that turn a sentence into something else than a claim. Linear in the text. Pure.

Invariant: nothing that is quoted is in a sentence's words, and what is narrated between stars, in brackets or
behind ``/me`` is a sentence of its own, whose subject is the avatar (Spec: MND-9).
"""
# ruff: noqa: E501 - patterns are read a row at a time

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import attrs

__all__ = ("Sentence", "amount_of", "is_amount", "sentences_of", "words_in")

_QUOTES: Final = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4", "'"))  # fmt: skip
_QUOTED: Final = re.compile(r'"([^"\n]{1,2000})"|`([^`]{1,2000})`|(?<![\w])\'([^\'\n]{6,500})\'(?!\w)')
_NARRATED: Final = re.compile(r"\*{1,2}([^*\n]{2,300})\*{1,2}|(?<!\w)_([^_\n]{2,300})_(?!\w)|\(([^()\n]{2,300})\)|^/me[ \t]+([^\n]{1,300})", re.MULTILINE)  # fmt: skip
_ENDS: Final = re.compile(r"(?<=[.!?\u2026])[\"')\]]*\s+|\n+|;|\s[\u2014\u2013-]{1,2}\s|\u2014")
_MONEY: Final = re.compile(
    r"(?:l\s?\$|\$\s?l\b|l\s?\u00a3|\blinden(?:s|\s+dollars?)?\s)\s*(\d[\d,. ]{0,14}\d|\d)"
    r"|\b(\d[\d,.]{0,14}\d|\d)\s*(?:l\s?\$|\$\s?l\b|\$|l\b|ls\b|lindens?\b(?:\s+dollars?)?|linden\s+dollars?|bucks\b)"
    r"|\$\s?(\d[\d,.]{0,14}\d|\d)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"money:\d+|[^\W_]+(?:'[^\W_]+)*|[,:]")
_QUOTED_WORDS: Final = 3
_CONTRACTED: Final[dict[str, tuple[str, ...]]] = {
    "i'm": ("i", "am"), "im": ("i", "am"), "i've": ("i", "have"), "ive": ("i", "have"), "i'll": ("i", "will"),
    "i'd": ("i", "had"), "you're": ("you", "are"), "you've": ("you", "have"), "you'll": ("you", "will"),
    "you'd": ("you", "had"), "we've": ("we", "have"), "we're": ("we", "are"), "we'll": ("we", "will"),
    "they've": ("they", "have"), "they're": ("they", "are"), "cannot": ("can", "not"), "can't": ("can", "not"),
    "cant": ("can", "not"), "won't": ("will", "not"), "wont": ("will", "not"), "ain't": ("am", "not"),
    "havent": ("have", "not"), "hasnt": ("has", "not"), "didnt": ("did", "not"), "dont": ("do", "not"),
    "doesnt": ("does", "not"), "isnt": ("is", "not"), "arent": ("are", "not"), "couldnt": ("could", "not"),
    "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("got", "to"), "lemme": ("let", "me"),
}  # fmt: skip
_AFTER_APOSTROPHE: Final = {"s": "is", "re": "are", "ve": "have", "ll": "will", "d": "had", "m": "am"}


@attrs.frozen
class Sentence:
    """One sentence of a reply."""

    words: tuple[str, ...]
    """Folded, contractions written out; a comma, a colon and ``money:500`` are words of their own."""
    capital: tuple[bool, ...]
    """Which of them were written with a capital."""
    question: bool
    narrated: bool
    """It stood between stars or the like: the avatar is what it is about."""

    @property
    def text(self) -> str:
        """The words in one text, a space on either side."""
        return f" {' '.join(self.words)} "


def sentences_of(text: str) -> list[Sentence]:
    """Take a reply apart."""
    plain = (text if text.isascii() else _folded(text)).strip()
    if len(plain) > 1 and plain[0] == plain[-1] == '"' and '"' not in plain[1:-1]:
        plain = plain[1:-1]  # the whole reply in quotes is what is said, quoted by nobody
    narrated: list[str] = []
    plain = _QUOTED.sub(_without_quote, plain)
    plain = _NARRATED.sub(lambda found: _taken_out(found, narrated), plain)
    found = [_sentence(each, narrated=False) for each in _ENDS.split(plain)]
    found += [_sentence(each, narrated=True) for each in narrated]
    return [each for each in found if each.words]


def _folded(text: str) -> str:
    folded = (each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")
    return "".join(folded).translate(_QUOTES)


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text as those of a sentence."""
    return _sentence(text if text.isascii() else _folded(text), narrated=False).words


def is_amount(word: str) -> bool:
    """Tell whether a word is an amount of money."""
    return word.startswith("money:")


def amount_of(word: str) -> int:
    """Return how much it is."""
    return int(word.removeprefix("money:"))


def _without_quote(found: re.Match[str]) -> str:
    inner = next(each for each in found.groups() if each is not None)
    return " , quoted , " if len(inner.split()) >= _QUOTED_WORDS else f" {inner} "


def _taken_out(found: re.Match[str], narrated: list[str]) -> str:
    inner = next(each for each in found.groups() if each is not None)
    first = inner.split(maxsplit=1)[0].lower() if inner.split() else ""
    # A word in stars for its weight stays where it is; what tells of an action stands by itself.
    if found[0].startswith("/me") or _tells(first):
        narrated.append(inner)
        return ". "
    return f", {inner}, " if found[0][0] == "(" else f" {inner} "


def _tells(first: str) -> bool:
    return (first.endswith("s") and len(first) > 3 and first not in _NO_VERBS) or first.endswith("ing")  # noqa: PLR2004


_NO_VERBS: Final = frozenset({"this", "that's", "what's", "it's", "yes", "perhaps", "always", "lindens", "sometimes", "thanks", "unless", "nothing", "something", "anything", "everything", "during", "across", "minus", "plus", "besides", "others", "was", "has", "his", "hers", "yours", "ours"})  # fmt: skip


def _sentence(text: str, *, narrated: bool) -> Sentence:
    marked = _MONEY.sub(_marked, text)
    words: list[str] = []
    capital: list[bool] = []
    for found in _WORD.finditer(marked):
        written = found[0]
        # In capitals it is a message, and no sloppy "I'm".
        parts = ("im",) if written in {"IM", "IMs"} else tuple(_expanded(written.casefold()))
        words += parts
        capital += (written[0].isupper(), *[False] * (len(parts) - 1))
    return Sentence(tuple(words), tuple(capital), "?" in text[-4:], narrated)


def _marked(found: re.Match[str]) -> str:
    digits = re.sub(
        r"[^\d]", "", re.sub(r"[.,]\d{1,2}$", "", next(each for each in found.groups() if each is not None).strip())
    )
    return f" money:{digits[:9]} "


def _expanded(word: str) -> Iterator[str]:
    if word in _CONTRACTED:
        yield from _CONTRACTED[word]
    elif word.endswith("n't"):
        yield from (word[:-3], "not")
    elif "'" in word:
        head, _, tail = word.rpartition("'")
        yield head
        yield _AFTER_APOSTROPHE.get(tail, tail)
    else:
        yield word
