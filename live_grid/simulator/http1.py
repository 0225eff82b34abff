"""HTTP/1.1 of a server, as far as a grid needs it: bounded requests in, whole responses out, no socket.

Owns the grammar of a request's head and of its body (by length or in chunks) and the writing of a response. Bytes go
in with `receive_untrusted`, requests come out of `next_request`; a stranger's bytes end in requests or in one
`RemoteProtocolError` after which the connection is closed with a 4xx. Called by the shell.

Invariant: a reader holds at most a head, a body and one read of bytes (Spec: BND-7; Fault: 34, 35).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.simulator.limits import HEAD_MAX_BYTES, HEADERS_MAX, REQUEST_MAX_BYTES

__all__ = ("HttpReader", "HttpRequest", "HttpResponse", "write_response_bytes")

_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,4096}) HTTP/1\.([01])")
_HEADER: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}):[ \t]*([\t -~\x80-\xff]*?)[ \t]*")
_LENGTH: Final = re.compile(r"\d{1,10}", re.ASCII)
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t -~]*)?")
_CHUNK_LINE_MAX_BYTES: Final = 256
_REASONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        200: "OK",
        400: "Bad Request",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
        413: "Content Too Large",
        500: "Internal Server Error",
        502: "Bad Gateway",
        503: "Service Unavailable",
    }
)


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One whole request."""

    method: str
    target: str
    """Path and query, as they came."""
    headers: Mapping[str, str] = {}
    """Names in lower case; of a name that came twice, the first."""
    body: bytes = b""
    keep_alive: bool = True

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def __repr__(self) -> str:
        return f"HttpRequest(method={self.method!r}, {len(self.body)} bytes, …)"  # the path may be a secret


class HttpResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One whole response."""

    status: int = 200
    content_type: str = "text/html"
    body: bytes = b""
    close: bool = False
    """End the connection after it."""


class HttpReader:
    """The requests of one connection."""

    __slots__ = ("_buffer", "_pending", "body", "chunked", "length", "waits_for_body")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._pending: HttpRequest | None = None
        self.body = bytearray()
        self.chunked = False
        self.length = 0
        self.waits_for_body = False
        """Whether a head has come whose body has not."""

    def __len__(self) -> int:
        return len(self._buffer) + len(self.body)

    def receive_untrusted(self, data: bytes | bytearray) -> None:
        """Take bytes from outside; at most what one read brings."""
        self._buffer += data

    def next_request(self) -> HttpRequest | None:
        """Take the next whole request, if there is one.

        Raises:
            RemoteProtocolError: the bytes are no HTTP/1.1 request, or pass a bound; nothing more can be read.
        """
        if self._pending is None:
            self._pending = self._read_head()
        pending = self._pending
        if pending is None or not self._read_body():
            return None
        request = msgspec.structs.replace(pending, body=bytes(self.body))
        self._pending = None
        self.waits_for_body = False
        self.body.clear()
        return request

    def _read_head(self) -> HttpRequest | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end > HEAD_MAX_BYTES or (end < 0 and len(self._buffer) > HEAD_MAX_BYTES):
            raise RemoteProtocolError(f"an HTTP head of over {HEAD_MAX_BYTES} bytes")
        if end < 0:
            return None
        first, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        line = _REQUEST_LINE.fullmatch(first)
        if line is None or len(lines) > HEADERS_MAX:
            raise RemoteProtocolError("an HTTP head without a request line, or with too many headers")
        headers = self._headers(lines)
        self._measure(headers)
        connection = headers.get("connection", "").lower()
        keep_alive = connection == "keep-alive" if line[3] == b"0" else connection != "close"
        return HttpRequest(
            method=line[1].decode(), target=line[2].decode(), headers=MappingProxyType(headers), keep_alive=keep_alive
        )

    @staticmethod
    def _headers(lines: list[bytes]) -> dict[str, str]:
        headers: dict[str, str] = {}
        for line in lines:
            header = _HEADER.fullmatch(line)
            if header is None:
                raise RemoteProtocolError("an HTTP header that is none")
            name, value = header[1].decode().lower(), header[2].decode("latin-1")
            if name in headers and name in {"content-length", "transfer-encoding", "host"}:
                raise RemoteProtocolError("an HTTP header that may come once comes twice")
            headers.setdefault(name, value)
        return headers

    def _measure(self, headers: Mapping[str, str]) -> None:
        """Note how the body comes; two ways at once are how requests are smuggled."""
        encoding, length = headers.get("transfer-encoding"), headers.get("content-length")
        self.chunked = encoding is not None
        if encoding is not None and (encoding.lower() != "chunked" or length is not None):
            raise RemoteProtocolError("an HTTP body in a coding that is not taken")
        if length is not None and not _LENGTH.fullmatch(length):
            raise RemoteProtocolError("an HTTP body of a length that is none")
        self.length = int(length or 0)
        if self.length > REQUEST_MAX_BYTES:
            raise RemoteProtocolError(f"an HTTP body of over {REQUEST_MAX_BYTES} bytes")
        self.waits_for_body = True

    def _read_body(self) -> bool:
        """Move what has come of the body; tell whether it is whole."""
        if self.chunked:
            return self._read_chunks()
        wanted = self.length - len(self.body)
        self.body += self._buffer[:wanted]
        del self._buffer[:wanted]
        return len(self.body) == self.length

    def _read_chunks(self) -> bool:
        while True:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                if len(self._buffer) > _CHUNK_LINE_MAX_BYTES:
                    raise RemoteProtocolError("an HTTP chunk without a size")
                return False
            size_line = _CHUNK_SIZE.fullmatch(bytes(self._buffer[:end]))
            if size_line is None:
                raise RemoteProtocolError("an HTTP chunk without a size")
            size = int(size_line[1], 16)
            if len(self.body) + size > REQUEST_MAX_BYTES:
                raise RemoteProtocolError(f"an HTTP body of over {REQUEST_MAX_BYTES} bytes")
            start = end + 2
            if len(self._buffer) < start + size + 2:
                return False
            if self._buffer[start + size : start + size + 2] != b"\r\n":
                # Trailers after the last chunk are refused with everything else that no client here sends.
                raise RemoteProtocolError("an HTTP chunk that does not end where it says")
            self.body += self._buffer[start : start + size]
            del self._buffer[: start + size + 2]
            if not size:
                return True


def write_response_bytes(response: HttpResponse, *, keep_alive: bool) -> bytes:
    """Write a response.

    Args:
        response: what to say.
        keep_alive: whether the connection stays open, as far as the client is concerned.
    """
    stays = keep_alive and not response.close
    reason = _REASONS.get(response.status, "Unknown")
    head = (
        f"HTTP/1.1 {response.status} {reason}\r\n"
        f"Content-Type: {response.content_type}\r\n"
        f"Content-Length: {len(response.body)}\r\n"
        f"Connection: {'keep-alive' if stays else 'close'}\r\n\r\n"
    )
    return head.encode("ascii") + response.body
