"""A reply's body, decompressed while it comes, with a bound on both sides; sans-IO.

Owns the content encodings that are accepted although none is asked for (gzip, deflate), and the two counters.
The transport feeds it raw bytes and hands on what comes out.

Invariant: no call returns more than `PIECE_MAX_BYTES`, and whatever is fed, at most ``body_max_bytes`` come out:
a bomb is found after the bound, not after the bang (Spec: MND-1, BND-7, Fault: 21).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from gridagent.language import BadReply, FailureKind, LlmFailure

__all__ = ("PIECE_MAX_BYTES", "Inflater")

PIECE_MAX_BYTES: Final = 64 * 1024
_ZLIB_OR_GZIP: Final = 32 + zlib.MAX_WBITS  # zlib finds out by the header
_ENCODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Counts and decompresses one body.

    Args:
        encoding: the value of Content-Encoding.
        body_max_bytes: bound on what comes in, and on what goes out.

    Raises:
        LlmFailure: an encoding that is not accepted.
    """

    __slots__ = ("_in", "_max", "_out", "_zlib")

    def __init__(self, encoding: str, body_max_bytes: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in {"", "identity", *_ENCODINGS}:
            raise LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.ENCODING)
        self._zlib = zlib.decompressobj(_ZLIB_OR_GZIP) if encoding in _ENCODINGS else None
        self._max = body_max_bytes
        self._in = 0
        self._out = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the next raw bytes hold, piece by piece.

        Raises:
            LlmFailure: over the bound, or not what the encoding promised.
        """
        self._in = self._counted(self._in, len(data))
        if self._zlib is None:
            if len(data) <= PIECE_MAX_BYTES:
                yield data
            else:
                yield from (data[at : at + PIECE_MAX_BYTES] for at in range(0, len(data), PIECE_MAX_BYTES))
            return
        while data:
            if self._zlib.eof:
                raise LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.ENCODING)
            piece = self._inflate(data)
            data = self._zlib.unconsumed_tail or self._zlib.unused_data
            self._out = self._counted(self._out, len(piece))
            if piece:
                yield piece

    def end(self) -> None:
        """Check that the compressed body ended where it said.

        Raises:
            LlmFailure: it is cut off.
        """
        if self._zlib is not None and not self._zlib.eof:
            raise LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TRUNCATED)

    def _inflate(self, data: bytes) -> bytes:
        assert self._zlib is not None  # noqa: S101 - only called where there is one
        broken = False
        piece = b""
        try:
            piece = self._zlib.decompress(data, PIECE_MAX_BYTES)
        except zlib.error:
            broken = True
        if broken:
            raise LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.ENCODING)
        return piece

    def _counted(self, before: int, size: int) -> int:
        if before + size > self._max:
            raise LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TOO_LONG)
        return before + size
