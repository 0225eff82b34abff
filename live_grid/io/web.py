"""The one module of this package that imports httpx: bytes to a vetted address and back, bounded on every side.

Owns connections, DNS and the bounds of an exchange. Each request resolves its host itself, vets the address that
comes back, and connects to just that one, so that no name can point elsewhere a moment later; TLS is verified against
the name. No redirects, no ambient proxies, no cookies, no connection kept: a capability's address is a key, and the
library's errors, which hold it, end here.

Invariant: what is returned is a whole response within the bound, or `WebFailed` without any text from outside
(Spec: LIV-4, BND-7; Fault: 10, 11, 13).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Protocol, cast

import httpx
import msgspec
import trio
from trio import socket

from live_grid.addresses import HostPolicy, host_of, vet_ip
from live_grid.errors import LiveGridError, RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES

__all__ = ("Web", "WebFailed", "WebResponse")

CONNECT_TIMEOUT_S: Final = 10.0
BODY_TIMEOUT_S: Final = 60.0
"""From the head of a response to its end. Not part of a request's own time: a poll that has begun to receive is let
finish, because OpenSimulator has already forgotten what it is sending."""
CONNECTIONS_MAX: Final = 32
CLOSE_S: Final = 1.0
_LIMITS: Final = httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=0)
_TIMEOUTS: Final = {"connect": CONNECT_TIMEOUT_S, "read": None, "write": None, "pool": None}
_UNWIND_MAX: Final = 64
_ERRORS: Final = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, RuntimeError)
"""What the library raises."""
_PORTS: Final = {"http": 80, "https": 443}


class WebFailed(LiveGridError):
    """No response came: ``why`` is a word of ours."""

    code = "web_failed"

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"an HTTP request failed: {why}")


class WebResponse(msgspec.Struct, frozen=True):
    """A whole response."""

    status: int
    body: bytes


class _Stream(Protocol):
    """What the stream of a response is."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _Body(httpx.AsyncByteStream):
    """A body in one piece. The library's own is a generator, which a cancelled send leaves unfinished."""

    def __init__(self, body: bytes) -> None:
        self._left: bytes | None = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        body, self._left = self._left, None
        if body is None:
            raise StopAsyncIteration
        return body


class Web:
    """Makes HTTP requests; one for a whole process or one for a session.

    Args:
        body_max_bytes: of one response.
    """

    __slots__ = ("_http", "_max", "failures", "requests")

    def __init__(self, *, body_max_bytes: int = HTTP_BODY_MAX_BYTES) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        self._http = httpx.AsyncHTTPTransport(verify=context, trust_env=False, retries=0, limits=_LIMITS)
        self._max = min(body_max_bytes, HTTP_BODY_MAX_BYTES)
        self.requests = 0
        self.failures = 0

    async def post(
        self, url: str, body: bytes, *, content_type: str, timeout_s: float, policy: HostPolicy | None
    ) -> WebResponse:
        """Send a body and take the response.

        Args:
            url: vetted by whoever got it.
            body: to send.
            content_type: of the body.
            timeout_s: until the head of the response is there.
            policy: where its host may live; None for an address that the operator gave.

        Raises:
            WebFailed: no whole response came.

        Bounds: a body over the limit is refused while it comes.

        Cancellation: the request may have been received.
        """
        return await self._exchange("POST", url, body, content_type, timeout_s, policy)

    async def get(self, url: str, *, timeout_s: float, policy: HostPolicy | None) -> WebResponse:
        """Ask for a page; see `post`.

        Raises:
            WebFailed: no whole response came.
        """
        return await self._exchange("GET", url, b"", "", timeout_s, policy)

    async def resolve(self, url: str, policy: HostPolicy | None) -> str:
        """Find where the host of an address lives.

        Raises:
            WebFailed: nobody knows, or it may not be asked (Fault: 10).
        """
        try:
            found = await socket.getaddrinfo(host_of(url), None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise WebFailed("host unknown") from None
        # IPv4 first: simulators are given by four bytes, so whoever reaches a grid reaches it that way.
        ips = [str(info[4][0]) for info in sorted(found, key=lambda info: info[0] != socket.AF_INET)]
        if not ips:
            raise WebFailed("host unknown")
        if policy is not None:
            try:
                vet_ip(ips[0], policy)
            except RemoteProtocolError:
                raise WebFailed("host refused") from None
        return ips[0]

    async def _exchange(
        self, method: str, url: str, body: bytes, content_type: str, timeout_s: float, policy: HostPolicy | None
    ) -> WebResponse:
        self.requests += 1
        why = "connection failed"
        try:
            with trio.fail_after(timeout_s):
                request = _request(method, url, await self.resolve(url, policy), body, content_type)
                response = await self._http.handle_async_request(request)
            with trio.fail_after(BODY_TIMEOUT_S):
                return WebResponse(response.status_code, await self._body(response))
        except WebFailed as failed:
            why = failed.why
        except trio.TooSlowError:
            why = "too slow"
        except _ERRORS:
            pass
        # Outside of the handlers: an exception raised within would carry the library's, and with it the address.
        self.failures += 1
        raise WebFailed(why)

    async def _body(self, response: httpx.Response) -> bytes:
        stream = cast("_Stream", response.stream)
        pieces = aiter(stream)
        parts: list[bytes] = []
        size = 0
        try:
            if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
                raise WebFailed("coding refused")
            async for part in pieces:
                size += len(part)
                if size > self._max:
                    raise WebFailed("body too long")
                parts.append(part)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                await stream.aclose()
                await _unwind(pieces)
        return b"".join(parts)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()


def _request(method: str, url: str, ip: str, body: bytes, content_type: str) -> httpx.Request:
    """Write a request to one address that names its host."""
    parsed = httpx.URL(url)
    host = parsed.host
    port = parsed.port
    named = host if port is None or port == _PORTS.get(parsed.scheme) else f"{host}:{port}"
    headers = {"Host": named, "Accept-Encoding": "identity", "Accept": "*/*", "Connection": "close"}
    if content_type:
        headers["Content-Type"] = content_type
    if body:
        headers["Content-Length"] = str(len(body))
    return httpx.Request(
        method,
        parsed.copy_with(host=ip),
        headers=headers,
        stream=_Body(body),
        extensions={"sni_hostname": host, "timeout": _TIMEOUTS},
    )


async def _unwind(pieces: AsyncIterator[bytes]) -> None:
    """Let the library's generators end in the task that ran them; left to the collector, trio warns of them.

    The connection is closed, so each step ends at once: with what was buffered, or with an error.
    """
    for _ in range(_UNWIND_MAX):
        try:
            await anext(pieces)
        except (StopAsyncIteration, *_ERRORS):
            return
