"""The client's side of the memory wire: a session of ours reaches a simulator in the same process, without a socket.

Owns the adapter of `MemoryWire` to `live_grid.io.network`. Its HTTP is the little that a grid needs: one request a
connection, the response's length or its end. Like the real one it returns whole responses within the bound, or fails
with a word of ours. Under a virtual clock a month costs what happens in it (Spec: LIV-15, SIM-2).
"""

from __future__ import annotations

import ipaddress
from typing import Final, final
from urllib.parse import urlsplit

import trio

from live_grid.addresses import HostPolicy, host_of, vet_ip
from live_grid.circuit import Address
from live_grid.errors import RemoteProtocolError
from live_grid.io.web import BODY_TIMEOUT_S, WebFailed, WebResponse
from live_grid.limits import HTTP_BODY_MAX_BYTES
from live_grid.simulator.memory_wire import MemoryPort, MemoryStream, MemoryWire

__all__ = ("MemoryDatagrams", "MemoryNetwork", "MemoryWeb")

_HOST: Final = "127.0.0.1"
_HEAD_MAX_BYTES: Final = 16_384
_READ_BYTES: Final = 65_536


@final
class MemoryDatagrams:
    """An end for datagrams on the memory wire; implements `live_grid.io.network.Datagrams`."""

    __slots__ = ("_port", "_wire", "unsent")

    def __init__(self, wire: MemoryWire, port: MemoryPort) -> None:
        self._wire = wire
        self._port = port
        self.unsent = 0

    async def receive(self) -> list[tuple[bytes, Address]]:
        """Wait for the next datagram."""
        return [await self._port.receive()]

    def send(self, data: bytes, address: Address) -> None:
        """Send a datagram."""
        self._wire.carry(data, self._port.address, address)

    def close(self) -> None:
        """Let the address go."""
        self._port.close()


@final
class MemoryWeb:
    """Makes HTTP requests over the memory wire; implements `live_grid.io.network.WebClient`."""

    __slots__ = ("_wire", "failures", "requests")

    def __init__(self, wire: MemoryWire) -> None:
        self._wire = wire
        self.requests = 0
        self.failures = 0

    async def post(
        self, url: str, body: bytes, *, content_type: str, timeout_s: float, policy: HostPolicy | None
    ) -> WebResponse:
        """Send a body and take the response; see `live_grid.io.web.Web.post`.

        Raises:
            WebFailed: no whole response came.
        """
        head = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        return await self._exchange("POST", url, head, body, timeout_s, policy)

    async def get(self, url: str, *, timeout_s: float, policy: HostPolicy | None) -> WebResponse:
        """Ask for a page.

        Raises:
            WebFailed: no whole response came.
        """
        return await self._exchange("GET", url, "", b"", timeout_s, policy)

    async def resolve(self, url: str, policy: HostPolicy | None) -> str:
        """Find where a host lives: there are addresses only on this wire.

        Raises:
            WebFailed: it is a name, or it may not be asked.
        """
        await trio.lowlevel.checkpoint()
        host = host_of(url)
        try:
            ipaddress.ip_address(host)
        except ValueError:
            raise WebFailed("host unknown") from None
        if policy is not None:
            try:
                vet_ip(host, policy)
            except RemoteProtocolError:
                raise WebFailed("host refused") from None
        return host

    async def _exchange(
        self, method: str, url: str, head: str, body: bytes, timeout_s: float, policy: HostPolicy | None
    ) -> WebResponse:
        self.requests += 1
        parts = urlsplit(url)
        target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        lines = f"{method} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n{head}\r\n"
        by = trio.current_time() + timeout_s
        try:
            with trio.fail_at(by):
                host = await self.resolve(url, policy)
                stream = await self._wire.connect(host, parts.port or 80)
            async with stream:
                with trio.fail_at(by):
                    await stream.send_all(lines.encode("ascii") + body)
                    status, length, begun = await _read_head(stream)
                with trio.fail_after(BODY_TIMEOUT_S):
                    return WebResponse(status, await _read_body(stream, begun, length))
        except WebFailed:
            self.failures += 1
            raise
        except trio.TooSlowError:
            self.failures += 1
            raise WebFailed("too slow") from None
        except (OSError, ValueError, trio.BrokenResourceError, trio.ClosedResourceError):
            self.failures += 1
            raise WebFailed("connection failed") from None

    async def aclose(self) -> None:
        """Close every connection: none is kept."""
        await trio.lowlevel.checkpoint()


async def _read_head(stream: MemoryStream) -> tuple[int, int | None, bytes]:
    """Read up to the head's end; give status, length if it is told, and what came of the body."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        more = await stream.receive_some(_READ_BYTES)
        if not more or len(data) > _HEAD_MAX_BYTES:
            raise WebFailed("connection failed")
        data += more
    first, *lines = data[:end].decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(":", 1) for line in lines)
    length = fields.get("content-length")
    return int(first.split(" ", 2)[1]), None if length is None else int(length), data[end + 4 :]


async def _read_body(stream: MemoryStream, begun: bytes, length: int | None) -> bytes:
    """Read the whole body.

    Raises:
        WebFailed: it ends too early, or is too long.
    """
    body = bytearray(begun)
    while length is None or len(body) < length:
        more = await stream.receive_some(_READ_BYTES)
        if not more:
            break
        body += more
        if len(body) > HTTP_BODY_MAX_BYTES:
            raise WebFailed("body too long")
    if length is not None and len(body) != length:
        raise WebFailed("connection failed")
    return bytes(body)


@final
class MemoryNetwork:
    """The network of one process; implements `live_grid.io.network.Network`.

    Args:
        wire: on which a simulator is served.
    """

    __slots__ = ("_wire",)

    def __init__(self, wire: MemoryWire) -> None:
        self._wire = wire

    def open_web(self) -> MemoryWeb:
        """Make a client for HTTP."""
        return MemoryWeb(self._wire)

    async def open_datagrams(self, *, loopback: bool) -> MemoryDatagrams:
        """Bind an end for datagrams."""
        del loopback  # there is one machine only
        return MemoryDatagrams(self._wire, await self._wire.open_datagrams(_HOST, 0))
