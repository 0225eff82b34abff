"""Writes checked values as LLSD binary.

Owns the markers and byte orders, the counterpart of the reader beside it; checks nothing, that is
`live_grid.llsd.writing`'s. Written here because the `llsd` library says a URI as a plain string and cuts dates
to whole seconds in this coding.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from live_grid.llsd.values import LlsdGiven, Uri

__all__ = ("binary_parts",)

_COUNT: Final = struct.Struct(">I")
_INTEGER: Final = struct.Struct(">i")
_REAL: Final = struct.Struct(">d")
_DATE: Final = struct.Struct("<d")  # the one value that goes the other way round


def _sized(marker: bytes, raw: bytes) -> list[bytes]:
    return [marker, _COUNT.pack(len(raw)), raw]


def binary_parts(value: LlsdGiven) -> list[bytes]:  # noqa: C901, PLR0911, PLR0912 - one branch a type is the coding
    """Return the pieces of a value that `live_grid.llsd.writing` has checked."""
    match value:
        case None:
            return [b"!"]
        case bool():
            return [b"1" if value else b"0"]
        case int():
            return [b"i", _INTEGER.pack(value)]
        case float():
            return [b"r", _REAL.pack(value)]
        case UUID():
            return [b"u", value.bytes]
        case bytes():
            return _sized(b"b", value)
        case Uri():
            return _sized(b"l", value.encode())
        case str():
            return _sized(b"s", value.encode())
        case datetime():
            return [b"d", _DATE.pack(value.timestamp())]
        case Mapping():
            parts = [b"{", _COUNT.pack(len(value))]
            for key, member in value.items():
                parts += _sized(b"k", key.encode())
                parts += binary_parts(member)
            return [*parts, b"}"]
        case _:
            parts = [b"[", _COUNT.pack(len(value))]
            for member in value:
                parts += binary_parts(member)
            return [*parts, b"]"]
