"""The three codings of LLSD: what they agree on, what they refuse, and what refusing costs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import llsd as library
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.captures import NAMES, exchanges
from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.llsd import (
    LlsdValue,
    Uri,
    read_llsd_binary_untrusted,
    read_llsd_notation_untrusted,
    read_llsd_untrusted,
    read_llsd_xml_untrusted,
    write_llsd_binary,
    write_llsd_notation,
    write_llsd_xml,
)

ID = UUID("6f1c2b30-0000-4000-8000-000000000001")
READERS = [read_llsd_xml_untrusted, read_llsd_binary_untrusted, read_llsd_notation_untrusted, read_llsd_untrusted]
CODINGS = pytest.mark.parametrize(
    ("write", "read"),
    [
        (write_llsd_xml, read_llsd_xml_untrusted),
        (write_llsd_binary, read_llsd_binary_untrusted),
        (write_llsd_notation, read_llsd_notation_untrusted),
        (write_llsd_xml, read_llsd_untrusted),
        (write_llsd_binary, read_llsd_untrusted),
        (write_llsd_notation, read_llsd_untrusted),
    ],
    ids=["xml", "binary", "notation", "xml told", "binary told", "notation told"],
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.just("\n"), max_size=12).filter(
    lambda text: not {"\ufffe", "\uffff"} & set(text)
)
DATES = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2500, 1, 1)).map(  # noqa: DTZ001
    lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000, tzinfo=UTC)
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | TEXTS.map(Uri)
    | st.uuids()
    | st.binary(max_size=20)
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@CODINGS
@settings(max_examples=60, deadline=None)
@given(value=VALUES)
def test_every_value_is_read_as_it_was_written(write, read, value) -> None:
    """Round trip in each coding, types and all; the coding is told by the first bytes too."""
    again = read(write(value))
    assert again == value
    assert type(again) is type(value)


@CODINGS
@settings(max_examples=20, deadline=None)
@given(date=DATES)
def test_dates_are_read_as_they_were_written(write, read, date) -> None:
    """Dates are of UTC; the library writes the binary ones to the second."""
    again = read(write(date))
    assert again.tzinfo is UTC
    assert again in {date, date.replace(microsecond=0)}


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=120), reader=st.sampled_from(READERS), value=VALUES, at=st.integers(0, 200))
def test_any_bytes_give_a_value_or_the_one_error(data, reader, value, at) -> None:
    """Junk, and good documents with junk inside, raise `RemoteProtocolError` and nothing else. Fault: 12."""
    for write in (lambda _: b"", write_llsd_xml, write_llsd_binary, write_llsd_notation):
        good = write(value)
        try:
            result: LlsdValue = reader(good[:at] + data + good[at + len(data) :])
        except RemoteProtocolError:
            continue
        assert result is None or type(result) in {bool, int, float, str, bytes, UUID, datetime, list, dict, Uri}


def aware(value: object) -> object:
    """Say of the library's dates that they are of UTC."""
    match value:
        case dict():
            return {key: aware(member) for key, member in value.items()}
        case list():
            return [aware(member) for member in value]
        case datetime():
            return value.replace(tzinfo=UTC)
        case _:
            return value


def test_every_recorded_body_reads_as_the_library_reads_it() -> None:
    """Seeds, event queues and other capabilities of a real simulator. Spec: LIV-4."""
    read = 0
    for name in NAMES:
        for exchange in exchanges(name):
            for body in (exchange.request, exchange.body):
                if b"<llsd>" in body[:200]:
                    ours = read_llsd_xml_untrusted(body)
                    assert ours == aware(library.parse_xml(body))
                    assert read_llsd_untrusted(body) == ours
                    read += 1
    assert read >= 60


