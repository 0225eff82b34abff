"""Fields of event-queue bodies, where the same number comes in two forms.

Owns the reading of single values: Second Life writes unsigned numbers as big-endian binary, OpenSimulator some of
them as integers; both are accepted everywhere. A field that is missing or of another kind raises the one error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias
from uuid import UUID

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import LlsdValue

__all__ = ("Fields", "address_of", "block_of", "number_of", "text_of_field", "uuid_of", "vector_of")

Fields: TypeAlias = Mapping[str, LlsdValue]

_U64_BYTES: Final = 8
_IPV4_BYTES: Final = 4
_PORT_MAX: Final = 0xFFFF
_U32: Final = 0xFFFF_FFFF


def block_of(body: Fields, name: str) -> Fields:
    """Take the first block of a name.

    Raises:
        RemoteProtocolError: there is none.
    """
    match body.get(name):
        case [dict(block), *_]:
            return block
        case _:
            raise RemoteProtocolError(f"event without a block {name}")


def number_of(block: Fields, name: str, default: int | None = None) -> int:
    """Take an unsigned number, written as big-endian binary or as an integer of the same 32 bits.

    Raises:
        RemoteProtocolError: it is missing and has no default, or is no number.
    """
    match block.get(name, default):
        case bool():
            pass
        case int(value):
            return value if value >= 0 else value & _U32
        case bytes(raw) if 0 < len(raw) <= _U64_BYTES:
            return int.from_bytes(raw, "big")
    raise RemoteProtocolError(f"event without a number {name}")


def text_of_field(block: Fields, name: str) -> str:
    """Take a text or an address.

    Raises:
        RemoteProtocolError: it is missing or no text.
    """
    value = block.get(name)
    if isinstance(value, str):
        return value
    raise RemoteProtocolError(f"event without a text {name}")


def uuid_of(block: Fields, name: str) -> bytes:
    """Take an id, as sixteen bytes.

    Raises:
        RemoteProtocolError: it is missing or no id.
    """
    value = block.get(name)
    if isinstance(value, UUID):
        return value.bytes
    raise RemoteProtocolError(f"event without an id {name}")


def vector_of(block: Fields, name: str) -> tuple[float, float, float]:
    """Take a vector of three reals.

    Raises:
        RemoteProtocolError: it is missing or no vector.
    """
    match block.get(name):
        case [float(x), float(y), float(z)]:
            return x, y, z
        case _:
            raise RemoteProtocolError(f"event without a vector {name}")


def address_of(block: Fields, ip: str, port: str) -> tuple[str, int]:
    """Take an address: four bytes and a port.

    Raises:
        RemoteProtocolError: it is missing or no address.
    """
    raw, number = block.get(ip), number_of(block, port)
    if isinstance(raw, bytes) and len(raw) == _IPV4_BYTES and 0 < number <= _PORT_MAX:
        return ".".join(map(str, raw)), number
    raise RemoteProtocolError(f"event without an address {ip}")
