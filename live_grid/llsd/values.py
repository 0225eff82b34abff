"""The values that LLSD carries, as Python types, and the rules all three codings share.

Owns the type alias, the readers of single scalars from text, and the budget that a document may use up.
Imports no coding. An integer is signed 32 bits, a real is finite, a UUID has its one canonical form, a
map names each key once: what breaks a rule is refused, not mended (Fault: 12).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

from live_grid.errors import RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES, LLSD_DEPTH_MAX, LLSD_NODES_MAX

__all__ = (
    "EPOCH",
    "S32_MAX",
    "S32_MIN",
    "Budget",
    "LlsdGiven",
    "LlsdValue",
    "Uri",
    "date_of_seconds",
    "date_of_text",
    "finite",
    "integer_of_text",
    "put_key",
    "real_of_text",
    "uuid_of_text",
)

S32_MIN: Final = -(2**31)
S32_MAX: Final = 2**31 - 1
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")
_REAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_REAL_MAX_CHARACTERS: Final = 64
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)


class Uri(str):
    """A text that was marked as an address; never opened by itself."""

    __slots__ = ()


LlsdValue: TypeAlias = (
    "bool | int | float | str | bytes | UUID | datetime | list[LlsdValue] | dict[str, LlsdValue] | None"
)
"""What reading returns; a `Uri` is a `str`, a date is aware and in UTC."""
LlsdGiven: TypeAlias = (
    "bool | int | float | str | bytes | UUID | datetime | Sequence[LlsdGiven] | Mapping[str, LlsdGiven] | None"
)
"""What writing takes."""


class Budget:
    """What one document may still use up: bytes at the start, values and depth on the way.

    Raises:
        RemoteProtocolError: the document is longer than ``size_max`` bytes.
    """

    __slots__ = ("depth_max", "nodes_left")

    def __init__(
        self,
        size: int,
        *,
        size_max: int = HTTP_BODY_MAX_BYTES,
        depth_max: int = LLSD_DEPTH_MAX,
        nodes_max: int = LLSD_NODES_MAX,
    ) -> None:
        if size > size_max:
            raise RemoteProtocolError(f"LLSD of {size} bytes is over the {size_max} allowed")
        self.depth_max = depth_max
        self.nodes_left = nodes_max

    def spend(self, depth: int) -> None:
        """Account for one value at ``depth``.

        Raises:
            RemoteProtocolError: there are too many values, or they nest too deep (Fault: 12).
        """
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise RemoteProtocolError("LLSD holds more values than allowed")
        if depth > self.depth_max:
            raise RemoteProtocolError(f"LLSD nests deeper than {self.depth_max}")


def integer_of_text(text: str) -> int:
    """Read a signed 32-bit integer; nothing at all is zero."""
    if not text:
        return 0
    if _INTEGER.fullmatch(text):
        value = int(text)
        if S32_MIN <= value <= S32_MAX:
            return value
    raise RemoteProtocolError("LLSD integer is no signed 32-bit number")


def finite(value: float) -> float:
    """Pass a finite real on.

    Raises:
        RemoteProtocolError: it is infinite or not a number (Fault: 12).
    """
    if math.isfinite(value):
        return value
    raise RemoteProtocolError("LLSD real is not finite")


def real_of_text(text: str) -> float:
    """Read a finite real; nothing at all is zero."""
    if not text:
        return 0.0
    if len(text) <= _REAL_MAX_CHARACTERS and _REAL.fullmatch(text):
        return finite(float(text))
    raise RemoteProtocolError("LLSD real is no finite number")


def uuid_of_text(text: str) -> UUID:
    """Read a hyphenated UUID, of either case and in no other spelling; nothing at all is the nil one."""
    if not text:
        return UUID(int=0)
    if _UUID.fullmatch(text):
        return UUID(text)
    raise RemoteProtocolError("LLSD uuid is not in its canonical form")


def date_of_text(text: str) -> datetime:
    """Read an ISO date of UTC; nothing at all is the epoch."""
    if not text:
        return EPOCH
    found = _DATE.fullmatch(text)
    if found:
        year, month, day, hour, minute, second = map(int, found.groups()[:6])
        micros = int((found[7] or "").ljust(6, "0")[:6])
        try:
            return datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        except ValueError:
            pass
    raise RemoteProtocolError("LLSD date is no date")


def date_of_seconds(seconds: float) -> datetime:
    """Read a date written as seconds since the epoch."""
    try:
        return EPOCH + timedelta(seconds=finite(seconds))
    except OverflowError:
        raise RemoteProtocolError("LLSD date is no date") from None


def put_key(target: dict[str, LlsdValue], key: str, value: LlsdValue) -> None:
    """Add a key to a map.

    Raises:
        RemoteProtocolError: the map has it already (Fault: 12).
    """
    if key in target:
        raise RemoteProtocolError("LLSD map names a key twice")
    target[key] = value
