"""The wire on sockets: UDP by trio's own sockets, TCP by the network port.

Owns the only sockets of this package. What the system says about one datagram (too long, nobody there) is the fate of
that datagram and counted, never an end of the server.
"""

from __future__ import annotations

from typing import Final, cast, final

import trio

from gridagent.runtime.ports import Network
from live_grid.circuit import Address
from live_grid.limits import DATAGRAM_IN_MAX_BYTES
from live_grid.simulator.wire import StreamHandler

__all__ = ("SocketPort", "SocketWire")

_READ_MAX_BYTES: Final = DATAGRAM_IN_MAX_BYTES + 1
"""One more than is taken, so that a longer datagram is seen to be one."""


@final
class SocketPort:
    """A bound UDP socket."""

    __slots__ = ("_socket", "failed")

    def __init__(self, socket: trio.socket.SocketType) -> None:
        self._socket = socket
        self.failed = 0
        """Sends and receives that the system refused."""

    @property
    def address(self) -> Address:
        """Where it is bound."""
        host, port = self._socket.getsockname()[:2]
        return host, port

    async def receive(self) -> tuple[bytes, Address]:
        """Wait for the next datagram."""
        while True:
            try:
                data, address = await self._socket.recvfrom(_READ_MAX_BYTES)
            except ConnectionError:
                # Some systems report here that an earlier datagram found nobody.
                self.failed += 1
                continue
            return data, cast("Address", tuple(address[:2]))

    async def send(self, data: bytes, to: Address) -> None:
        """Send a datagram."""
        try:
            await self._socket.sendto(data, to)
        except OSError:
            self.failed += 1

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


@final
class SocketWire:
    """The real wire.

    Args:
        network: serves TCP.
    """

    __slots__ = ("_network",)

    def __init__(self, network: Network) -> None:
        self._network = network

    async def open_datagrams(self, host: str, port: int) -> SocketPort:
        """Bind a UDP socket.

        Raises:
            OSError: the address cannot be bound.
        """
        socket = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
        try:
            await socket.bind((host, port))
        except BaseException:
            socket.close()
            raise
        return SocketPort(socket)

    async def serve_streams(
        self,
        handler: StreamHandler,
        *,
        host: str,
        port: int,
        connections_max: int,
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve TCP."""
        await self._network.serve_tcp(
            handler, host=host, port=port, connections_max=connections_max, task_status=task_status
        )
