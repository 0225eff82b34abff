"""The one module that imports httpx: bytes to one configured URL and back, bounded on every side.

Owns connections, headers and the mapping of every library error to an `LlmFailure`. It uses httpx's transports
and not its client: no redirects, no cookies, no ambient proxies or ``.netrc``, no log line with a URL, and no
retries of its own exist there to be turned off. Connections are spread over pools of at most 16, since one pool
costs each request a walk over all its others.

Invariant: nothing that leaves here refers to a library's request or error object, which hold the key; the text of
such an error goes to the redacted log and nowhere else (Spec: MND-1, MND-3, BND-7, CFG-3, Fault: 21, 42).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final, Protocol, cast

import httpx
import msgspec
import trio

from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.language import BadReply, FailureKind, LlmFailure
from gridagent.limits import HTTP_BODY_MAX_BYTES, LLM_REQUESTS_MAX
from gridagent.llm.base import WireRequest
from gridagent.llm.inflate import Inflater
from gridagent.llm.real_requests import check_real_request
from gridagent.observability import Log

__all__ = ("POOL_CONNECTIONS_MAX", "HttpReply", "HttpTransport", "TransportTimeouts", "encrypted")

POOL_CONNECTIONS_MAX: Final = 16
"""Measured: 256 requests in flight on one pool add seconds to the slowest, on pools of 16 milliseconds."""
_KEEPALIVE_S: Final = 30.0
_HEADER_MAX_CHARS: Final = 256
_HEADERS_MAX: Final = 128
_UNWIND_MAX: Final = 64
_CLOSE_S: Final = 1.0


class TransportTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Longest silences, in seconds; the deadline of the whole request is the caller's."""

    connect_s: float = 10.0
    read_s: float = 60.0
    write_s: float = 60.0


def encrypted(stream: trio.abc.Stream, host: str) -> trio.abc.Stream:
    """Return a stream on which a server has to prove that it is ``host``, by the certificates that requests trust."""
    return trio.SSLStream(
        stream, httpx.create_ssl_context(trust_env=False), server_hostname=host, https_compatible=True
    )


