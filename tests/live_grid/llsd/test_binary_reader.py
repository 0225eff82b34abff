"""LLSD binary: its forms, and what is refused."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import (
    Uri,
    read_llsd_binary_untrusted,
    read_llsd_untrusted,
)

HOSTILE = [
    (b"[" + b"\0\0\0\1[" * 5000, "nests deeper"),
    (b"s\xff\xff\xff\xffabc", "ends inside"),
    (b"b\xff\xff\xff\xff", "ends inside"),
    (b"[\x80\0\0\0", "more members"),
    (b"{\x80\0\0\0", "more members"),
    (b"r\x7f\xf8\0\0\0\0\0\0", "not finite"),
    (b"d\0\0\0\0\0\0\xf8\x7f", "not finite"),
    (b"{\0\0\0\2k\0\0\0\1a!k\0\0\0\1a!}", "twice"),
    (b"{\0\0\0\1x\0\0\0\1a!}", "keyed as"),
    (b"[\0\0\0\1!}", "closed"),
    (b"[\0\0\0\x01", "more members"),
    (b"s\0\0\0\1\xff", "no UTF-8"),
    (b"!!", "goes on"),
    (b"?", "no known type"),
    (b"i\0", "ends inside"),
    (b"", "ends inside"),
]


@pytest.mark.parametrize(("data", "complaint"), HOSTILE)
def test_hostile_documents_are_refused_cheaply(data: bytes, complaint: str) -> None:
    """Depth, lying lengths, NaN, doubled keys and all else that is no LLSD: one error, under 1 MiB. Fault: 12."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match=complaint):
            read_llsd_binary_untrusted(data)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


def test_binary_forms_are_read() -> None:
    """With the header line or without; dates are little-endian."""
    body = b"{\0\0\0\1k\0\0\0\1a[\0\0\0\3l\0\0\0\1xd\0\0\0\0\0\x18\xf5\x40i\xff\xff\xff\xff]}"
    expected = {"a": [Uri("x"), datetime(1970, 1, 2, tzinfo=UTC), -1]}
    assert read_llsd_binary_untrusted(body) == expected
    assert read_llsd_untrusted(b"<? LLSD/Binary ?>\n" + body) == expected
