"""The server's side of one HTTP/1.1 connection: bytes in, requests out, and answers as bytes; no IO, no clock.

Owns what may be sent when, keep-alive, and what is refused before anybody looks at it: bodies, heads that are too
large or never end, and whatever breaks a rule of the protocol. `h11` reads and writes the protocol itself. What a
request is answered is `gridagent.fronts.health.pages`.

Invariant: whatever bytes come, each call returns within its bounds and raises nothing; after a broken rule there is
one answer and no further request.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, TypeAlias

import h11
import msgspec

from gridagent.fronts.health.limits import HealthLimits

__all__ = ("Answer", "Asked", "Gone", "HttpExchange", "Said", "Spoiled")

PLAIN_TEXT: Final = "text/plain; charset=utf-8"
_VERSIONS: Final = frozenset({b"1.0", b"1.1"})
_ERRORS: Final = frozenset({400, 431, 501})
"""What `h11` may name as the answer to a broken rule; whatever else it says is a 400."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request without a body."""

    method: str
    target: str
    """As it came."""
    headers: tuple[tuple[bytes, bytes], ...]
    """Names in lower case."""

    def values(self, name: bytes) -> tuple[bytes, ...]:
        """Return what every header of this name says."""
        return tuple(value for each, value in self.headers if each == name)


class Spoiled(msgspec.Struct, frozen=True):
    """A rule was broken: answer this status, and close."""

    status: int


class Gone(msgspec.Struct, frozen=True):
    """The client is done, or never began: close without a word."""


Said: TypeAlias = Asked | Spoiled | Gone


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a request is answered."""

    status: int
    body: str
    content_type: str = PLAIN_TEXT
    headers: tuple[tuple[str, str], ...] = ()


class HttpExchange:
    """One connection.

    Args:
        limits: sizes, counts and times.
        now: monotonic seconds.
    """

    __slots__ = ("_begun", "_eof", "_http", "_limits", "_method", "_served", "_since", "over")

    def __init__(self, limits: HealthLimits, now: float) -> None:
        self._limits = limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_max_bytes)
        self._method = ""
        self._served = 0
        self._since = now
        self._begun = False
        self._eof = False
        self.over = False
        """Nothing more is to be said: close."""

    def feed(self, data: bytes, now: float) -> None:
        """Take what was received, or nothing where the client sends no more; ask `next_said` before the next call."""
        if self._eof or self.over:
            return
        if data and not self._begun:
            self._begun = True
            if self._served:  # the first request has to be there a while after the connection
                self._since = now
        self._eof = not data
        self._http.receive_data(data)

    def timer(self) -> float:
        """When `on_timer` is wanted, in monotonic seconds."""
        waits_idle = self._served and not self._begun
        return self._since + (self._limits.idle_timeout_s if waits_idle else self._limits.request_timeout_s)

    def on_timer(self) -> Spoiled | Gone:
        """End a connection on which no request came in time."""
        return self._spoil(HTTPStatus.REQUEST_TIMEOUT) if self._begun else self._leave()

    def next_said(self) -> Said | None:
        """Return what came, or None when more bytes are needed."""
        if self.over:
            return Gone()
        try:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                return self._take(event)
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
            return self._spoil(status if status in _ERRORS else HTTPStatus.BAD_REQUEST)
        return self._leave() if isinstance(event, h11.ConnectionClosed) else None

    def _take(self, request: h11.Request) -> Asked | Spoiled:
        self._method = request.method.decode("ascii")
        if request.http_version not in _VERSIONS:
            return self._spoil(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
        headers = tuple((name, value) for name, value in request.headers)
        for name, value in headers:
            if name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0")):
                return self._spoil(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self._http.next_event()  # without a body, a request is over with its head
        return Asked(method=self._method, target=request.target.decode("ascii"), headers=headers)

    def _spoil(self, status: int) -> Spoiled:
        self.over = True
        return Spoiled(status)

    def _leave(self) -> Gone:
        self.over = True
        return Gone()

    def answer(self, answer: Answer, *, date: str, now: float) -> bytes:
        """Return the bytes of an answer to what `next_said` returned last.

        Args:
            answer: what is said.
            date: for the header of this name.
            now: monotonic seconds.
        """
        body = answer.body.encode()
        self._served += 1
        ends = self.over or self._served >= self._limits.requests_max
        headers = [
            ("Date", date),
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *answer.headers,
            *([("Connection", "close")] if ends else []),
        ]
        response = h11.Response(
            status_code=answer.status, headers=headers, reason=HTTPStatus(answer.status).phrase.encode()
        )
        sent = self._http.send(response) or b""
        if self._method != "HEAD":
            sent += self._http.send(h11.Data(data=body)) or b""
        sent += self._http.send(h11.EndOfMessage()) or b""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE and not ends:
            self._http.start_next_cycle()
            self._method = ""
            self._begun = bool(self._http.trailing_data[0])
            self._since = now
        else:
            self.over = True
        return sent