DEEP_XML = b"<llsd>" + b"<array>" * 5000 + b"</array>" * 5000 + b"</llsd>"
WIDE_XML = b"<llsd><array>" + b"<undef/>" * 8000 + b"</array></llsd>"
XML = [
    (DEEP_XML, "nests deeper"),
    (b"<!DOCTYPE llsd [<!ENTITY a 'b'>]><llsd><string>&a;</string></llsd>", "document type"),
    (b"<llsd><real>nan</real></llsd>", "no finite number"),
    (b"<llsd><integer>" + b"9" * 5000 + b"</integer></llsd>", "32-bit"),
    (b"<llsd><map><key>a</key><undef/><key>a</key><undef/></map></llsd>", "twice"),
    (b"<html><body>Bad Gateway</body></html>", "no LLSD"),
    (b"<llsd><undef/><undef/></llsd>", "more than one value"),
    (b"<llsd><map><undef/></map></llsd>", "alternate"),
    (b"<llsd><map><key>a</key><key>b</key></map></llsd>", "alternate"),
    (b"<llsd><map><key>a</key></map></llsd>", "ends after a key"),
    (b"<llsd><array><key>a</key></array></llsd>", "no known type"),
    (b"<llsd><key>a</key></llsd>", "no known type"),
    (b"<llsd><script/></llsd>", "no known type"),
    (b"<llsd><string><b/></string></llsd>", "holds an element"),
    (b"<llsd><array>text</array></llsd>", "holds text"),
    (b"<llsd><undef>x</undef></llsd>", "undef holds"),
    (b"<llsd><boolean>yes</boolean></llsd>", "neither true nor false"),
    (b"<llsd><binary>%%%</binary></llsd>", "base64"),
    (b"<llsd><binary>QQ</binary></llsd>", "base64"),
    ("<llsd><binary>é</binary></llsd>".encode(), "base64"),
    (b'<llsd><binary encoding="base85">QQ==</binary></llsd>', "coding we do not read"),
    (b"<llsd><uuid>{}</uuid></llsd>", "canonical"),
    (b"<llsd><date>soon</date></llsd>", "no date"),
    (b"", "well-formed"),
]
BINARY = [
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
NOTATION = [
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


@pytest.mark.parametrize(
    ("read", "data", "complaint"),
    [
        (read, data, complaint)
        for read, cases in ((READERS[0], XML), (READERS[1], BINARY), (READERS[2], NOTATION))
        for data, complaint in cases
    ],
)
def test_hostile_documents_are_refused_cheaply(read: Callable[[bytes], LlsdValue], data: bytes, complaint: str) -> None:
    """Depth, length -1, count 2^31, NaN, doubled keys, document types: one error, under 1 MiB. Fault: 12."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match=complaint):
            read(data)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


def test_sixty_four_kib_cost_little() -> None:
    """Honest but wide documents stay within 16 MiB."""
    tracemalloc.start()
    try:
        assert read_llsd_xml_untrusted(WIDE_XML) == [None] * 8000
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_caller_can_lower_the_size() -> None:
    """The bound on bytes is checked before anything is read. Spec: BND-7."""
    for read, data in ((READERS[0], b"<llsd><undef/></llsd>"), (READERS[1], b"!" * 9), (READERS[2], b"'12345678'")):
        with pytest.raises(RemoteProtocolError, match="over the 5 allowed"):
            read(data, size_max=5)


def test_xml_forms_that_grids_write_are_read() -> None:
    """Empty elements, blanks between elements, an XML declaration or none, a byte order mark."""
    data = (
        b"\xef\xbb\xbf<?xml version='1.0'?>\n<llsd>\n <map> <key>a</key> <uuid/> <key></key> <boolean>1</boolean>"
        b"<key>b</key><binary encoding='base64'> QU\nJD </binary><key>c</key><integer> 7 </integer>"
        b"<key>d</key><array/><key>e</key><string/><key>f</key><real>-.5</real></map>\n</llsd>"
    )
    expected = {"a": UUID(int=0), "": True, "b": b"ABC", "c": 7, "d": [], "e": "", "f": -0.5}
    assert read_llsd_xml_untrusted(data) == read_llsd_untrusted(data) == expected
    assert read_llsd_xml_untrusted(b"<llsd/>") is None


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


def test_binary_forms_are_read() -> None:
    """With the header line or without; dates are little-endian."""
    body = b"{\0\0\0\1k\0\0\0\1a[\0\0\0\3l\0\0\0\1xd\0\0\0\0\0\x18\xf5\x40i\xff\xff\xff\xff]}"
    expected = {"a": [Uri("x"), datetime(1970, 1, 2, tzinfo=UTC), -1]}
    assert read_llsd_binary_untrusted(body) == expected
    assert read_llsd_untrusted(b"<? LLSD/Binary ?>\n" + body) == expected


class Odd:
    """A type LLSD has no word for."""


def deep(levels: int) -> list[object]:
    """Nest lists."""
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        2**31,
        float("nan"),
        float("inf"),
        Odd(),
        {"a": Odd()},
        deep(64),
        "\ud800",
        Uri("\ud800"),
        {"\ud800": 1},
        datetime(2026, 1, 1),  # noqa: DTZ001 - the point
    ],
)
@pytest.mark.parametrize("write", [write_llsd_xml, write_llsd_binary, write_llsd_notation])
def test_what_llsd_cannot_say_is_our_own_mistake(write, value) -> None:
    """Nothing is written that our own reader would refuse."""
    with pytest.raises(LocalProtocolError):
        write(value)
