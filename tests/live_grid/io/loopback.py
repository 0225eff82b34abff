"""Servers on this machine: HTTP that says what a test wants, and a region of the fake grid behind a real socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from live_grid.circuit import Circuit, CircuitConfig, MessageReceived, Role
from live_grid.llsd import write_llsd_xml
from tests.live_grid.handover.fake_grid import FakeRegion

Answer = Callable[[str, str, bytes], Awaitable[tuple[int, bytes, str]]]
"""Takes method, path and body; gives status, body and more header lines."""


class HttpServer:
    """Serves what one function answers."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.heads: list[str] = []
        self.port = 0

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled."""
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listener.socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._handle, [listener])

    async def _handle(self, stream: trio.SocketStream) -> None:
        data = b""
        async with stream:
            while b"\r\n\r\n" not in data:
                more = await stream.receive_some(65536)
                if not more:
                    return
                data += more
            head, _, body = data.partition(b"\r\n\r\n")
            self.heads.append(head.decode())
            size = next(
                (int(line[15:]) for line in head.decode().split("\r\n") if line.startswith("Content-Length:")), 0
            )
            while len(body) < size:
                body += await stream.receive_some(65536)
            method, path, _ = head.decode().split(" ", 2)
            status, answer, lines = await self.answer(method, path, body)
            await stream.send_all(f"HTTP/1.1 {status} Said\r\n{lines}".encode())
            if "Transfer-Encoding" not in lines and "Content-Length" not in lines:
                await stream.send_all(f"Content-Length: {len(answer)}\r\n".encode())
            await stream.send_all(b"\r\n" + answer)

    def url(self, path: str = "/") -> str:
        """An address of it."""
        return f"http://127.0.0.1:{self.port}{path}"


class RealRegion:
    """A region of the fake grid behind a real socket, with its capabilities."""

    def __init__(self, name: str, x: int) -> None:
        self.region = FakeRegion(name, x, 0)
        self.http = HttpServer(self._answer)
        self._socket = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
        self._news = trio.Event()
        self.polls = 0
        self.farewells = 0
        self.deaf = False

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled."""
        await self._socket.bind(("127.0.0.1", 0))
        self.region.address = self._socket.getsockname()
        with self._socket:
            await self._serve(task_status)

    async def _serve(self, task_status: trio.TaskStatus[None]) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(self.http.serve)
            self.region.seed = self.http.url("/seed")
            nursery.start_soon(self._listen)
            nursery.start_soon(self._speak)
            task_status.started()

    async def _listen(self) -> None:
        region = self.region
        while True:
            data, address = await self._socket.recvfrom(65536)
            if self.deaf:
                continue
            if region.circuit is None:
                config = CircuitConfig(ack_delay_s=0.0)
                region.circuit = Circuit(address, now=trio.current_time(), role=Role.SIMULATOR, config=config)
            region.circuit.receive_datagram_untrusted(data, address, trio.current_time())
            while (event := region.circuit.next_event()) is not None:
                if isinstance(event, MessageReceived):
                    region.act(event.message)
            await self._flush()

    async def _speak(self) -> None:
        while True:
            await trio.sleep(0.1)
            await self._flush()

    async def _flush(self) -> None:
        circuit = self.region.circuit
        if circuit is not None and not self.deaf:
            circuit.handle_timer(trio.current_time())
            for data, address in circuit.datagrams_to_send(trio.current_time()):
                await self._socket.sendto(data, address)

    def tell(self, *events: tuple[str, dict[str, object]]) -> None:
        """Put events into the queue."""
        self.region.events += events
        self._news.set()

    async def _answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes, str]:
        if path == "/seed":
            found = {"EventQueueGet": self.http.url("/queue"), "Fetch": self.http.url("/fetch")}
            return 200, write_llsd_xml(found), ""
        if path.startswith("/fetch"):
            return 404 if path.endswith("no") else 200, write_llsd_xml({"asked": True}), ""
        if b"<boolean>true" in body or b"<boolean>1" in body:
            self.farewells += 1
            return 404, b"", ""
        self.polls += 1
        await self._news.wait()
        self._news = trio.Event()
        events = [{"message": name, "body": fields} for name, fields in self.region.events]
        self.region.events.clear()
        return 200, write_llsd_xml({"id": self.polls, "events": events}), ""  # type: ignore[dict-item]
