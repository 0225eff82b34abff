"""What only the wire in memory does: bounded, and the same in every run."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from live_grid.simulator.memory_wire import PIPE_MAX_BYTES, QUEUE_MAX, MemoryStream, MemoryWire

HOST = "127.0.0.1"


async def connected(
    nursery: trio.Nursery, wire: MemoryWire, *, places: int = 1
) -> tuple[MemoryStream, MemoryStream, int]:
    """Return both ends of a stream, and the port."""
    ends: list[MemoryStream] = []

    async def keep(stream: MemoryStream) -> None:
        ends.append(stream)
        await trio.sleep_forever()

    async def serve(task_status: trio.TaskStatus) -> None:
        await wire.serve_streams(keep, host=HOST, port=80, connections_max=places, task_status=task_status)

    port = await nursery.start(serve)
    client = await wire.connect(HOST, port)
    await trio.testing.wait_all_tasks_blocked()
    return client, ends[0], port


async def test_a_reader_too_slow_loses_datagrams(autojump_clock: trio.testing.MockClock) -> None:
    """Past the ceiling they are lost and counted. Spec: LIV-15."""
    wire = MemoryWire()
    port = await wire.open_datagrams(HOST, 0)
    for number in range(QUEUE_MAX + 3):
        await port.send(b"%d" % number, port.address)
    assert wire.lost == 3
    assert (await port.receive())[0] == b"0"
    wire.forget(await wire.open_datagrams(HOST, 0))


async def test_a_writer_waits_for_a_slow_reader(autojump_clock: trio.testing.MockClock) -> None:
    """No more than the ceiling waits in a stream; in the end everything came. Spec: LIV-15."""
    wire, sent = MemoryWire(), b"x" * (3 * PIPE_MAX_BYTES)
    async with trio.open_nursery() as nursery:
        client, server, _ = await connected(nursery, wire)
        nursery.start_soon(client.send_all, sent)
        await trio.testing.wait_all_tasks_blocked()
        assert len(server._incoming.data) == PIPE_MAX_BYTES
        with trio.move_on_after(1) as scope:
            await client.wait_send_all_might_not_block()
        assert scope.cancelled_caught
        waited = trio.Event()

        async def wait() -> None:
            await client.wait_send_all_might_not_block()
            waited.set()

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert not waited.is_set()
        got = b""
        while len(got) < len(sent):
            got += await server.receive_some()
        assert got == sent
        await waited.wait()
        nursery.cancel_scope.cancel()


async def test_the_end_of_a_stream_is_seen_on_both_sides(autojump_clock: trio.testing.MockClock) -> None:
    """The reader reads to the end; who writes to nobody is told so; one's own closed end is no end to use."""
    wire = MemoryWire()
    async with trio.open_nursery() as nursery:
        client, server, _ = await connected(nursery, wire)
        await client.send_all(b"last words")
        await client.aclose()
        assert await server.receive_some(4) == b"last"
        assert await server.receive_some(100) == b" words"
        assert await server.receive_some(100) == b""
        with pytest.raises(trio.BrokenResourceError):
            await server.send_all(b"anybody?")
        with pytest.raises(trio.ClosedResourceError):
            await client.send_all(b"still here?")
        with pytest.raises(trio.ClosedResourceError):
            await client.receive_some()
        with pytest.raises(trio.BrokenResourceError):
            await server.wait_send_all_might_not_block()
        nursery.cancel_scope.cancel()


async def test_a_listener_has_so_many_places(autojump_clock: trio.testing.MockClock) -> None:
    """One more waits until somebody goes; an address is taken once. Spec: LIV-15."""
    wire = MemoryWire()
    async with trio.open_nursery() as nursery:
        _, _, port = await connected(nursery, wire)
        with trio.move_on_after(1) as scope:
            await wire.connect(HOST, port)
        assert scope.cancelled_caught
        with pytest.raises(OSError, match="taken"):
            await wire.serve_streams(None, host=HOST, port=port, connections_max=1)
        nursery.cancel_scope.cancel()
    with pytest.raises(OSError, match="nobody listens"):
        await wire.connect(HOST, port)
