"""The event parser gives the same events however the bytes are cut, and keeps no more than its bound."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded
from gridagent.llm.sse import SseEvent, SseParser

VECTORS = {
    "one event": (b"data: a\n\n", [("", b"a")]),
    "without the space": (b"data:a\n\n", [("", b"a")]),
    "only one space goes": (b"data:  a\n\n", [("", b" a")]),
    "several lines": (b"data: a\ndata: b\ndata\n\n", [("", b"a\nb\n")]),
    "a name": (b"event: ping\ndata: {}\n\n", [("ping", b"{}")]),
    "a name does not outlive its event": (b"event: x\n\ndata: a\n\n", [("", b"a")]),
    "comments": (b": OPENROUTER PROCESSING\n\n: again\ndata: a\n\n", [("", b"a")]),
    "ids and retry": (b"id: 7\nretry: 10\ndata: a\n\n", [("", b"a")]),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
    "both line ends": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
    "mixed line ends": (b"data: a\r\n\ndata: b\n\r\n", [("", b"a"), ("", b"b")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
    "mark only at the start": (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", b"a")]),
    "no blank line at the end": (b"data: a\n\ndata: [DONE]\n", [("", b"a"), ("", b"[DONE]")]),
    "no line end at the end": (b"data: a\n\ndata: [DONE]", [("", b"a"), ("", b"[DONE]")]),
    "fields nobody knows": (b"colour: red\ndata: a\n\n", [("", b"a")]),
    "nothing": (b"\n\n\n", []),
    "letters of any script": ("data: Grüße\n\n".encode(), [("", "Grüße".encode())]),
}


def parse(*pieces: bytes) -> list[SseEvent]:
    """Feed the pieces and return every event."""
    parser = SseParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return found + parser.end()


@pytest.mark.parametrize("name", VECTORS)
def test_events_are_what_the_format_says(name: str) -> None:
    """Each rule of the format, and one leniency, whole and cut at every byte. Spec: MND-2."""
    data, expected = VECTORS[name]
    events = [SseEvent(*each) for each in expected]
    assert parse(data) == events
    assert parse(*(bytes([byte]) for byte in data)) == events
    for at in range(len(data) + 1):
        assert parse(data[:at], data[at:]) == events
        assert parse(data[:at], b"", data[at:]) == events


@given(
    st.lists(
        st.sampled_from([b"data: x\n", b"\n", b"\r", b"\r\n", b"event: y\r", b": c\n", b"dat", b"a: z"]), max_size=20
    ),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_where_bytes_are_cut_does_not_matter(parts: list[bytes], cuts: list[int]) -> None:
    """Any stream, cut anywhere, gives what it gives in one piece."""
    data = b"".join(parts)
    at = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    assert parse(*(data[start:stop] for start, stop in itertools.pairwise(at))) == parse(data)


@given(st.binary(max_size=400))
def test_any_bytes_are_events_or_nothing(data: bytes) -> None:
    """No bytes raise; what is kept for later is never more than what came."""
    parser = SseParser()
    events = parser.feed(data) + parser.end()
    assert sum(len(event.data) for event in events) <= len(data)


@pytest.mark.parametrize("data", [b"data: " + b"x" * 200, b"data: xxxxxxxxx\n" * 20, b"x" * 101, b": " + b"c" * 200])
@pytest.mark.parametrize("step", [1, 7, 1_000])
def test_one_event_is_bounded(data: bytes, step: int) -> None:
    """An event or line over the bound ends the stream, however slowly it comes. Spec: BND-7. Fault: 21."""
    parser = SseParser(event_max_bytes=100)
    with pytest.raises(LimitExceeded):
        for at in range(0, len(data), step):
            parser.feed(data[at : at + step])


def test_many_events_are_not_one() -> None:
    """The bound is on one event, not on the stream."""
    parser = SseParser(event_max_bytes=100)
    assert len(parser.feed(b"data: xxxxxxxxxx\n\n" * 1_000)) == 1_000


def test_a_long_name_is_cut() -> None:
    """What stands in the name costs nothing."""
    (event,) = SseParser().feed(b"event: " + b"n" * 1_000 + b"\ndata: a\n\n")
    assert event.name == "n" * 64
