"""Times of the day as an operator writes them: spans such as ``23:00-07:00``, and the zone that they are meant in.

Owns the reading of both; knows no clock. ``UTC`` needs no data of the machine, every other zone is looked up in the
system's time zone database. The loader checks with it, presence decides with it (Spec: CFG-1, PRS-1).
"""

from __future__ import annotations

import re
from datetime import UTC, tzinfo
from typing import Annotated, Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Meta

__all__ = ("DAY_MINUTES", "Span", "TimeZone", "minutes_of", "zone_of")

DAY_MINUTES: Final = 24 * 60

Span: TypeAlias = Annotated[
    str, Meta(max_length=11, extra={"kind": "span"}, description="a span of the day such as '23:00-07:00'")
]
"""From one local time to another; the end belongs to it no more. One that ends before it begins goes over midnight."""
TimeZone: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,3}\Z",
        description="the IANA name of a time zone such as 'UTC' or 'Europe/Zurich'",
    ),
]

_SPAN: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)", re.ASCII)


def minutes_of(span: str) -> tuple[int, int] | None:
    """Return a span's beginning and end in minutes of the day; None for what is no span, or lasts no time."""
    found = _SPAN.fullmatch(span)
    if found is None:
        return None
    hour, minute, end_hour, end_minute = map(int, found.groups())
    begins, ends = hour * 60 + minute, end_hour * 60 + end_minute
    return None if ends > DAY_MINUTES or begins == ends else (begins, ends)


def zone_of(name: str) -> tzinfo | None:
    """Return a time zone by its IANA name; None where this machine does not know it."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
