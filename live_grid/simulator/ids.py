"""Ids in both of their forms, and stable ids for what the simulated world does not number.

Owns the way between the world's text ids and the wire's sixteen bytes, and ids derived from names (regions, folders):
the same name gives the same id in every run, so that a client may remember them. Reads no clock and draws nothing.
Used by everything in this package.
"""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

from live_grid.messages import NIL

__all__ = ("conversation_id", "derived_id", "text_id", "wire_id")

_VERSION_4: Final = 0x40
_VARIANT: Final = 0x80


def wire_id(text: str) -> bytes:
    """Write a canonical UUID of the world as the wire wants it; nothing at all is the nil one."""
    return UUID(text).bytes if text else NIL


def text_id(raw: bytes) -> str:
    """Write sixteen bytes of the wire as the world's canonical text."""
    return str(UUID(bytes=raw))


def derived_id(*names: str) -> bytes:
    """Make the id of something that has a name only."""
    raw = bytearray(hashlib.blake2b("\0".join(names).encode("utf-8", "replace"), digest_size=16).digest())
    raw[6] = raw[6] & 0x0F | _VERSION_4
    raw[8] = raw[8] & 0x3F | _VARIANT
    return bytes(raw)


def conversation_id(one: bytes, other: bytes) -> bytes:
    """Name the conversation of two avatars: their ids, one xor the other."""
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
