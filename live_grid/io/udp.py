"""The socket of a session: datagrams in and out, without a thought about what they hold.

Owns one unconnected UDP socket. Reading takes everything that has arrived in one go, so that a burst costs one
wake-up; sending never waits for long and never fails a session: a datagram that cannot be sent is lost, as datagrams
are, and the circuit sends again what mattered (Spec: LIV-9).
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Final, Self

import trio

from live_grid.circuit import Address
from live_grid.limits import DATAGRAM_IN_MAX_BYTES

__all__ = ("UdpSocket",)

RECEIVE_BUFFER_BYTES: Final = 4 * 1024 * 1024
"""Asked of the system, which may give less: a scene arrives in a burst."""
BATCH_MAX: Final = 64
"""Datagrams taken in one go; then others have their turn."""


class UdpSocket:
    """One UDP socket, bound to any free port.

    Args:
        host: of the interface to bind to.
    """

    __slots__ = ("_socket", "received", "unsent")

    def __init__(self, host: str = "0.0.0.0") -> None:  # noqa: S104 - answers come from whatever address the grid names
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            self._socket.bind((host, 0))
        except OSError:
            self._socket.close()
            raise
        self.received = 0
        self.unsent = 0
        """Datagrams the system would not take."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def address(self) -> Address:
        """Where it is bound."""
        host, port = self._socket.getsockname()
        return str(host), int(port)

    async def receive(self) -> list[tuple[bytes, Address]]:
        """Wait for datagrams and take those that are there, at most `BATCH_MAX`.

        Cancellation: safe; nothing is taken.
        """
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            batch: list[tuple[bytes, Address]] = []
            while len(batch) < BATCH_MAX:
                try:
                    data, address = self._socket.recvfrom(DATAGRAM_IN_MAX_BYTES + 1)
                except BlockingIOError:
                    break
                except ConnectionError:
                    break  # word of something we sent earlier; some systems report it here
                batch.append((data, address))
            if batch:
                self.received += len(batch)
                return batch

    def send(self, data: bytes, address: Address) -> None:
        """Send a datagram, or count that it could not be."""
        try:
            self._socket.sendto(data, address)
        except OSError:
            self.unsent += 1

    def close(self) -> None:
        """Close it; doing so twice does nothing."""
        self._socket.close()
