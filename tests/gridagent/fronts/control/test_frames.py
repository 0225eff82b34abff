"""Lines, strict decoding and bounded encoding."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.controls import SayAsOperator
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control.frames import (
    LineBuffer,
    decode_hello,
    decode_reply,
    decode_request,
    encode_reply,
    encode_request,
)
from gridagent.fronts.control.words import (
    AuditRow,
    Done,
    Observed,
    Omitted,
    Refused,
    SendControl,
    ShowStatus,
)
from gridagent.limits import MESSAGE_MAX_BYTES
from gridagent.observations import Observation, ReplyComposed


def lines_of(buffer: LineBuffer) -> list[bytes]:
    """Take every line there is."""
    found = []
    while (line := buffer.next_line()) is not None:
        found.append(line)
    return found


def spoken(text: str) -> Observation:
    """An observation that carries a text."""
    body = ReplyComposed(correlation="c", text=text)
    return Observation(seq=7, avatar="robin", generation=1, at=1.0, body=body)


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line)), st.integers(1, 9))
def test_lines_come_out_whole_however_they_come_in(lines, step) -> None:
    """The way bytes are cut on the wire changes nothing. Spec: OPS-6."""
    buffer = LineBuffer(64)
    wire = b"".join(line + b"\n" for line in lines)
    found = []
    for start in range(0, len(wire), step):
        buffer.feed(wire[start : start + step])
        found += lines_of(buffer)
    assert found == lines
    assert len(buffer) == 0


def test_a_line_of_exactly_the_bound_passes() -> None:
    """The bound counts the line break."""
    buffer = LineBuffer(8)
    buffer.feed(b"1234567\n")
    assert lines_of(buffer) == [b"1234567"]


@pytest.mark.parametrize("wire", [b"12345678\n", b"123456789", b"x" * 100])
def test_a_line_over_the_bound_is_refused_before_its_end_has_come(wire) -> None:
    """A client cannot make the server hold more than a frame. Spec: BND-7. Fault: 35."""
    buffer = LineBuffer(8)
    buffer.feed(wire)
    with pytest.raises(LimitExceeded):
        buffer.next_line()


def test_lines_before_one_that_is_too_long_still_come_out() -> None:
    """What was said well is not lost by what follows."""
    buffer = LineBuffer(8)
    buffer.feed(b"a\nb\n" + b"x" * 20)
    assert [buffer.next_line(), buffer.next_line()] == [b"a", b"b"]
    with pytest.raises(LimitExceeded):
        buffer.next_line()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"request":"status","request":"hold_all"}',
        b'{"request":"control","control":{"control":"act","action":{"action":"pay_avatar","to":"x","amount":1,"amount":9}}}',
        b'{"request":"status","id":' + b"9" * 40 + b"}",
        b'{"request":"status","id":NaN}',
        b'{"request":"status","id":true}',
        b'{"request":"status","id":1.5}',
        b'{"request":"status","surprise":1}',
        b'{"request":"shutdown"}',
        b'{"request":"__class__"}',
        b'{"request":"control","control":{"control":"say","text":""}}',
        b'{"request":"control","control":{"control":"say","text":"' + b"x" * 2000 + b'"}}',
        b'{"request":"control","avatar":"../etc","control":{"control":"hold"}}',
        b'{"request":"audit","most":0}',
        b'{"request":"audit","most":99999}',
        b"[" * 30_000,
        b'{"a":' * 20_000,
        b'{"request":"status","id":"\xed\xa0\x80"}',
    ],
)
def test_every_malformed_request_gives_the_one_typed_error(line) -> None:
    """Whatever the bytes, only `RemoteProtocolError` comes out. Spec: OPS-6. Fault: 23, 35."""
    with pytest.raises(RemoteProtocolError):
        decode_request(line)


@given(st.binary(max_size=400))
def test_no_bytes_raise_anything_else(line) -> None:
    """Any line is a request, or one typed error."""
    outcomes = []
    for decode in (decode_hello, decode_request, decode_reply):
        try:
            outcomes.append(decode(line))
        except RemoteProtocolError as error:
            outcomes.append(error)
    assert len(outcomes) == 3


def test_the_error_names_the_place_and_not_the_whole_frame() -> None:
    """An operator's tool is told where it went wrong, in one bounded sentence."""
    with pytest.raises(RemoteProtocolError, match=r"\$\.avatar") as caught:
        decode_request(b'{"request":"status","avatar":5}')
    assert len(str(caught.value)) < 250


def test_requests_and_replies_round_trip() -> None:
    """The two ends understand each other."""
    request = SendControl(id=4, avatar="robin", control=SayAsOperator(text="hëllo\u2028"))
    assert decode_request(encode_request(request, MESSAGE_MAX_BYTES)[:-1]) == request
    reply = Observed(id=4, observation=spoken("hi"))
    assert decode_reply(encode_reply(reply, MESSAGE_MAX_BYTES)[:-1]) == reply


def test_a_reply_may_gain_keys() -> None:
    """A client reads the replies of a later service of its version."""
    assert decode_reply(b'{"reply":"done","id":1,"count":2,"new":true}') == Done(id=1, count=2)


def test_a_request_that_does_not_fit_is_not_sent() -> None:
    """The client refuses it before a byte is sent. Spec: BND-7."""
    with pytest.raises(LimitExceeded):
        encode_request(ShowStatus(avatar="a" * 40), 30)


def test_an_observation_that_does_not_fit_is_named_instead() -> None:
    """No frame is longer than the bound, and nothing goes missing silently. Spec: BND-7, BND-3."""
    line = encode_reply(Observed(id=2, observation=spoken("x" * 60_000)), 4_096)
    assert len(line) <= 4_096
    assert decode_reply(line[:-1]) == Omitted(id=2, avatar="robin", seq=7, kind="reply")


def test_an_observation_with_half_a_character_is_named_instead() -> None:
    """Text that is no Unicode cannot end a stream."""
    line = encode_reply(Observed(id=2, observation=spoken("\ud800")), MESSAGE_MAX_BYTES)
    assert isinstance(decode_reply(line[:-1]), Omitted)


def test_another_reply_that_does_not_fit_is_refused_by_name() -> None:
    """A row too long becomes a refusal with a code."""
    row = AuditRow(id=1, avatar="robin", record=msgspec.Raw(b'"' + b"x" * 5_000 + b'"'))
    assert decode_reply(encode_reply(row, 1_000)[:-1]) == Refused(
        id=1, code="reply_too_large", message="the reply does not fit into a frame; ask for less"
    )