class _Stream(Protocol):
    """What an httpx response's stream is."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _Body(httpx.AsyncByteStream):
    """A request's body in one piece. The library's own is a generator, which a cancelled send leaves unfinished."""

    def __init__(self, body: bytes) -> None:
        self._left: bytes | None = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        body, self._left = self._left, None
        if body is None:
            raise StopAsyncIteration
        return body


class _Pool:
    """One pool of connections and how many requests use it."""

    __slots__ = ("http", "in_use")

    def __init__(self, http: httpx.AsyncHTTPTransport) -> None:
        self.http = http
        self.in_use = 0


class HttpTransport:
    """Sends to one endpoint; implements `gridagent.llm.base.Transport`.

    Args:
        endpoint: the one exact URL.
        headers: sent with each request, beside the type of the body. Secrets are revealed here and nowhere else.
        timeouts: longest silences.
        body_max_bytes: of one reply, before and after decompression.
        concurrency_max: how many requests at one time pools are made for; more wait for a connection.
        log: takes what went wrong, redacted.

    Raises:
        ValueError: a header holds what HTTP cannot carry.

    Bounds: ``concurrency_max`` connections, rounded up to whole pools; headers of a reply 100 KiB.
    """

    __slots__ = ("_closed", "_headers", "_is_loopback", "_log", "_max", "_pools", "_timeouts", "_url")

    def __init__(
        self,
        endpoint: EndpointUrl,
        *,
        headers: Mapping[str, str | SecretStr] | None = None,
        timeouts: TransportTimeouts | None = None,
        body_max_bytes: int = HTTP_BODY_MAX_BYTES,
        concurrency_max: int = POOL_CONNECTIONS_MAX,
        log: Log | None = None,
    ) -> None:
        times = timeouts or TransportTimeouts()
        self._url = httpx.URL(endpoint.reveal())
        self._is_loopback = endpoint.is_loopback
        self._headers = {
            (streaming, no_cache): _headers(self._url, headers or {}, streaming=streaming, no_cache=no_cache)
            for streaming in (False, True)
            for no_cache in (False, True)
        }
        # No bound on waiting for a place in a pool: the deadline of the request is one.
        self._timeouts = {"connect": times.connect_s, "read": times.read_s, "write": times.write_s, "pool": None}
        self._max = min(body_max_bytes, HTTP_BODY_MAX_BYTES)
        self._log = log
        self._closed = False
        # Plain HTTP needs no certificates; loading them takes tens of milliseconds.
        verify = httpx.create_ssl_context(trust_env=False) if endpoint.is_encrypted else False
        limits = httpx.Limits(
            max_connections=POOL_CONNECTIONS_MAX,
            max_keepalive_connections=POOL_CONNECTIONS_MAX,
            keepalive_expiry=_KEEPALIVE_S,
        )
        pools = -(-min(concurrency_max, LLM_REQUESTS_MAX) // POOL_CONNECTIONS_MAX)
        self._pools = tuple(
            _Pool(httpx.AsyncHTTPTransport(verify=verify, trust_env=False, retries=0, limits=limits))
            for _ in range(max(1, pools))
        )

    def __repr__(self) -> str:
        return f"<HttpTransport {self.connections} connections>"

    @property
    def connections(self) -> int:
        """How many connections are open, used or idle."""
        return sum(len(pool.http._pool.connections) for pool in self._pools)  # noqa: SLF001 - httpx shows no count

    @property
    def in_use(self) -> int:
        """How many requests are under way."""
        return sum(pool.in_use for pool in self._pools)

    async def post(self, request: WireRequest) -> HttpReply:
        """Send a request and return when the head of the reply is there; the caller closes it.

        Raises:
            LlmFailure: there is no reply.
            InternalError: real requests are forbidden here.

        Cancellation: safe; no connection is kept.
        """
        check_real_request(loopback=self._is_loopback)
        if self._closed:
            raise LlmFailure(FailureKind.CANCELLED)
        pool = self._pool()
        pool.in_use += 1
        handed_on = False
        try:
            response = await self._send(pool, request)
            reply = HttpReply(response, pool, self)
            handed_on = True
        finally:
            if not handed_on:
                pool.in_use -= 1
        failure = reply.check_head(self._max)
        if failure is not None:
            await reply.aclose()
            raise failure
        return reply

    async def aclose(self) -> None:
        """Close every connection; what is under way fails."""
        self._closed = True
        for pool in self._pools:
            await pool.http.aclose()

    def failure_of(self, error: Exception, *, replying: bool) -> LlmFailure:
        """Return what a library's error means, and write its text to the log."""
        failure = _failure(error, replying=replying, closed=self._closed)
        if self._log is not None:
            self._log.warning(
                "llm_transport_failed", kind=failure.kind.value, error=type(error).__name__, text=str(error)
            )
        return failure

    def _pool(self) -> _Pool:
        """Return the first pool with room, so that few connections stay warm; the emptiest when there is none."""
        for pool in self._pools:
            if pool.in_use < POOL_CONNECTIONS_MAX:
                return pool
        return min(self._pools, key=lambda pool: pool.in_use)

    async def _send(self, pool: _Pool, request: WireRequest) -> httpx.Response:
        sent = httpx.Request(
            "POST",
            self._url,
            headers=self._headers[request.streaming, request.no_cache],
            stream=_Body(request.body),
            extensions={"timeout": self._timeouts},
        )
        sent.headers["Content-Length"] = str(len(request.body))
        try:
            return await pool.http.handle_async_request(sent)
        except (httpx.HTTPError, OSError, ValueError, RuntimeError) as error:
            failure = self.failure_of(error, replying=False)
        # Outside of the handler: an exception raised within would carry the library's, and with it the key.
        raise failure


