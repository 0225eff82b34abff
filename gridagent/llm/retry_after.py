"""How long a provider asks to stay away, from its headers; pure.

Owns the ways it is written: seconds, milliseconds, or a date, which is compared with the reply's own ``Date`` so
that no clock of ours is needed. `gridagent.llm.retry` decides what follows.

Invariant: a finite number of seconds from 0, or None for what cannot be read (Spec: MND-2, Fault: 21).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime

__all__ = ("retry_after_s",)


def retry_after_s(header: Callable[[str], str]) -> float | None:
    """Return the seconds asked for.

    Args:
        header: returns a header's value by its lower-case name, empty where there is none.
    """
    milliseconds = _number(header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    said = header("retry-after").strip()
    seconds = _number(said)
    if seconds is not None or not said:
        return seconds
    until, now = _date(said), _date(header("date"))
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    # A date without a zone cannot be compared; both headers are in GMT by their definition.
    return found if found.tzinfo is not None else None
