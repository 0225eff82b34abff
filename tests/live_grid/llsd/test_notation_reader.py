"""LLSD notation: its forms, and what is refused."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from uuid import UUID

import llsd as library
import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import (
    Uri,
    read_llsd_notation_untrusted,
    read_llsd_untrusted,
)

ID = UUID("6f1c2b30-0000-4000-8000-000000000001")
HOSTILE = [
    (b"[" * 5000, "nests deeper"),
    (b"rnan", "no known type"),
    (b"r1e999", "not finite"),
    (b"r1.2.3", "no finite number"),
    (b"i" + b"9" * 5000, "32-bit"),
    (b"i9999999999", "32-bit"),
    (b"{'a':!,'a':!}", "twice"),
    (b"{a:!}", "no key"),
    (b"{b(1)'a':!}", "no key"),
    (b"{'a'!}", "punctuated"),
    (b"[!!]", "punctuated"),
    (b"[!,]", "no known type"),
    (b"'abc", "ends inside"),
    (b"'a\\", "ends inside"),
    (b"'\\xzz'", "bad escape"),
    (b"'\xff'", "no UTF-8"),
    (b"s(99999999)'a'", "ends inside"),
    (b"s(1)'ab'", "not as long"),
    (b"b16'0'", "base16"),
    (b"b64'0'", "base64"),
    (b"d'x'", "no date"),
    (b"u6f1c2b300-000-4000-8000-000000000001", "canonical"),
    (b"!!", "goes on"),
    (b"", "no known type"),
]


@pytest.mark.parametrize(("data", "complaint"), HOSTILE)
def test_hostile_documents_are_refused_cheaply(data: bytes, complaint: str) -> None:
    """Depth, lying lengths, NaN, doubled keys and all else that is no LLSD: one error, under 1 MiB. Fault: 12."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match=complaint):
            read_llsd_notation_untrusted(data)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


def test_notation_forms_are_read() -> None:
    """Every spelling of the text form."""
    data = b"""<? llsd/notation ?>
    { 'a' : [ i-5 , r1.5e2, t, F, true, FALSE, 1, 0, ! ], "b":u6f1c2b30-0000-4000-8000-000000000001,
      s(1)"c":s(3)'a'b', 'd':b(2)"\"\"", 'e':b16"00fF", 'f':b64'QUJD', 'g':l"http://x/",
      'h':d'2026-01-01T00:00:00Z', 'i':'\\n\\t\\x41\\'\\\\', 'j':{}, 'k':[] }"""
    assert read_llsd_untrusted(data) == {
        "a": [-5, 150.0, True, False, True, False, True, False, None],
        "b": ID,
        "c": "a'b",
        "d": b'""',
        "e": b"\0\xff",
        "f": b"ABC",
        "g": Uri("http://x/"),
        "h": datetime(2026, 1, 1, tzinfo=UTC),
        "i": "\n\tA'\\",
        "j": {},
        "k": [],
    }


def test_recorded_login_fields_are_notation() -> None:
    """The login reply hides notation in strings."""
    data = b"{'region_handle':[r256000,r256000], 'position':[r128,r128,r0], 'look_at':[r0,r1,r0]}"
    assert read_llsd_untrusted(data) == library.parse_notation(data)
