"""JSON from outside, read strictly: one value or one typed problem, never a guess.

Owns what a decoder alone does not give: no key twice in an object, no number beyond 64 bits, no zero character,
and caps on bytes, depth and number of values. Arguments of a model and schemas of foreign tools both end here.
Knows no tool. Pure.

Invariant: `read_json` returns a value or a `JsonProblem`, whatever the text, and a value's canonical bytes read
back as an equal value (Spec: MND-5, Fault: 23, 24).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

__all__ = ("DEPTH_MAX", "VALUES_MAX", "Json", "JsonProblem", "canonical", "read_json")

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

DEPTH_MAX: Final = 32
"""Objects and lists within each other."""
VALUES_MAX: Final = 16_384
"""Values of all kinds in one text, keys among them."""
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1

# Possessive, and matching a text that never ends too: no text makes it go back, or begin again at each quote.
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_LONE_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_NO_NUMBER: Final = re.compile(r"NaN|[Ii]nf")


class JsonProblem(StrEnum):
    """Why a text is not taken."""

    TOO_LARGE = "too_large"
    """More bytes or values than allowed."""
    TOO_DEEP = "too_deep"
    NOT_JSON = "not_json"
    DUPLICATE_KEY = "duplicate_key"
    BAD_NUMBER = "bad_number"
    """NaN, an infinity, or beyond 64 bits."""
    BAD_TEXT = "bad_text"
    """Half a surrogate pair, bytes that are no UTF-8, or a zero character."""


def read_json(  # noqa: PLR0911 - one return a reason
    text: str | bytes, *, max_bytes: int, depth_max: int = DEPTH_MAX, values_max: int = VALUES_MAX
) -> Json | JsonProblem:
    """Read one JSON value.

    Args:
        text: as it came.
        max_bytes: UTF-8 bytes that are looked at; a longer text is refused unread.
        depth_max: objects and lists within each other.
        values_max: values of all kinds, keys among them.
    """
    if len(text) > max_bytes:
        return JsonProblem.TOO_LARGE
    if isinstance(text, str):
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return JsonProblem.BAD_TEXT
        if len(data) > max_bytes:
            return JsonProblem.TOO_LARGE
    else:
        data = text
    try:
        value: Json = msgspec.json.decode(data)
    except RecursionError:
        return JsonProblem.TOO_DEEP
    except (msgspec.DecodeError, ValueError):
        return _why_not(data)
    keys = _measure(value, depth_max, values_max)
    if isinstance(keys, JsonProblem):
        return keys
    # A colon outside of a text stands behind exactly one key, so there are as many colons as keys, or one was lost.
    if keys and _STRING.sub("", data.decode()).count(":") != keys:
        return JsonProblem.DUPLICATE_KEY
    return value


def canonical(value: Json) -> bytes:
    """Return the one form of a value: keys sorted, no spaces."""
    return msgspec.json.encode(value, order="sorted")


def _why_not(data: bytes) -> JsonProblem:
    """Say what keeps a text from being JSON."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return JsonProblem.BAD_TEXT
    bare = _STRING.sub("", text)
    if _NO_NUMBER.search(bare) or _is_json_but_for_numbers(text):
        return JsonProblem.BAD_NUMBER
    return JsonProblem.BAD_TEXT if _LONE_SURROGATE.search(text) else JsonProblem.NOT_JSON


_RAW: Final = msgspec.json.Decoder(msgspec.Raw)


def _is_json_but_for_numbers(text: str) -> bool:
    """Tell whether only the size of a number is wrong: skipping over values does not look at it."""
    try:
        _RAW.decode(text.encode())
    except (msgspec.DecodeError, RecursionError):
        return False
    return _LONE_SURROGATE.search(text) is None


def _measure(value: Json, depth_max: int, values_max: int) -> int | JsonProblem:
    """Count the keys of all objects, or say what is over a cap."""
    keys = values = 0
    level: list[Json] = [value]
    depth = 0
    while level:
        values += len(level)
        if values > values_max:
            return JsonProblem.TOO_LARGE
        below: list[Json] = []
        for each in level:
            if isinstance(each, dict):
                keys += len(each)
                below.extend(each.keys())
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            elif isinstance(each, str) and "\x00" in each:
                return JsonProblem.BAD_TEXT
            elif isinstance(each, int) and not _INT_MIN <= each <= _INT_MAX:
                return JsonProblem.BAD_NUMBER
        depth += any(isinstance(each, dict | list) for each in level)
        if depth > depth_max:
            return JsonProblem.TOO_DEEP
        level = below
    return keys
