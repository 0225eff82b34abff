"""Text from outside, made safe to look at: in a terminal, in a pipe, in a file that is printed later.

Owns the two ways of writing what people and grids said: `shown` for people, `plain_json` for programs.
Nothing that comes out can move the cursor, colour, ring, set the clipboard, turn the direction of reading
or hide (Spec: OPS-7). Pure, and imports nothing of weight: even a wrong command line is answered with it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ("plain_json", "shown")

SHOWN_MAX: Final = 240
"""Characters of one shown text: what fits on a few lines."""
_MARKS_MAX: Final = 3
"""Combining marks on one character; a thousand of them paint over the lines around."""
# Inside JSON these can stand only in texts, where their escape means the same.
_UNSAFE_IN_JSON: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def shown(text: str, most: int = SHOWN_MAX) -> str:
    """Return text from outside on one line, fit to be looked at: what cannot be seen is written out."""
    out: list[str] = []
    marks = 0
    for char in text if len(text) <= most else f"{text[: most - 1]}…":
        if unicodedata.category(char) in {"Mn", "Me"}:
            marks += 1
            if marks > _MARKS_MAX:
                continue
        else:
            marks = 0
        if char.isprintable():
            out.append(char)
        elif unicodedata.category(char) == "Zs":
            out.append(" ")
        else:
            out.append(char.encode("unicode_escape").decode("ascii"))
    return "".join(out)


def plain_json(line: bytes) -> str:
    """Return encoded JSON as text in which no terminal finds anything but letters."""
    return _UNSAFE_IN_JSON.sub(_escaped, line.decode("utf-8", "backslashreplace"))


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
