"""The wire in memory: client and server in one process, without sockets, under any clock.

Owns addresses, bounded queues of datagrams and bounded pipes of bytes. A datagram to nobody, or to a full queue, is
lost and counted, as on a network; a stream waits for its reader. Nothing here draws chance or reads a clock, so that
one seed gives one story (Spec: LIV-15, SIM-2). Clients use `open_datagrams` and `connect`.
"""

from __future__ import annotations

from collections import deque
from typing import Final, final

import trio

from live_grid.circuit import Address
from live_grid.simulator.wire import StreamHandler

__all__ = ("MemoryPort", "MemoryStream", "MemoryWire")

QUEUE_MAX: Final = 4_096
"""Datagrams that wait for one reader."""
PIPE_MAX_BYTES: Final = 256 * 1024
"""Bytes that wait in one direction of a stream."""
_READ_MAX_BYTES: Final = 65_536
_FIRST_PORT: Final = 40_000


@final
class MemoryPort:
    """A bound end for datagrams; made by `MemoryWire.open_datagrams`."""

    __slots__ = ("_arrived", "_queue", "_wire", "address")

    def __init__(self, wire: MemoryWire, address: Address) -> None:
        self._wire = wire
        self._queue: deque[tuple[bytes, Address]] = deque(maxlen=QUEUE_MAX)
        self._arrived = trio.Event()
        self.address = address

    async def receive(self) -> tuple[bytes, Address]:
        """Wait for the next datagram."""
        await trio.lowlevel.checkpoint()
        while not self._queue:
            self._arrived = trio.Event()
            await self._arrived.wait()
        return self._queue.popleft()

    async def send(self, data: bytes, to: Address) -> None:
        """Send a datagram."""
        await trio.lowlevel.checkpoint()
        self._wire.carry(data, self.address, to)

    def put(self, data: bytes, source: Address) -> bool:
        """Take a datagram that arrives; tell whether there was room."""
        if len(self._queue) == QUEUE_MAX:
            return False
        self._queue.append((data, source))
        self._arrived.set()
        return True

    def close(self) -> None:
        """Let the address go."""
        self._wire.forget(self)


class _Pipe:
    """Bytes in one direction."""

    __slots__ = ("_changed", "broken", "data", "ended")

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = False
        """The writer has closed."""
        self.broken = False
        """The reader has closed."""
        self._changed = trio.Event()

    def change(self) -> None:
        """Wake everybody who waits, reader and writers."""
        self._changed.set()
        self._changed = trio.Event()

    async def wait(self) -> None:
        await self._changed.wait()


@final
class MemoryStream(trio.abc.Stream):
    """One end of a stream; made by `MemoryWire.connect`."""

    def __init__(self, incoming: _Pipe, outgoing: _Pipe) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything, waiting for the reader as needed."""
        await trio.lowlevel.checkpoint()
        pipe, rest = self._outgoing, memoryview(bytes(data))
        while rest:
            self._must_stand()
            room = PIPE_MAX_BYTES - len(pipe.data)
            if room <= 0:
                await pipe.wait()
                continue
            pipe.data += rest[:room]
            rest = rest[room:]
            pipe.change()

    def _must_stand(self) -> None:
        if self._outgoing.ended:
            raise trio.ClosedResourceError("this end of the stream is closed")
        if self._outgoing.broken:
            raise trio.BrokenResourceError("the other end of the stream is closed")

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there is room."""
        await trio.lowlevel.checkpoint()
        self._must_stand()
        while len(self._outgoing.data) >= PIPE_MAX_BYTES:
            await self._outgoing.wait()
            self._must_stand()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Wait for bytes; none at all is the end."""
        await trio.lowlevel.checkpoint()
        pipe = self._incoming
        while not pipe.data and not pipe.ended and not pipe.broken:
            await pipe.wait()
        if pipe.broken:
            raise trio.ClosedResourceError("this end of the stream is closed")
        size = _READ_MAX_BYTES if max_bytes is None else max_bytes
        found = bytes(pipe.data[:size])
        del pipe.data[:size]
        pipe.change()
        return found

    async def aclose(self) -> None:
        """Close both directions of this end. Closing twice does nothing."""
        self._outgoing.ended = True
        self._outgoing.change()
        self._incoming.broken = True
        self._incoming.change()
        await trio.lowlevel.checkpoint()


class _Listener:
    __slots__ = ("handler", "nursery", "places")

    def __init__(self, handler: StreamHandler, nursery: trio.Nursery, places: trio.Semaphore) -> None:
        self.handler = handler
        self.nursery = nursery
        self.places = places


@final
class MemoryWire:
    """A network of one process."""

    __slots__ = ("_listeners", "_next_port", "_ports", "lost")

    def __init__(self) -> None:
        self._ports: dict[Address, MemoryPort] = {}  # one an open end
        self._listeners: dict[Address, _Listener] = {}  # one an open listener
        self._next_port = _FIRST_PORT
        self.lost = 0
        """Datagrams to nobody, or to a reader too slow."""

    def _address(self, host: str, port: int) -> Address:
        if port:
            return host, port
        self._next_port += 1
        return host, self._next_port

    async def open_datagrams(self, host: str, port: int) -> MemoryPort:
        """Bind an end.

        Raises:
            OSError: the address is taken.
        """
        await trio.lowlevel.checkpoint()
        address = self._address(host, port)
        if address in self._ports:
            raise OSError(f"address {host}:{port} is taken")
        found = self._ports[address] = MemoryPort(self, address)
        return found

    def carry(self, data: bytes, source: Address, to: Address) -> None:
        """Bring a datagram to its reader, or lose it."""
        port = self._ports.get(to)
        if port is None or not port.put(data, source):
            self.lost += 1

    def forget(self, port: MemoryPort) -> None:
        """Let an address go."""
        if self._ports.get(port.address) is port:
            del self._ports[port.address]

    async def serve_streams(
        self,
        handler: StreamHandler,
        *,
        host: str,
        port: int,
        connections_max: int,
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve streams until cancelled.

        Raises:
            OSError: the address is taken.
        """
        address = self._address(host, port)
        if address in self._listeners:
            raise OSError(f"address {host}:{port} is taken")
        async with trio.open_nursery() as nursery:
            self._listeners[address] = _Listener(handler, nursery, trio.Semaphore(connections_max))
            try:
                task_status.started(address[1])
                await trio.sleep_forever()
            finally:
                del self._listeners[address]

    async def connect(self, host: str, port: int) -> MemoryStream:
        """Open a stream to a listener, waiting for a place.

        Raises:
            OSError: nobody listens there.
        """
        await trio.lowlevel.checkpoint()
        listener = self._listeners.get((host, port))
        if listener is None:
            raise OSError(f"nobody listens at {host}:{port}")
        await listener.places.acquire()
        there, back = _Pipe(), _Pipe()
        listener.nursery.start_soon(self._serve, listener, MemoryStream(there, back))
        return MemoryStream(back, there)

    @staticmethod
    async def _serve(listener: _Listener, stream: MemoryStream) -> None:
        try:
            async with stream:
                await listener.handler(stream)
        finally:
            listener.places.release()
