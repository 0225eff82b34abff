"""LLSD-XML: recorded documents, the forms grids write, and what is refused."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from uuid import UUID

import llsd as library
import pytest

from benchmarks.captures import NAMES, exchanges
from live_grid.errors import RemoteProtocolError
from live_grid.llsd import (
    read_llsd_untrusted,
    read_llsd_xml_untrusted,
)

DEEP_XML = b"<llsd>" + b"<array>" * 5000 + b"</array>" * 5000 + b"</llsd>"
WIDE_XML = b"<llsd><array>" + b"<undef/>" * 8000 + b"</array></llsd>"
HOSTILE = [
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


@pytest.mark.parametrize(("data", "complaint"), HOSTILE)
def test_hostile_documents_are_refused_cheaply(data: bytes, complaint: str) -> None:
    """Depth, lying lengths, NaN, doubled keys and all else that is no LLSD: one error, under 1 MiB. Fault: 12."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match=complaint):
            read_llsd_xml_untrusted(data)
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
