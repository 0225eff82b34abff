"""One conversation in memory: its entries, unpacked while it is in use and packed while it is not.

Owns the representation of one conversation and its sums; which one is packed, compacted or dropped is for
`gridagent.conversation.store` to say, which alone uses this. Packing is msgpack and deflate: beside its text an idle
conversation takes less than 4 KiB (``python -m benchmarks conversation``).

Invariant: packing and unpacking change nothing that anybody can see, and the sums are those of the entries.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec

from gridagent.conversation.entries import Entry, Used, text_bytes
from gridagent.conversation.keys import ConversationKey

__all__ = ("Held", "Numbered")

Numbered: TypeAlias = tuple[int, Entry]

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Numbered]).decode
_LEVEL: Final = 1


class Held:
    """One conversation.

    Args:
        key: its key.
        used_at: monotonic clock, in seconds.
    """

    __slots__ = ("_entries", "_packed", "_size", "count", "evidence", "key", "last", "used_at")

    def __init__(self, key: ConversationKey, used_at: float) -> None:
        self.key = key
        self.used_at = used_at
        """When something was said in it last, on the monotonic clock."""
        self.count = 0
        self.evidence = 0
        """How many of its entries are evidence."""
        self.last = 0
        """Number of its latest entry."""
        self._entries: list[Numbered] | None = []  # as many as the settings allow one conversation, or packed
        self._packed = b""
        self._size = 0

    @property
    def size(self) -> int:
        """Its text, in bytes of UTF-8."""
        return self._size

    @property
    def packed(self) -> bool:
        """Whether it is packed."""
        return self._entries is None

    def entries(self) -> list[Numbered]:
        """Return its entries, unpacked from now on; the list is its own."""
        if self._entries is None:
            self._entries = _decode(zlib.decompress(self._packed))
            self._packed = b""
        return self._entries

    def pack(self) -> None:
        """Take as little room as may be."""
        if self._entries is not None:
            self._packed = zlib.compress(_encode(self._entries), _LEVEL)
            self._entries = None

    def append(self, number: int, entry: Entry) -> None:
        """Put an entry behind the others."""
        self.entries().append((number, entry))
        self._count(entry, 1)
        self.last = number

    def replace_first(self, count: int, by: Sequence[Numbered]) -> None:
        """Put something in place of its first entries."""
        entries = self.entries()
        for _, entry in entries[:count]:
            self._count(entry, -1)
        for _, entry in by:
            self._count(entry, 1)
        entries[:count] = by

    def drop_where(self, unwanted: Callable[[Entry], bool]) -> int:
        """Drop entries; return how many."""
        kept: list[Numbered] = []
        gone = 0
        for number, entry in self.entries():
            if unwanted(entry):
                self._count(entry, -1)
                gone += 1
            else:
                kept.append((number, entry))
        self._entries = kept
        return gone

    def _count(self, entry: Entry, sign: int) -> None:
        self.count += sign
        self._size += sign * text_bytes(entry)
        self.evidence += sign * isinstance(entry, Used)
