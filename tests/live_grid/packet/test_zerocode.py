"""Zero-coding: round trips, the old coding, and bombs."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.errors import RemoteProtocolError
from live_grid.packet.zerocode import compress, expand_untrusted

CHUNKS = st.one_of(st.binary(max_size=20), st.integers(1, 700).map(bytes))
SPARSE = st.lists(CHUNKS, max_size=8).map(b"".join)


def plainly(data: bytes) -> bytes:
    """The textbook expansion, for comparison."""
    out, at = bytearray(), 0
    while at < len(data):
        if data[at]:
            out.append(data[at])
            at += 1
            continue
        at += 1
        while data[at] == 0:
            out += bytes(256)
            at += 1
        out += bytes(data[at])
        at += 1
    return bytes(out)


@given(SPARSE)
def test_what_was_compressed_expands_to_the_same(data: bytes) -> None:
    """Round trip, and no result longer than twice its input. Spec: LIV-3."""
    coded = compress(data)
    assert expand_untrusted(coded, len(data)) == data
    assert len(coded) <= 2 * len(data)
    assert b"\0\0" not in coded


@given(st.lists(st.sampled_from([0, 0, 1, 2, 255]), max_size=40).map(bytes), st.integers(0, 2000))
def test_any_bytes_expand_within_the_cap_or_are_refused(data: bytes, cap: int) -> None:
    """The result agrees with the textbook whenever there is one, and never passes the cap. Fault: 4."""
    try:
        expected: bytes | None = plainly(data)
    except IndexError:
        expected = None
    if expected is None or len(expected) > cap:
        with pytest.raises(RemoteProtocolError):
            expand_untrusted(data, cap)
    else:
        assert expand_untrusted(data, cap) == expected


def test_a_count_of_zero_is_the_old_way_to_write_256_zeros() -> None:
    """Accepted, never written."""
    assert expand_untrusted(b"a\0\0\x01b", 300) == b"a" + bytes(257) + b"b"
    assert compress(bytes(257)) == b"\0\xff\0\x02"


@pytest.mark.parametrize("data", [b"\0", b"a\0\x01\0", b"\0\0"])
def test_a_run_without_its_count_is_malformed(data: bytes) -> None:
    """A body that ends inside a run is refused. Fault: 5."""
    with pytest.raises(RemoteProtocolError, match="ends inside a run"):
        expand_untrusted(data, 1000)


@pytest.mark.parametrize("unit", [b"\0\xff", b"\0\0"], ids=["255 each", "256 each"])
def test_a_bomb_is_dropped_before_it_is_built(unit: bytes) -> None:
    """8 KiB that ask for a megabyte are refused within a quarter of that. Fault: 4."""
    bomb = unit * 4096
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match="beyond 12288 bytes"):
            expand_untrusted(bomb + b"\x01", 0x3000)
        assert tracemalloc.get_traced_memory()[1] < 512 * 1024
    finally:
        tracemalloc.stop()


def test_the_cap_holds_for_plain_bytes_too() -> None:
    """Neither way of expanding lets literal bytes past the cap."""
    assert expand_untrusted(b"abc", 3) == b"abc"
    for data in (b"abcd", b"a\0\0\x01" + b"b" * 2000):
        with pytest.raises(RemoteProtocolError, match="beyond"):
            expand_untrusted(data, 3 if len(data) == 4 else 1000)
