"""What a session stands on: a port for datagrams and a client for HTTP, real by default.

Owns the seam and the one real implementation. Everything above takes what a `Network` opens, so that a whole session
runs over the simulator's memory wire under a virtual clock (`live_grid.simulator.memory_network`) exactly as it runs
over sockets (Spec: LIV-14, SIM-2).
"""

from __future__ import annotations

from typing import Protocol, final

from live_grid.addresses import HostPolicy
from live_grid.circuit import Address
from live_grid.io.udp import UdpSocket
from live_grid.io.web import Web, WebResponse

__all__ = ("Datagrams", "Network", "RealNetwork", "WebClient")

_LOOPBACK = "127.0.0.1"


class Datagrams(Protocol):
    """One bound end for datagrams; see `live_grid.io.udp.UdpSocket`."""

    unsent: int
    """Datagrams that could not be sent."""

    async def receive(self) -> list[tuple[bytes, Address]]:
        """Wait for datagrams and take those that are there.

        Cancellation: safe; nothing is taken.
        """
        ...

    def send(self, data: bytes, address: Address) -> None:
        """Send a datagram, or count that it could not be."""
        ...

    def close(self) -> None:
        """Close it; doing so twice does nothing."""
        ...


class WebClient(Protocol):
    """Makes HTTP requests; see `live_grid.io.web.Web`."""

    requests: int
    failures: int

    async def post(
        self, url: str, body: bytes, *, content_type: str, timeout_s: float, policy: HostPolicy | None
    ) -> WebResponse:
        """Send a body and take the response.

        Raises:
            WebFailed: no whole response came.
        """
        ...

    async def get(self, url: str, *, timeout_s: float, policy: HostPolicy | None) -> WebResponse:
        """Ask for a page.

        Raises:
            WebFailed: no whole response came.
        """
        ...

    async def resolve(self, url: str, policy: HostPolicy | None) -> str:
        """Find where the host of an address lives.

        Raises:
            WebFailed: nobody knows, or it may not be asked.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class Network(Protocol):
    """Opens what a session stands on."""

    def open_web(self) -> WebClient:
        """Make a client for HTTP."""
        ...

    async def open_datagrams(self, *, loopback: bool) -> Datagrams:
        """Bind an end for datagrams, on the loopback interface alone or on every one.

        Raises:
            OSError: the system has none.
        """
        ...


@final
class RealNetwork:
    """The network of this machine."""

    __slots__ = ()

    def open_web(self) -> Web:
        """Make a client for HTTP that verifies TLS."""
        return Web()

    async def open_datagrams(self, *, loopback: bool) -> UdpSocket:
        """Bind a UDP socket.

        Raises:
            OSError: the system has none.
        """
        # A grid on this machine is talked to from this machine; nobody else can reach such a socket.
        return UdpSocket(_LOOPBACK) if loopback else UdpSocket()