def _headers(url: httpx.URL, given: Mapping[str, str | SecretStr], *, streaming: bool, no_cache: bool) -> httpx.Headers:
    headers = {
        "Host": url.netloc.decode("ascii"),
        "Accept": "text/event-stream" if streaming else "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "gridagent",
        **({"Cache-Control": "no-cache"} if no_cache else {}),
    }
    for name, value in given.items():
        text = value.reveal() if isinstance(value, SecretStr) else value
        if not (text.isascii() and text.isprintable()):
            raise ValueError(f"the header {name} holds what HTTP cannot carry")  # not what: it may be the key
        headers[name] = text
    return httpx.Headers(headers)


class HttpReply:
    """A reply whose head has come; implements `gridagent.llm.base.WireReply`."""

    __slots__ = (
        "_closed",
        "_ended",
        "_headers",
        "_inflater",
        "_owner",
        "_pieces",
        "_pool",
        "_raw",
        "_stream",
        "status",
    )

    def __init__(self, response: httpx.Response, pool: _Pool, owner: HttpTransport) -> None:
        self.status = response.status_code
        self._headers = response.headers
        self._stream = cast("_Stream", response.stream)
        self._raw = aiter(self._stream)
        self._pieces: Iterator[bytes] = iter(())
        self._pool = pool
        self._owner = owner
        self._inflater: Inflater | None = None
        self._ended = False
        self._closed = False

    def check_head(self, body_max_bytes: int) -> LlmFailure | None:
        """Look at the head before anything is read; return what is wrong with it."""
        length = self.header("content-length")
        if len(self._headers) > _HEADERS_MAX:
            return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.PROTOCOL, status=self.status)
        if length.isdecimal() and int(length) > body_max_bytes:
            return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TOO_LONG, status=self.status)
        try:
            self._inflater = Inflater(self.header("content-encoding"), body_max_bytes)
        except LlmFailure as error:
            return error
        return None

    def header(self, name: str) -> str:
        """Return one header's value, at most 256 characters of it; empty where there is none."""
        return str(self._headers.get(name, ""))[:_HEADER_MAX_CHARS]

    async def receive(self) -> bytes:
        """Return the next piece of the decompressed body, at most 64 KiB; empty at its end."""
        assert self._inflater is not None  # noqa: S101 - `post` hands on no reply without one
        while True:
            piece = next(self._pieces, None)
            if piece:
                return piece
            data = None if self._ended or self._closed else await self._next()
            if data is None:
                return b""
            self._pieces = self._inflater.feed(data)

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, and close it otherwise. Idempotent.

        Cancellation: shielded up to a second.
        """
        if self._closed:
            return
        self._closed = True
        try:
            # Shielded: the library's own closing waits for a lock first, and a cancelled wait leaves the socket open.
            with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLOSE_S):
                await self._stream.aclose()
                if not self._ended:
                    await self._unwind()
        finally:
            self._pool.in_use -= 1

    async def _next(self) -> bytes | None:
        try:
            return await anext(self._raw)
        except StopAsyncIteration:
            self._ended = True
            if self._inflater is not None:
                self._inflater.end()
            return None
        except (httpx.HTTPError, OSError, ValueError, RuntimeError) as error:
            self._ended = True
            failure = self._owner.failure_of(error, replying=True)
        raise failure

    async def _unwind(self) -> None:
        """Let the library's generators end in the task that ran them; left to the collector, trio warns of them.

        The connection is closed, so each step ends at once: with what was buffered, or with an error.
        """
        for _ in range(_UNWIND_MAX):
            try:
                await anext(self._raw)
            except (StopAsyncIteration, httpx.HTTPError, OSError, ValueError, RuntimeError):
                return


def _failure(error: Exception, *, replying: bool, closed: bool) -> LlmFailure:
    if closed:
        return LlmFailure(FailureKind.CANCELLED)
    match error:
        case httpx.TimeoutException():
            return LlmFailure(FailureKind.TIMEOUT)
        case httpx.LocalProtocolError():
            return LlmFailure(FailureKind.REJECTED)
        case _ if replying:
            # The head had come: whatever broke, the reply is not whole.
            return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TRUNCATED)
        case httpx.RemoteProtocolError() if "disconnected" not in str(error):
            return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.PROTOCOL)
        case _:
            return LlmFailure(FailureKind.UNREACHABLE)
