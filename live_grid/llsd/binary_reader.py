"""Reads LLSD binary, as asset metadata and some capabilities speak it.

Owns the grammar of the markers. Lengths and counts are compared with what is left before anything is
taken, so that a length of -1 or a count of 2^31 costs nothing (Fault: 12).
"""

from __future__ import annotations

import re
import struct
from typing import Final
from uuid import UUID

from live_grid.errors import RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES
from live_grid.llsd.values import Budget, LlsdValue, Uri, date_of_seconds, finite, put_key

__all__ = ("BINARY_HEADER", "read_llsd_binary_untrusted")

BINARY_HEADER: Final = re.compile(rb"\s*<\?\s*llsd/binary\s*\?>\s*?\n?", re.IGNORECASE)
_COUNT: Final = struct.Struct(">I")
_INTEGER: Final = struct.Struct(">i")
_REAL: Final = struct.Struct(">d")
_DATE: Final = struct.Struct("<d")  # little-endian, unlike everything else here
_UUID_BYTES: Final = 16


class _Reader:
    __slots__ = ("at", "budget", "data", "size")

    def __init__(self, data: bytes, at: int, budget: Budget) -> None:
        self.data = data
        self.at = at
        self.size = len(data)
        self.budget = budget

    def take(self, count: int) -> bytes:
        start = self.at
        self.at = start + count
        if self.at > self.size:
            raise RemoteProtocolError("LLSD binary ends inside a value")
        return self.data[start : self.at]

    def number(self, form: struct.Struct) -> float:
        value: float = form.unpack(self.take(form.size))[0]
        return value

    def sized(self) -> bytes:
        return self.take(int(self.number(_COUNT)))

    def text(self) -> str:
        try:
            return self.sized().decode()
        except UnicodeDecodeError:
            raise RemoteProtocolError("LLSD string is no UTF-8") from None

    def expect(self, mark: bytes) -> None:
        if self.take(1) != mark:
            raise RemoteProtocolError("LLSD binary container is not closed or keyed as it should be")

    def count(self) -> int:
        count = int(self.number(_COUNT))
        if count > self.size - self.at:  # each member takes a byte at least
            raise RemoteProtocolError("LLSD binary counts more members than it has bytes")
        return count

    def array(self, depth: int) -> LlsdValue:
        values = [self.value(depth + 1) for _ in range(self.count())]
        self.expect(b"]")
        return values

    def map(self, depth: int) -> LlsdValue:
        values: dict[str, LlsdValue] = {}
        for _ in range(self.count()):
            self.expect(b"k")
            key = self.text()
            put_key(values, key, self.value(depth + 1))
        self.expect(b"}")
        return values

    def value(self, depth: int) -> LlsdValue:  # noqa: C901, PLR0911, PLR0912 - one branch a marker is the grammar
        self.budget.spend(depth)
        match self.take(1):
            case b"!":
                return None
            case b"1":
                return True
            case b"0":
                return False
            case b"i":
                return int(self.number(_INTEGER))
            case b"r":
                return finite(self.number(_REAL))
            case b"u":
                return UUID(bytes=self.take(_UUID_BYTES))
            case b"s":
                return self.text()
            case b"l":
                return Uri(self.text())
            case b"b":
                return self.sized()
            case b"d":
                return date_of_seconds(self.number(_DATE))
            case b"[":
                return self.array(depth)
            case b"{":
                return self.map(depth)
            case _:
                raise RemoteProtocolError("LLSD binary holds a value of no known type")


def read_llsd_binary_untrusted(data: bytes, *, size_max: int = HTTP_BODY_MAX_BYTES) -> LlsdValue:
    """Read LLSD binary from outside, with its header line or without.

    Raises:
        RemoteProtocolError: it is malformed, passes a bound, or something follows it (Fault: 12).
    """
    budget = Budget(len(data), size_max=size_max)
    header = BINARY_HEADER.match(data)
    reader = _Reader(data, header.end() if header else 0, budget)
    value = reader.value(1)
    if reader.at != reader.size:
        raise RemoteProtocolError("LLSD binary goes on after its value")
    return value
