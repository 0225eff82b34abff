"""Writes LLSD in its three codings; the `llsd` library writes XML and notation.

Owns the check that what we write could be read back by the guard of this package: kinds, depth, number of
values, 32-bit integers, finite reals. The library is used for writing only; its readers accept what a guard
must refuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import llsd

from live_grid.errors import LocalProtocolError
from live_grid.limits import LLSD_DEPTH_MAX, LLSD_NODES_MAX
from live_grid.llsd.binary_writer import binary_parts
from live_grid.llsd.values import S32_MAX, S32_MIN, LlsdGiven, Uri

__all__ = ("write_llsd_binary", "write_llsd_notation", "write_llsd_xml")


def _sayable(text: str) -> str:
    """Pass text on that UTF-8 can say."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise LocalProtocolError("LLSD cannot carry a lone surrogate") from None
    return text


class _Checker:
    """Copies a value into what the library takes, refusing what LLSD cannot say."""

    __slots__ = ("nodes_left",)

    def __init__(self) -> None:
        self.nodes_left = LLSD_NODES_MAX

    def copy(self, value: LlsdGiven, depth: int) -> object:  # noqa: PLR0911 - one branch a type
        self.nodes_left -= 1
        if depth > LLSD_DEPTH_MAX or self.nodes_left < 0:
            raise LocalProtocolError("LLSD to be written nests too deep or holds too much")
        match value:
            case None | bool() | bytes() | UUID():
                return value
            case int() if S32_MIN <= value <= S32_MAX:
                return value
            case float() if math.isfinite(value):
                return value
            case Uri():
                return llsd.uri(_sayable(value))
            case str():
                return _sayable(value)
            case datetime() if value.tzinfo is not None:
                return value.astimezone(UTC).replace(tzinfo=None)
            case Mapping():
                return {_sayable(key): self.copy(member, depth + 1) for key, member in value.items()}
            case Sequence():
                return [self.copy(member, depth + 1) for member in value]
            case _:
                raise LocalProtocolError(f"LLSD cannot carry this value of type {type(value).__name__}")


def _write(value: LlsdGiven, write: Callable[[object], bytes]) -> bytes:
    return write(_Checker().copy(value, 1))


def write_llsd_xml(value: LlsdGiven) -> bytes:
    """Write an LLSD-XML document.

    Raises:
        LocalProtocolError: the value cannot be said in LLSD.
    """
    return _write(value, cast("Callable[[object], bytes]", llsd.format_xml))


def write_llsd_binary(value: LlsdGiven) -> bytes:
    """Write LLSD binary with its header line.

    Raises:
        LocalProtocolError: the value cannot be said in LLSD.
    """
    _Checker().copy(value, 1)
    return b"<?llsd/binary?>\n" + b"".join(binary_parts(value))


def write_llsd_notation(value: LlsdGiven) -> bytes:
    """Write LLSD notation.

    Raises:
        LocalProtocolError: the value cannot be said in LLSD.
    """
    return _write(value, cast("Callable[[object], bytes]", llsd.format_notation))
