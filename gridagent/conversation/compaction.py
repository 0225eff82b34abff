"""Making an old part of a conversation smaller, by rule and not by a model.

Owns what a summary says: who said what, shortened, the latest lines before older ones, each behind the label of
where it came from. Our own words and what we looked up are left out: they would come back as if somebody had told
us, and those of an earlier persona must not come back at all. Pure; the store decides what is compacted and when.

Invariants (Spec: MEM-2): the same entries give the same summary; it takes fewer bytes than what it replaces, or
there is none; its taint and its labels are those of all that went into it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from gridagent.authority import TextSource
from gridagent.conversation.entries import (
    ENTRIES_PER_SUMMARY_MAX,
    SUMMARY_MAX_BYTES,
    Entry,
    Heard,
    Summary,
    text_bytes,
)
from gridagent.limits import clip_bytes

__all__ = ("CannotShrink", "summarise")

LINE_MAX_BYTES: Final = 160
NAME_MAX_BYTES: Final = 40
_LINE_LEAST_BYTES: Final = 24
"""A shorter line would be little more than its label."""
_OLDER_SHARE: Final = 3
"""A third of a summary is left to the summary before it, however much was said since."""
_LEAST_BYTES: Final = 64
"""A summary of fewer bytes says nothing."""


class CannotShrink(StrEnum):
    """Why there is no summary."""

    TOO_SMALL = "too_small"
    """Whatever a summary could say is no smaller than what it would replace."""


def summarise(entries: Sequence[Entry], *, max_bytes: int = SUMMARY_MAX_BYTES) -> Summary | CannotShrink:
    """Return what entries come to, in fewer bytes than they take.

    Args:
        entries: at least one, the oldest first.
        max_bytes: UTF-8 bytes that the summary may have at most.
    """
    before = sum(map(text_bytes, entries))
    room = min(max_bytes, before // 2)
    if room < _LEAST_BYTES:
        return CannotShrink.TOO_SMALL
    text = _shorten(entries, room)
    return Summary(
        at=entries[-1].at,
        tainted=any(each.tainted for each in entries),
        restored=any(each.restored for each in entries),
        text=text,
        covers=min(sum(_covers(each) for each in entries), ENTRIES_PER_SUMMARY_MAX),
        since=min(each.since if isinstance(each, Summary) else each.at for each in entries),
        sources=_sources(entries),
    )


def _shorten(entries: Sequence[Entry], room: int) -> str:
    kept_older = _latest(_older_lines(entries), room // _OLDER_SHARE)
    said = _latest(_lines(entries), room - _size(kept_older))
    return "\n".join((*kept_older, *said))


def _latest(lines: Iterator[str], room: int) -> list[str]:
    """Return the first of some lines that fit, given the latest first, in the order in which they were said."""
    kept: list[str] = []
    for line in lines:
        size = len(line.encode("utf-8", "replace")) + 1
        if size > room:
            if not kept and room > _LINE_LEAST_BYTES:
                kept.append(clip_bytes(line, room - 1))
            break
        kept.append(line)
        room -= size
    return kept[::-1]


def _older_lines(entries: Sequence[Entry]) -> Iterator[str]:
    for each in reversed(entries):
        if isinstance(each, Summary):
            yield from reversed(each.text.split("\n"))


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    for each in reversed(entries):
        if isinstance(each, Heard):
            # The label stands first, where no name and no text can put anything before it.
            name = clip_bytes(_on_one_line(each.who), NAME_MAX_BYTES)
            yield clip_bytes(f"[{each.source.value}] {name}: {_on_one_line(each.text)}", LINE_MAX_BYTES)


def _on_one_line(text: str) -> str:
    """Return text without line breaks and invisible marks, so that it cannot pretend to be another line."""
    shown = text[:LINE_MAX_BYTES]
    return " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in shown).split())


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _covers(entry: Entry) -> int:
    return entry.covers if isinstance(entry, Summary) else 1


def _sources(entries: Sequence[Entry]) -> tuple[TextSource, ...]:
    found: set[TextSource] = set()
    for each in entries:
        if isinstance(each, Heard):
            found.add(each.source)
        elif isinstance(each, Summary):
            found.update(each.sources)
    return tuple(sorted(found))
