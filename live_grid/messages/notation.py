"""The notation that message layouts are written in.

A layout is a class: a `Message` whose fields are blocks, a `Block` whose fields are wire kinds, both
in wire order. The annotation of a field is its kind on the wire (`U32`, `V1`, `Vector3`, …) and its
type in Python at once, so that layout and types cannot drift apart. ``block: Kind`` is a block that
stands once, ``block: tuple[Kind, ...]`` one with a count byte before it. `live_grid.messages.compiling`
turns a class into a reader and a writer.

Invariant: everything here is immutable and holds no reference cycle (hence ``gc=False``). Structs
take positional arguments because the reader builds thousands a second; callers use keywords.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

__all__ = (
    "F32",
    "F64",
    "NIL",
    "S8",
    "S16",
    "S32",
    "U8",
    "U16",
    "U32",
    "U64",
    "V1",
    "V2",
    "AgentSession",
    "Block",
    "Bool",
    "Fixed4",
    "IPAddress",
    "Kind",
    "Message",
    "Port",
    "Quaternion",
    "Uuid",
    "Vector3",
    "text_of",
    "wire_text",
)


class Kind(msgspec.Struct, frozen=True):
    """How one field stands on the wire."""

    code: str
    """`struct` code of the value, or of the length before it."""
    values: int = 1
    """How many numbers make up the value; more than one is a tuple."""
    prefixed: bool = False
    """The code is that of a length, and so many bytes follow."""
    network_order: bool = False
    """Big-endian, where everything else in a body is little-endian."""


U8: TypeAlias = Annotated[int, Kind("B")]
U16: TypeAlias = Annotated[int, Kind("H")]
U32: TypeAlias = Annotated[int, Kind("I")]
U64: TypeAlias = Annotated[int, Kind("Q")]
S8: TypeAlias = Annotated[int, Kind("b")]
S16: TypeAlias = Annotated[int, Kind("h")]
S32: TypeAlias = Annotated[int, Kind("i")]
F32: TypeAlias = Annotated[float, Kind("f")]
F64: TypeAlias = Annotated[float, Kind("d")]
Bool: TypeAlias = Annotated[bool, Kind("?")]
Uuid: TypeAlias = Annotated[bytes, Kind("16s")]
"""Sixteen bytes as they stand on the wire; compared as bytes, printed by whoever shows them."""
IPAddress: TypeAlias = Annotated[bytes, Kind("4s")]
"""Four bytes in network order."""
Port: TypeAlias = Annotated[int, Kind("H", network_order=True)]
Fixed4: TypeAlias = Annotated[bytes, Kind("4s")]
"""Four raw bytes, such as a colour."""
Vector3: TypeAlias = Annotated[tuple[float, float, float], Kind("f", values=3)]
Quaternion: TypeAlias = Annotated[tuple[float, float, float], Kind("f", values=3)]
"""x, y, z of a unit quaternion; w is what is missing to length one, and not negative."""
V1: TypeAlias = Annotated[bytes, Kind("B", prefixed=True)]
"""Up to 255 bytes after a length byte. Text in it ends in NUL: see `text_of` and `wire_text`."""
V2: TypeAlias = Annotated[bytes, Kind("H", prefixed=True)]
"""Bytes after a two-byte length. Text in it ends in NUL: see `text_of` and `wire_text`."""

NIL: Final = bytes(16)
"""The nil UUID."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """Base of every block: fields of wire kinds in wire order."""


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Base of every message: blocks in wire order.

    The two fields here say how the wire differed from the layout, so that what was read can be
    written again byte for byte. Senders leave both alone.
    """

    absent: int = 0
    """Trailing blocks that were not sent at all; they read as zeros or as empty."""
    extra: bytes = b""
    """Bytes after the last block that the layout does not know."""


class AgentSession(Block, frozen=True, gc=False):
    """The block that starts nearly everything a viewer sends: who, in which session."""

    agent_id: Uuid
    session_id: Uuid


def text_of(raw: bytes) -> str:
    """Read wire text: without its closing NUL, bytes that are no UTF-8 replaced.

    Args:
        raw: a variable field as it was read; text from outside, never identity.
    """
    return raw.rstrip(b"\0").decode("utf-8", "replace")


def wire_text(text: str) -> bytes:
    """Write text as the wire wants it: UTF-8 with a closing NUL; lone surrogates are replaced."""
    return text.encode("utf-8", "replace") + b"\0"
