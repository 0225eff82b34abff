"""Texts of the world cut to what the wire's fields hold, and texts of the wire as the world takes them.

Owns the sizes: a short field has one byte of length, a long one may fill a datagram. A text is never split inside
a character. Used by everything here that writes or reads text.
"""

from __future__ import annotations

from typing import Final

from gridagent.limits import CHAT_MAX_BYTES, clip, clip_bytes
from live_grid.messages import text_of, wire_text

__all__ = ("chat_from_wire", "label_from_wire", "long_text", "name_from_wire", "short_text")

_SHORT_MAX_BYTES: Final = 250
_NAME_MAX_CHARACTERS: Final = 128
_LABEL_MAX_CHARACTERS: Final = 64


def short_text(text: str) -> bytes:
    """Write text into a field with one byte of length."""
    return wire_text(clip_bytes(text, _SHORT_MAX_BYTES))


def long_text(text: str) -> bytes:
    """Write text into a field with two bytes of length, so that the message fits a datagram."""
    return wire_text(clip_bytes(text, CHAT_MAX_BYTES))


def chat_from_wire(raw: bytes) -> str:
    """Read words that were said."""
    return clip_bytes(text_of(raw), CHAT_MAX_BYTES)


def name_from_wire(raw: bytes) -> str:
    """Read a name."""
    return clip(text_of(raw), _NAME_MAX_CHARACTERS)


def label_from_wire(raw: bytes) -> str:
    """Read a button or a code."""
    return clip(text_of(raw), _LABEL_MAX_CHARACTERS)
