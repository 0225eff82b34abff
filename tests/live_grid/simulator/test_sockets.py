"""What only sockets do."""

from __future__ import annotations

import pytest
import trio

from live_grid.simulator.sockets import SocketPort, SocketWire


class Moody:
    """A socket on a system that complains of datagrams that found nobody."""

    def __init__(self) -> None:
        self.complaints = 2

    async def recvfrom(self, size: int) -> tuple[bytes, tuple[str, int]]:
        await trio.lowlevel.checkpoint()
        if self.complaints:
            self.complaints -= 1
            raise ConnectionResetError
        return b"x", ("127.0.0.1", 5)


async def test_a_systems_complaint_is_no_end() -> None:
    """It is counted, and the next datagram is received. Spec: LIV-15."""
    port = SocketPort(Moody())
    assert await port.receive() == (b"x", ("127.0.0.1", 5))
    assert port.failed == 2


async def test_a_datagram_that_cannot_leave_is_counted() -> None:
    """Too long for any packet. Spec: LIV-15."""
    port = await SocketWire(None).open_datagrams("127.0.0.1", 0)
    await port.send(b"x" * 100_000, port.address)
    assert port.failed == 1
    port.close()


async def test_an_address_that_cannot_be_bound_leaves_no_socket() -> None:
    """The error comes out as it is. Spec: LIV-15."""
    port = await SocketWire(None).open_datagrams("127.0.0.1", 0)
    with pytest.raises(OSError, match="in use"):
        await SocketWire(None).open_datagrams("127.0.0.1", port.address[1])
    port.close()
