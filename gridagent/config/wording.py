"""The words for what a value must be, what is wrong with it and how to mend it.

Owns every sentence the builder says about a single value, made from the annotation and the value's shape; decides
nothing. Invariant: no sentence quotes a text from the configuration; numbers appear only where a number is wanted.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from gridagent.config.annotations import TypeInfo
from gridagent.config.document import Node
from gridagent.config.secrets import EndpointUrl
from gridagent.ids import NIL_UUID

__all__ = ("advice", "as_json", "choices", "expectation", "nearest", "plain", "text_problem", "uuid_problem")


def as_json(node: Node, example: str) -> str:
    """Say how to write something that has parts; a variable or option holds it as JSON."""
    return f"write it as JSON, such as {example}" if node.origin else f"write it as {example}"


def text_problem(text: str) -> tuple[str, str] | None:
    """Say why a text is no single clean line, and how to mend it; None when it is one."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "holds half a character (a lone surrogate)", "write the whole character"
    if any(char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" for char in text):
        return "holds a line break or another control character", "keep it on one line"
    return None


def uuid_problem(text: str) -> tuple[str, str] | None:
    """Say why a text is no canonical UUID, and how to mend it; None when it is one."""
    mend = "write the UUID in lower case with hyphens, as 01234567-89ab-4cde-8f01-23456789abcd"
    if "*" in text:
        return "is a wildcard, which would authorise everybody", "list each avatar by its UUID"
    if text == NIL_UUID:
        return "is the nil UUID, which is nobody", mend
    bare = text.lower().removeprefix("urn:uuid:").strip("{}").replace("-", "")
    if len(bare) == 32 and bare.isascii() and all(char in "0123456789abcdef" for char in bare):  # noqa: PLR2004
        canonical = "-".join((bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]))
        return None if canonical == text else ("is a UUID, but not in its canonical form", mend)
    return "is not a UUID; names are never accepted, they can be imitated", mend


def choices(info: TypeInfo) -> tuple[str, ...]:
    """Return the words a key lets one choose from; empty where it doesn't."""
    if isinstance(info.type, type) and issubclass(info.type, Enum):
        return tuple(str(member.value) for member in info.type)
    return tuple(map(str, info.args)) if info.type is Literal else ()


def nearest(text: str, known: tuple[str, ...]) -> str | None:
    """Return the known name that ``text`` was probably meant to be."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only where something is wrong

    found = get_close_matches(text[:64].lower(), known, n=1, cutoff=0.7)
    return found[0] if found else None


def expectation(info: TypeInfo) -> str:
    """Say what a value must be."""
    described = info.description or _expectation(info)
    return f"{described}, or null" if info.nullable else described


def _expectation(info: TypeInfo) -> str:  # noqa: PLR0911 - one a type
    known = choices(info)
    if known:
        return f"one of: {', '.join(known)}"
    if info.type is bool:
        return "true or false"
    if info.is_number:
        return f"{'a whole number' if info.type is int else 'a number'}{_range(info)}"
    if info.is_uuid:
        return "an avatar's UUID"
    if info.type is EndpointUrl:
        return "an http:// or https:// URL"
    if info.is_struct or info.is_map:
        return "an object {…}"
    if info.is_list:
        return "a list […]"
    least = " that is not empty" if info.bound("min_length") else ""
    most = info.bound("max_length")
    return f"text{least}" if most is None else f"text of at most {plain(most)} characters{least}"


def _range(info: TypeInfo) -> str:
    low, high = info.bound("ge", "gt"), info.bound("le", "lt")
    if low is None:
        return "" if high is None else f" of at most {plain(high)}"
    return f" of at least {plain(low)}" if high is None else f" from {plain(low)} to {plain(high)}"


def plain(number: float) -> str:
    """Write a number as a person would: without a fraction of zero."""
    return str(int(number)) if isinstance(number, int) or number.is_integer() else str(number)


def advice(node: Node, info: TypeInfo) -> str:
    """Say how to mend a wrong leaf."""
    high, low = info.bound("le", "lt"), info.bound("ge", "gt")
    value = node.value
    if info.is_number and isinstance(value, int | float) and not isinstance(value, bool):
        if high is not None and value > high:
            return f"lower it to {plain(high)} or less"
        if low is not None and value < low:
            return f"raise it to {plain(low)} or more"
        return "write it without a fraction"
    if info.type is bool:
        return "write true or false, without quotes"
    return "correct it" if not info.is_number else "write digits, without quotes"
