"""HTTP/1.1 requests in, responses out."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.errors import RemoteProtocolError
from live_grid.simulator.http1 import HttpReader, HttpRequest, HttpResponse, write_response_bytes
from live_grid.simulator.limits import HEAD_MAX_BYTES, REQUEST_MAX_BYTES

POST = b"POST /CAPS/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: one\r\nX: two\r\n\r\nhello"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"


def read(data: bytes) -> list[HttpRequest]:
    """Read everything there is."""
    reader = HttpReader()
    reader.receive_untrusted(data)
    found = []
    while (request := reader.next_request()) is not None:
        found.append(request)
    return found


def test_a_request_is_read_with_its_body() -> None:
    """Method, path, first of equal headers, body by length; the connection stays by default. Spec: LIV-15."""
    (request,) = read(POST)
    assert (request.method, request.path, request.target) == ("POST", "/CAPS/x", "/CAPS/x?y=1")
    assert (request.body, request.headers["x"], request.keep_alive) == (b"hello", "one", True)
    assert "CAPS" not in repr(request)


def test_a_body_in_chunks_is_put_together() -> None:
    """Chunks with extensions, and the end."""
    (request,) = read(CHUNKED)
    assert request.body == b"abcde"


def test_requests_follow_each_other_on_one_connection() -> None:
    """Pipelined requests come out one by one, in order."""
    assert [one.body for one in read(POST + CHUNKED + POST)] == [b"hello", b"abcde", b"hello"]


@pytest.mark.parametrize(
    ("head", "stays"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_the_client_says_whether_the_connection_stays(head: bytes, *, stays: bool) -> None:
    """By version and header, as HTTP has it."""
    assert read(head)[0].keep_alive is stays


@given(st.sampled_from([POST, CHUNKED]), st.data())
def test_a_request_may_come_in_any_pieces(whole: bytes, data: st.DataObject) -> None:
    """Cut anywhere, the same request comes out, and none before the last byte."""
    at = data.draw(st.integers(1, len(whole) - 1))
    reader = HttpReader()
    reader.receive_untrusted(whole[:at])
    assert reader.next_request() is None
    reader.receive_untrusted(whole[at:])
    assert reader.next_request() == read(whole)[0]


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nno header\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 65 + b"\r\n",
        b"GET /" + b"a" * HEAD_MAX_BYTES + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\na: " + b"b" * HEAD_MAX_BYTES,
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (REQUEST_MAX_BYTES + 1),
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 300,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n",
    ],
)
def test_what_is_no_request_is_one_typed_error(data: bytes) -> None:
    """Malformed heads, lying lengths, two lengths at once and endless bodies are refused. Fault: 34, 35."""
    with pytest.raises(RemoteProtocolError):
        read(data)


@given(st.binary(max_size=400))
def test_any_bytes_end_in_requests_or_in_the_error(data: bytes) -> None:
    """A stranger's bytes do nothing else."""
    reader = HttpReader()
    reader.receive_untrusted(data)
    with contextlib.suppress(RemoteProtocolError):
        while reader.next_request() is not None:
            pass
    assert len(reader) <= len(data)


def test_a_response_says_how_long_it_is_and_whether_the_connection_stays() -> None:
    """Status, type, length and connection stand in the head."""
    kept = write_response_bytes(HttpResponse(content_type="text/xml", body=b"abc"), keep_alive=True)
    assert kept == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc"
    )
    for keep_alive, response in ((False, HttpResponse(status=404)), (True, HttpResponse(status=599, close=True))):
        assert b"Connection: close" in write_response_bytes(response, keep_alive=keep_alive)
