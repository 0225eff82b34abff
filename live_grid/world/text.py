"""Text from the wire, made harmless where it enters: control characters out, length cut.

Owns what is left of a text that somebody typed, or forged. `clean_text` keeps what people write, joined emoji
included; `clean_name` also removes what no eye sees and lays the text on one line. A clean name is still only
display text, never identity (Spec: LIV-6; Fault: 14, 17).
"""

from __future__ import annotations

from typing import Final

from live_grid.messages import text_of
from live_grid.world.bounds import CHAT_MAX_CHARACTERS, NAME_MAX_CHARACTERS

__all__ = ("clean", "clean_name", "clean_text", "clean_words")

_CONTROLS: Final = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS: Final = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SEPARATORS: Final = [0x2028, 0x2029]
_UNSEEN: Final = [
    0x00AD,
    0x034F,
    0x180E,
    *range(0x200B, 0x200E),
    *range(0x2060, 0x2065),
    0xFEFF,
    *range(0xE0000, 0xE0080),
]
_KEPT: Final = {0x09, 0x0A}
_IN_TEXT: Final[dict[int, str | None]] = {
    code: None for code in (*_CONTROLS, *_DIRECTIONS, *range(0xD800, 0xE000)) if code not in _KEPT
} | dict.fromkeys(_SEPARATORS, "\n")
_IN_NAMES: Final[dict[int, str | None]] = _IN_TEXT | dict.fromkeys(_UNSEEN) | dict.fromkeys((9, 10, *_SEPARATORS), " ")
_CUT: Final = "…"


def clean(text: str, most: int = CHAT_MAX_CHARACTERS) -> str:
    """Take control and direction characters out of a text and cut it, marking the cut."""
    if not text.isprintable():
        text = text.translate(_IN_TEXT)
    return text if len(text) <= most else text[: most - 1] + _CUT


def clean_words(text: str, most: int = NAME_MAX_CHARACTERS) -> str:
    """Lay a text on one line, without anything unseen, and cut it, marking the cut."""
    if not text.isascii() or not text.isprintable():
        text = text.translate(_IN_NAMES)
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + _CUT


def clean_text(raw: bytes, most: int = CHAT_MAX_CHARACTERS) -> str:
    """Read and `clean` a text of the wire."""
    return clean(text_of(raw), most)


def clean_name(raw: bytes, most: int = NAME_MAX_CHARACTERS) -> str:
    """Read a name of the wire and lay it on one line."""
    return clean_words(text_of(raw), most)
