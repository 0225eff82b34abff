"""The bounded stream of XML events."""

from __future__ import annotations

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.llsd.xml_stream import read_xml_untrusted


class Notes:
    """A handler that writes down what it gets."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.seen.append(("start", tag, *attributes.values()))

    def end(self, tag: str, text: str) -> None:
        self.seen.append(("end", tag, text))


def read(data: bytes, **bounds: int) -> list[tuple[str, ...]]:
    """Read with small bounds and return what the handler noted."""
    notes = Notes()
    read_xml_untrusted(data, notes, what="note", **{"size_max": 1000, "depth_max": 3, "nodes_max": 5} | bounds)
    return notes.seen


def test_elements_come_with_their_text() -> None:
    """Text belongs to the element that holds it, pieces joined, entities resolved."""
    assert read(b'<a k="v"> <b>x &amp; <![CDATA[<y>]]></b>\n</a>') == [
        ("start", "a", "v"),
        ("start", "b"),
        ("end", "b", "x & <y>"),
        ("end", "a", "\n"),
    ]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"<!DOCTYPE a><a/>", "document type"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "document type"),
        (b"<a>&x;</a>", "not well-formed"),
        (b"<a><b><c><d/></c></b></a>", "deeper than 3"),
        (b"<a><b/><b/><b/><b/><b/></a>", "more elements"),
        (b"<a>" + b"x" * 1000 + b"</a>", "over the 1000 allowed"),
        (b"<a>text<b/></a>", "mixes text and elements"),
        (b"<a>", "not well-formed"),
        (b"", "not well-formed"),
        ("<?xml version='1.0'?><a/>".encode("utf-16"), "not UTF-8"),
        (b"<a>\xff</a>", "not well-formed"),
        (b"<a>\0</a>", "not UTF-8"),
    ],
)
def test_what_breaks_a_bound_or_the_form_is_refused(data: bytes, complaint: str) -> None:
    """Document types, depth, number, size, mixed content, other encodings and junk: one typed error. Fault: 12, 13."""
    with pytest.raises(RemoteProtocolError, match=complaint):
        read(data)


def test_a_declared_encoding_is_not_believed() -> None:
    """Documents are UTF-8 whatever they say, so that nothing hides from the checks."""
    assert read(b'<?xml version="1.0" encoding="utf-16"?><a>\xc3\xa9</a>')[1] == ("end", "a", "é")
