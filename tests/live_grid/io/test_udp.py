"""The socket of a session."""

from __future__ import annotations

import pytest
import trio

from live_grid.io.udp import BATCH_MAX, UdpSocket
from live_grid.limits import DATAGRAM_IN_MAX_BYTES


async def test_a_burst_is_taken_in_batches() -> None:
    """One wake-up takes what is there, up to a number; what is too long shows as such. Spec: LIV-9."""
    with UdpSocket("127.0.0.1") as one, UdpSocket("127.0.0.1") as other:
        for number in range(100):
            other.send(number.to_bytes(2, "big"), one.address)
        batch = await one.receive()
        assert len(batch) == BATCH_MAX
        assert batch[0] == (b"\0\0", other.address)
        assert len(await one.receive()) == 100 - BATCH_MAX
        other.send(bytes(9_000), one.address)
        ((data, _),) = await one.receive()
        assert len(data) == DATAGRAM_IN_MAX_BYTES + 1
        assert one.received == 101
        with trio.move_on_after(0.05) as scope:
            await one.receive()
        assert scope.cancelled_caught


async def test_what_cannot_be_sent_is_lost_and_counted() -> None:
    """A datagram that the system does not take fails nobody."""
    with UdpSocket("127.0.0.1") as one:
        one.send(bytes(70_000), ("127.0.0.1", 9))
        assert one.unsent == 1
        one.close()
        one.send(b"x", ("127.0.0.1", 9))
        assert one.unsent == 2


def test_an_address_that_is_not_ours_cannot_be_bound() -> None:
    """Nothing is left open then."""
    with pytest.raises(OSError, match="family"):
        UdpSocket("::1")
