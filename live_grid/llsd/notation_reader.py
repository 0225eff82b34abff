"""Reads LLSD notation, as asset metadata, alert parameters and login fields speak it.

Owns the grammar of the text form. Everything is matched at a position, nothing is searched for twice, so
the work is in proportion to the text (Fault: 12).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from live_grid.errors import RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES
from live_grid.llsd.values import (
    Budget,
    LlsdValue,
    Uri,
    date_of_text,
    integer_of_text,
    put_key,
    real_of_text,
    uuid_of_text,
)
from live_grid.llsd.xml_reader import binary_of_base64

__all__ = ("NOTATION_HEADER", "read_llsd_notation_untrusted")

NOTATION_HEADER: Final = re.compile(rb"\s*<\?\s*llsd/notation\s*\?>", re.IGNORECASE)
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
_MARKS: Final[Mapping[bytes, bool | None]] = MappingProxyType({b"!": None, b"1": True, b"0": False})
_WORD: Final = re.compile(rb"true|TRUE|false|FALSE|[tTfF]")
_TRUE: Final = frozenset({b"true", b"TRUE", b"t", b"T"})
_INTEGER: Final = re.compile(rb"i([+-]?[0-9]{1,10})")
_REAL: Final = re.compile(rb"r([+-]?[0-9.eE+-]{1,64})")
_UUID: Final = re.compile(rb"u([0-9a-fA-F-]{36})")
_SIZED: Final = re.compile(rb"([sb])\(([0-9]{1,8})\)([\"'])")
_BASED: Final = re.compile(rb"b(16|64)([\"'])([0-9A-Za-z+/= \t\r\n]*)\2")
_MARKED: Final = re.compile(rb"[ld](?=[\"'])")
_PLAIN: Final = {quote: re.compile(rb"[^\\" + quote + rb"]*") for quote in (b'"', b"'")}
_ESCAPES: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_HEX_DIGITS: Final = 2


class _Reader:
    __slots__ = ("at", "budget", "data")

    def __init__(self, data: bytes, at: int, budget: Budget) -> None:
        self.data = data
        self.at = at
        self.budget = budget

    def match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        found = pattern.match(self.data, self.at)
        if found:
            self.at = found.end()
        return found

    def next(self) -> bytes:
        """Skip blanks and look at the byte that follows."""
        self.match(_BLANKS)
        return self.data[self.at : self.at + 1]

    def take(self, count: int) -> bytes:
        start = self.at
        self.at = start + count
        if self.at > len(self.data):
            raise RemoteProtocolError("LLSD notation ends inside a value")
        return self.data[start : self.at]

    def expect(self, mark: bytes) -> None:
        if self.next() != mark:
            raise RemoteProtocolError("LLSD notation is not punctuated as it should be")
        self.at += 1

    def quoted(self) -> bytes:
        """Read a string in its quotes, escapes resolved."""
        quote = self.take(1)
        plain = _PLAIN[quote]
        out = []
        while True:
            found = cast("re.Match[bytes]", plain.match(self.data, self.at))  # it matches nothing as well
            out.append(found[0])
            self.at = found.end()
            mark = self.take(1)
            if mark == quote:
                return b"".join(out)
            escaped = self.take(1)
            if escaped == b"x":
                try:
                    out.append(binascii.unhexlify(self.take(_HEX_DIGITS)))
                except binascii.Error:
                    raise RemoteProtocolError("LLSD notation holds a bad escape") from None
            else:
                out.append(_ESCAPES.get(escaped, escaped))

    def sized(self) -> tuple[bytes, bytes] | None:
        """Read a string or binary that says its length, if one stands here."""
        found = self.match(_SIZED)
        if not found:
            return None
        raw = self.take(int(found[2]))
        self.expect_at_once(found[3])
        return found[1], raw

    def expect_at_once(self, mark: bytes) -> None:
        if self.take(1) != mark:
            raise RemoteProtocolError("LLSD notation is not as long as it says")

    def key(self) -> str:
        if self.next() in _PLAIN:
            return _text(self.quoted())
        sized = self.sized()
        if sized and sized[0] == b"s":
            return _text(sized[1])
        raise RemoteProtocolError("LLSD notation has no key where one belongs")

    def members(self, closing: bytes, one: Callable[[], None]) -> None:
        """Read members until ``closing``, with a comma between each two."""
        self.at += 1
        if self.next() != closing:
            one()
            while self.next() == b",":
                self.at += 1
                one()
        self.expect(closing)

    def array(self, depth: int) -> LlsdValue:
        values: list[LlsdValue] = []
        self.members(b"]", lambda: values.append(self.value(depth + 1)))
        return values

    def map(self, depth: int) -> LlsdValue:
        values: dict[str, LlsdValue] = {}

        def one() -> None:
            key = self.key()
            self.expect(b":")
            put_key(values, key, self.value(depth + 1))

        self.members(b"}", one)
        return values

    def value(self, depth: int) -> LlsdValue:
        self.budget.spend(depth)
        first = self.next()
        if first == b"[":
            return self.array(depth)
        if first == b"{":
            return self.map(depth)
        if first in _PLAIN:
            return _text(self.quoted())
        if first in _MARKS:
            self.at += 1
            return _MARKS[first]
        return self.scalar()

    def scalar(self) -> LlsdValue:  # noqa: PLR0911 - one branch a form is the grammar
        if found := self.match(_INTEGER):
            return integer_of_text(found[1].decode())
        if found := self.match(_REAL):
            return real_of_text(found[1].decode())
        if found := self.match(_UUID):
            return uuid_of_text(found[1].decode())
        if sized := self.sized():
            return sized[1] if sized[0] == b"b" else _text(sized[1])
        if found := self.match(_BASED):
            return _based(found[1], found[3].decode())
        if found := self.match(_MARKED):
            text = _text(self.quoted())
            return Uri(text) if found[0] == b"l" else date_of_text(text)
        if found := self.match(_WORD):
            return found[0] in _TRUE
        raise RemoteProtocolError("LLSD notation holds a value of no known type")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("LLSD string is no UTF-8") from None


def _based(base: bytes, text: str) -> bytes:
    if base == b"64":
        return binary_of_base64(text)
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise RemoteProtocolError("LLSD binary is not base16") from None


def read_llsd_notation_untrusted(data: bytes, *, size_max: int = HTTP_BODY_MAX_BYTES) -> LlsdValue:
    """Read LLSD notation from outside, with its header line or without.

    Raises:
        RemoteProtocolError: it is malformed, passes a bound, or something follows it (Fault: 12).
    """
    budget = Budget(len(data), size_max=size_max)
    header = NOTATION_HEADER.match(data)
    reader = _Reader(data, header.end() if header else 0, budget)
    value = reader.value(1)
    if reader.next():
        raise RemoteProtocolError("LLSD notation goes on after its value")
    return value
