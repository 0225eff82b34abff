"""Keeping known secrets out of everything that is written (Spec: CFG-3, Fault: 42).

Owns the search for every loaded secret in every form it takes (see `gridagent.config.secrets.derived_forms`) and
the turning of any value into plain, bounded, printable data. Decides nothing and knows no domain word. The log
uses it last; whoever writes anything else to the outside (diagnostics, recordings) uses it too.

Invariant: what `scrub` returns holds no form of a known secret, and is never larger than its bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Final, TypeAlias

import msgspec

from gridagent.config.secrets import MASK

__all__ = ("Plain", "Redactor")

TEXT_MAX_CHARS: Final = 256 * 1024
"""Longer texts are cut before they are searched."""
BYTES_MAX: Final = 16 * 1024
"""Longer byte strings are told by their size."""
DEPTH_MAX: Final = 8
ITEMS_MAX: Final = 256
"""Entries of one list or map that are kept."""
_CUT: Final = "…[cut]"
_FEW_FORMS: Final = 384
"""Up to this many, looking for each form in turn is faster than taking the text apart."""
_GRAM_CHARS: Final = 8
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
"""What JSON can say."""


class Redactor:
    """Knows every loaded secret; its own representation knows none."""

    __slots__ = ("_by_gram", "_forms", "_gram", "_learnt", "_loaded", "_longest")

    def __init__(self, forms: Iterable[str] = ()) -> None:
        """Learn what to look for.

        Args:
            forms: every text that gives a secret away, such as `gridagent.config.secrets.Secrets.forms` returns.
        """
        self._loaded = frozenset(form for form in forms if form)
        self._learnt: dict[str, frozenset[str]] = {}  # one a name; the composition root has a bounded number of them
        self._look_for(self._loaded)

    def learn(self, name: str, forms: Iterable[str]) -> None:
        """Learn a secret that came while the program runs, in the place of the last one of this name.

        Args:
            name: what it is, for example the configuration path that it belongs to; holds nothing of it.
            forms: every text that gives it away.
        """
        self._learnt[name] = frozenset(form for form in forms if form)
        self._look_for(self._loaded.union(*self._learnt.values()))

    def _look_for(self, forms: Iterable[str]) -> None:
        # Longest first: "$1$" and the hash go as one, and a secret inside another one doesn't spoil it.
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._longest = len(self._forms[0]) if self._forms else 0
        self._gram = min(_GRAM_CHARS, len(self._forms[-1])) if self._forms else 0
        by_gram: dict[str, list[str]] = {}
        for form in self._forms:
            by_gram.setdefault(form[: self._gram], []).append(form)
        self._by_gram = by_gram

    def __repr__(self) -> str:
        return f"<Redactor {len(self._forms)} forms>"

    def scrub(self, text: str) -> str:
        """Return the text with every known secret masked.

        Bounds: at most `TEXT_MAX_CHARS`; what is cut off takes a secret that the cut would have parted with it.
        """
        return self.mask(text) if len(text) <= TEXT_MAX_CHARS else self._shortened(text)

    def bound(self, text: str) -> str:
        """Return a text within `TEXT_MAX_CHARS`, for whoever masks what it becomes part of."""
        # Here too the cut must not part a secret: half of one is found by nobody.
        return text if len(text) <= TEXT_MAX_CHARS else self._shortened(text)

    def _shortened(self, text: str) -> str:
        kept = self.mask(text[:TEXT_MAX_CHARS])
        return kept[: max(0, len(kept) - self._longest)] + _CUT

    def mask(self, text: str) -> str:
        """Return the text with every known secret masked, however long it is; for text bounded elsewhere."""
        for form in self._present(text):
            text = text.replace(form, MASK)
        return text

    def scrub_bytes(self, data: bytes) -> bytes:
        """Return bytes with every known secret masked; they need not be text."""
        return self.scrub(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def plain(self, value: object) -> Plain:
        """Turn any value into plain data that holds no known secret and can be encoded; see `to_plain`."""
        return to_plain(value, self.scrub)

    def _present(self, text: str) -> list[str]:
        """Return the forms to look for: for few, those that are there; for many, those whose beginning is."""
        if len(self._forms) <= _FEW_FORMS:
            return [form for form in self._forms if form in text]
        width = self._gram
        grams = {text[start : start + width] for start in range(len(text) - width + 1)}
        found = [form for gram in grams & self._by_gram.keys() for form in self._by_gram[gram]]
        return sorted(found, key=lambda form: (-len(form), form))


def to_plain(value: object, clean: Callable[[str], str], depth: int = 0) -> Plain:  # noqa: PLR0911 - one branch a type
    """Turn any value into plain data that can be encoded.

    Args:
        value: anything; what isn't data is represented without addresses.
        clean: bounds (and masks) each text, keys included.
        depth: levels above it.

    Bounds: `DEPTH_MAX` levels, `ITEMS_MAX` entries each, texts as ``clean`` does; what is beyond is cut and says so.
    """
    match value:
        case None | bool():
            return value
        case Enum():
            return to_plain(value.value, clean, depth)
        case str():
            return _printable(clean(value))
        case int() | float():
            return _number(value, clean)
        case _ if depth >= DEPTH_MAX:
            return _CUT
        case Mapping():
            return _mapping(value.items(), clean, depth)
        case msgspec.Struct():
            return _mapping(((name, getattr(value, name)) for name in value.__struct_fields__), clean, depth)
        case _:
            return _other(value, clean, depth)


def _other(value: object, clean: Callable[[str], str], depth: int) -> Plain:
    if isinstance(value, list | tuple):
        return _items(value, clean, depth)
    if isinstance(value, AbstractSet):
        # A set has no order of its own, and its iteration order differs between runs.
        return _items(sorted(value, key=represent), clean, depth)
    if isinstance(value, bytes):
        return clean(repr(value)) if len(value) <= BYTES_MAX else f"{len(value)} bytes"
    return _printable(clean(represent(value)))


def _printable(text: str) -> str:
    # Lone surrogates cannot be encoded; they come from file names and environment variables.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _number(value: float, clean: Callable[[str], str]) -> Plain:
    """Keep a number unless its digits are a secret or JSON cannot say it."""
    if isinstance(value, int):
        if value.bit_length() > 64:  # noqa: PLR2004 - printing a huge one is slow and refused
            return f"integer of {value.bit_length()} bits"
    elif not math.isfinite(value):
        return str(value)
    text = str(value)
    kept = clean(text)
    return value if kept == text else kept


def _mapping(pairs: Iterable[tuple[object, object]], clean: Callable[[str], str], depth: int) -> dict[str, Plain]:
    kept: dict[str, Plain] = {}
    for index, (key, value) in enumerate(pairs):
        if index >= ITEMS_MAX:
            kept[_CUT] = True
            break
        name = key if isinstance(key, str) else represent(key)
        kept[_printable(clean(name))] = to_plain(value, clean, depth + 1)
    return kept


def _items(items: Iterable[object], clean: Callable[[str], str], depth: int) -> list[Plain]:
    kept: list[Plain] = []
    for index, item in enumerate(items):
        if index >= ITEMS_MAX:
            kept.append(_CUT)
            break
        kept.append(to_plain(item, clean, depth + 1))
    return kept


def represent(value: object) -> str:
    """Return ``repr(value)`` without addresses, which differ between runs; a broken ``repr`` is named, not raised."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - foreign code in the middle of writing a log line; it must not end a session
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return _ADDRESS.sub("", text)
