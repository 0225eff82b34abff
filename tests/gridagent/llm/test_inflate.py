"""Bodies are decompressed while they come, with a bound on what goes in and on what comes out."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import BadReply, LlmFailure
from gridagent.llm.inflate import PIECE_MAX_BYTES, Inflater

MAX = 1_000_000


def through(encoding: str, *pieces: bytes, most: int = MAX) -> bytes:
    """Return what the pieces hold."""
    inflater = Inflater(encoding, most)
    out = b"".join(part for piece in pieces for part in inflater.feed(piece))
    inflater.end()
    return out


def bad_reply(encoding: str, *pieces: bytes, most: int = MAX) -> BadReply | None:
    """Return why they hold nothing."""
    with pytest.raises(LlmFailure) as caught:
        through(encoding, *pieces, most=most)
    return caught.value.bad_reply


@given(
    st.binary(max_size=2_000),
    st.integers(1, 400),
    st.sampled_from(["gzip", "x-gzip", " GZIP ", "deflate", "", "identity"]),
)
def test_every_accepted_encoding_comes_back(data: bytes, step: int, encoding: str) -> None:
    """What was compressed comes out, in pieces of any size. Spec: MND-1."""
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}.get(encoding.strip().lower().removeprefix("x-"), bytes)(
        data
    )
    assert through(encoding, *(packed[at : at + step] for at in range(0, len(packed), step))) == data


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "x" * 300])
def test_other_encodings_are_refused(encoding: str) -> None:
    """Nothing is guessed, and nothing is unpacked twice."""
    with pytest.raises(LlmFailure) as caught:
        Inflater(encoding, MAX)
    assert caught.value.bad_reply is BadReply.ENCODING


def test_a_bomb_is_found_at_the_bound() -> None:
    """64 MB in 64 kB stop at the bound, without 64 MB of memory. Spec: BND-7. Fault: 21."""
    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    tracemalloc.start()
    assert bad_reply("gzip", bomb) is BadReply.TOO_LONG
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * MAX


def test_no_piece_is_large() -> None:
    """Whatever the source makes of it, pieces stay small enough to parse at once."""
    for encoding, data in (("", bytes(500_000)), ("gzip", gzip.compress(bytes(500_000)))):
        inflater = Inflater(encoding, MAX)
        sizes = [len(piece) for piece in inflater.feed(data)]
        assert max(sizes) == PIECE_MAX_BYTES
        assert sum(sizes) == 500_000


def test_the_raw_side_is_bounded_too() -> None:
    """Bytes that decompress to nothing do not come in for ever."""
    assert bad_reply("", bytes(101), most=100) is BadReply.TOO_LONG
    endless_name = b"\x1f\x8b\x08\x08" + bytes(6)
    assert bad_reply("gzip", endless_name, *[b"a" * 65_536] * 20) is BadReply.TOO_LONG


def test_broken_compression_is_told() -> None:
    """Not compressed, cut off, and followed by something else are three things, and all typed. Fault: 21."""
    packed = gzip.compress(b"hello")
    assert bad_reply("gzip", b"hello") is BadReply.ENCODING
    assert bad_reply("gzip", packed[:-3]) is BadReply.TRUNCATED
    assert bad_reply("gzip") is BadReply.TRUNCATED
    assert bad_reply("gzip", packed + b"more") is BadReply.ENCODING
