"""The seam between the simulator and the bytes' way: datagrams and streams, on sockets or in memory.

Owns the two protocols and nothing else. `live_grid.simulator.sockets` implements them on loopback sockets,
`live_grid.simulator.memory_wire` in one process without any, so that client and server run deterministically under a
virtual clock (Spec: LIV-15, SIM-2).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

import trio

from live_grid.circuit import Address

__all__ = ("DatagramPort", "StreamHandler", "Wire")

StreamHandler: TypeAlias = Callable[[trio.abc.Stream], Awaitable[object]]


class DatagramPort(Protocol):
    """One bound end for datagrams."""

    @property
    def address(self) -> Address:
        """Where it is bound."""
        ...

    async def receive(self) -> tuple[bytes, Address]:
        """Wait for the next datagram, and where it came from.

        Cancellation: safe; no datagram is lost by it.
        """
        ...

    async def send(self, data: bytes, to: Address) -> None:
        """Send a datagram; one that cannot leave is lost, as datagrams are."""
        ...

    def close(self) -> None:
        """Let the address go. Closing twice does nothing."""
        ...


class Wire(Protocol):
    """What carries bytes."""

    async def open_datagrams(self, host: str, port: int) -> DatagramPort:
        """Bind an end for datagrams; port 0 lets the wire choose.

        Raises:
            OSError: the address cannot be bound.
        """
        ...

    async def serve_streams(
        self,
        handler: StreamHandler,
        *,
        host: str,
        port: int,
        connections_max: int,
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve streams until cancelled; see `gridagent.runtime.ports.Network.serve_tcp`."""
        ...
