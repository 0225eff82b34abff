"""The leaves of a written file: one text, number, switch or word against its declared type.

Owns the sentences that say what is wrong with a single value and how to mend it; walks no tree. Called by
`gridagent.grid.simulated.scenario_json`. Invariant: a leaf function returns the value in the type's own
form, or a `Fault`, and never raises because of the value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, Union

from msgspec import inspect

from gridagent.ids import UUID_PATTERN, is_canonical_uuid
from gridagent.limits import clip

__all__ = ("LEAVES", "Fault", "Json", "one_of", "quoted", "shape")

Json: TypeAlias = Union["list[Json]", "dict[str, Json]", str, int, float, bool, None]
"""A JSON tree."""

_QUOTED_MAX = 64
_SHOWN_MAX = 32
_FIRST_PRINTABLE = 32


class Fault(NamedTuple):
    """What is wrong with a value, and how to mend it."""

    what: str
    mend: str


def quoted(text: str) -> str:
    """Return ``text`` for a sentence: clipped, in quotes, with nothing in it that a terminal would act on."""
    return json.dumps(clip(text, _QUOTED_MAX), ensure_ascii=not text.isprintable())


def one_of(words: Mapping[str, object]) -> str:
    """List the words there are."""
    return "one of " + ", ".join(f'"{word}"' for word in words)


def shape(value: Json) -> str:
    """Say what kind of value was found, and how big it is; only short texts are shown."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {quoted(value)}" if len(value) <= _SHOWN_MAX else f"a text of {len(value)} characters"
        case list():
            return f"a list of {len(value)}"
        case _:
            return f"an object of {len(value)} keys"


def _text(kind: inspect.StrType, value: Json, extra: Mapping[str, object]) -> object:
    low, high = kind.min_length or 0, kind.max_length
    in_bytes = "max_bytes" in extra
    wanted = "write a text"
    if high is not None:
        wanted += f" of {low} to {high} {'bytes of UTF-8' if in_bytes else 'characters'}"
    if not isinstance(value, str):
        return Fault("is not a text", wanted)
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return Fault("holds half a character (a lone surrogate)", "write whole characters")
    if not in_bytes:
        size = len(value)
    if kind.pattern is not None:
        return _pattern_fault(kind.pattern, value) or value
    if size < low or (high is not None and size > high):
        return Fault("is empty" if size == 0 else "is too short" if size < low else "is too long", wanted)
    if "defines" in extra and (value != value.strip() or any(ord(character) < _FIRST_PRINTABLE for character in value)):
        return Fault("has blanks around it or control characters in it", "write a plain name")
    return value


def _pattern_fault(pattern: str, value: str) -> Fault | None:
    if pattern == UUID_PATTERN:
        fault = Fault("is not a UUID", "write a lower-case hyphenated UUID that is not nil")
        return None if is_canonical_uuid(value) else fault
    if re.fullmatch(pattern, value) is None or value.endswith("\n"):
        return Fault("does not have the right form", f"write a text that matches {pattern}")
    return None


def _number(kind: inspect.IntType | inspect.FloatType, value: Json, extra: Mapping[str, object]) -> object:
    del extra
    whole = isinstance(kind, inspect.IntType)
    noun = "a whole number" if whole else "a number"
    bounds = (("at least", kind.ge), ("above", kind.gt), ("at most", kind.le), ("below", kind.lt))
    wanted = f"write {noun}"
    stated = " and ".join(f"{word} {bound}" for word, bound in bounds if bound is not None)
    if stated:
        wanted += f", {stated}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Fault(f"is not {noun}", wanted)
    if not math.isfinite(value):
        return Fault("is not a finite number", wanted)
    if whole and not isinstance(value, int):
        return Fault(f"is not {noun}", wanted)
    inside = (
        (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
        and (kind.lt is None or value < kind.lt)
    )
    if not inside:
        return Fault("is out of range", wanted)
    return value if whole else float(value)


def _switch(kind: inspect.BoolType, value: Json, extra: Mapping[str, object]) -> object:
    del kind, extra
    return value if isinstance(value, bool) else Fault("is not a switch", "write true or false")


def _word(kind: inspect.EnumType, value: Json, extra: Mapping[str, object]) -> object:
    del extra
    members = {str(member.value): member for member in kind.cls}
    if isinstance(value, str) and value in members:
        return members[value]
    return Fault("is not one of the known words", f"write {one_of(members)}")


LEAVES: Final[Mapping[type[inspect.Type], Callable[..., object]]] = {
    inspect.StrType: _text,
    inspect.IntType: _number,
    inspect.FloatType: _number,
    inspect.BoolType: _switch,
    inspect.EnumType: _word,
}
"""How each kind of leaf is decoded; a type that is neither here nor walked cannot stand in a file."""
