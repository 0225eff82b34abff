"""Both wires keep the same promises: sockets of loopback, and memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio

from gridagent.runtime.system import system_ports
from live_grid.simulator.memory_wire import MemoryWire
from live_grid.simulator.sockets import SocketWire
from live_grid.simulator.wire import Wire

HOST = "127.0.0.1"
Connect = Callable[[int], Awaitable[trio.abc.Stream]]


async def _dial(port: int) -> trio.abc.Stream:
    return await trio.open_tcp_stream(HOST, port)


@pytest.fixture(params=["memory", "sockets"])
def carrier(request: pytest.FixtureRequest) -> tuple[Wire, Connect]:
    """Return a wire and the way to connect to it."""
    if request.param == "memory":
        memory = MemoryWire()
        return memory, lambda port: memory.connect(HOST, port)
    return SocketWire(system_ports().network), _dial


async def test_datagrams_arrive_with_the_address_they_came_from(carrier: tuple[Wire, Connect]) -> None:
    """Both ways, whole and in order on one machine. Spec: LIV-15."""
    wire, _ = carrier
    one, other = await wire.open_datagrams(HOST, 0), await wire.open_datagrams(HOST, 0)
    assert one.address != other.address
    for word in (b"one", b"two"):
        await one.send(word, other.address)
    with trio.fail_after(5):
        assert [await other.receive() for _ in range(2)] == [(b"one", one.address), (b"two", one.address)]
        await other.send(b"back", one.address)
        assert await one.receive() == (b"back", other.address)
    one.close()
    other.close()
    one.close()


async def test_a_datagram_to_nobody_is_lost(carrier: tuple[Wire, Connect]) -> None:
    """Without an error on either side. Spec: LIV-15."""
    wire, _ = carrier
    one, other = await wire.open_datagrams(HOST, 0), await wire.open_datagrams(HOST, 0)
    nobody = other.address
    other.close()
    await one.send(b"lost", nobody)
    await one.send(b"x" * 100_000, nobody)
    await one.send(b"kept", one.address)
    with trio.fail_after(5):
        assert await one.receive() == (b"kept", one.address)
    one.close()


async def test_an_address_is_bound_once(carrier: tuple[Wire, Connect]) -> None:
    """And free again when it is let go. Spec: LIV-15."""
    wire, _ = carrier
    one = await wire.open_datagrams(HOST, 0)
    with pytest.raises(OSError, match=r"taken|in use"):
        await wire.open_datagrams(HOST, one.address[1])
    one.close()
    again = await wire.open_datagrams(HOST, one.address[1]) if isinstance(wire, MemoryWire) else one
    again.close()


async def test_receiving_can_be_cancelled_without_loss(carrier: tuple[Wire, Connect]) -> None:
    """What comes later is received later. Spec: LIV-15."""
    wire, _ = carrier
    one = await wire.open_datagrams(HOST, 0)
    with trio.move_on_after(0.001) as scope:
        await one.receive()
    assert scope.cancelled_caught
    await one.send(b"later", one.address)
    with trio.fail_after(5):
        assert (await one.receive())[0] == b"later"
    one.close()


async def test_streams_are_served_until_cancelled(carrier: tuple[Wire, Connect]) -> None:
    """Each connection has its handler; the end of one is seen at the other. Spec: LIV-15."""
    wire, connect = carrier

    async def echo(stream: trio.abc.Stream) -> None:
        while data := await stream.receive_some(100):
            await stream.send_all(data.upper())

    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(lambda task_status: serve(wire, echo, task_status))
            for word in (b"hello", b"again"):
                stream = await connect(port)
                async with stream:
                    await stream.wait_send_all_might_not_block()
                    await stream.send_all(word)
                    assert await stream.receive_some(100) == word.upper()
            nursery.cancel_scope.cancel()
        with pytest.raises(OSError, match=r"nobody|refused|failed"):
            await connect(port)


async def serve(wire: Wire, handler: Callable, task_status: trio.TaskStatus) -> None:
    """Serve on a port that the wire chooses."""
    await wire.serve_streams(handler, host=HOST, port=0, connections_max=2, task_status=task_status)
