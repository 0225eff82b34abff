"""The client's side of the memory wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from live_grid.addresses import HostPolicy
from live_grid.io.web import WebFailed
from live_grid.limits import HTTP_BODY_MAX_BYTES
from live_grid.simulator.memory_network import MemoryNetwork, MemoryWeb
from live_grid.simulator.memory_wire import MemoryStream, MemoryWire


class Server:
    """Answers every request with the same bytes."""

    def __init__(self, answer: bytes, *, hangs: bool = False) -> None:
        self.answer = answer
        self.hangs = hangs
        self.requests: list[bytes] = []

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection."""
        assert isinstance(stream, MemoryStream)
        self.requests.append(bytes(await stream.receive_some(65_536)))
        await stream.send_all(self.answer)
        if self.hangs:
            await trio.sleep_forever()


@asynccontextmanager
async def served(answer: bytes, *, hangs: bool = False) -> AsyncIterator[tuple[Server, MemoryWeb, str]]:
    """A server on the wire, a client, and the address."""
    wire, server = MemoryWire(), Server(answer, hangs=hangs)
    async with trio.open_nursery() as nursery:

        async def serve(task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
            await wire.serve_streams(
                server.handle, host="127.0.0.1", port=0, connections_max=4, task_status=task_status
            )

        port = await nursery.start(serve)
        yield server, MemoryNetwork(wire).open_web(), f"http://127.0.0.1:{port}/ask?x=1"
        nursery.cancel_scope.cancel()


async def test_a_response_comes_back_by_length_or_by_its_end(autojump_clock) -> None:
    """Status and body; the request names host, type and length. Spec: LIV-15."""
    async with served(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", hangs=True) as (server, web, url):
        response = await web.post(url, b"<x/>", content_type="text/xml", timeout_s=5.0, policy=None)
        assert (response.status, response.body) == (200, b"hello")
        assert server.requests[0].startswith(b"POST /ask?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"Content-Type: text/xml\r\nContent-Length: 4\r\n\r\n<x/>" in server.requests[0]
    async with served(b"HTTP/1.1 502 Bad\r\nX: y\r\n\r\ntorn") as (server, web, url):
        response = await web.get(url, timeout_s=5.0, policy=None)
        assert (response.status, response.body) == (502, b"torn")
        assert (web.requests, web.failures) == (1, 0)
        await web.aclose()


@pytest.mark.parametrize(
    ("answer", "hangs", "why"),
    [
        (b"", False, "connection failed"),
        (b"HTTP/1.1 2", False, "connection failed"),
        (b"HTTP/1.1 two OK\r\n\r\n", False, "connection failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", False, "connection failed"),
        (b"HTTP/1.1 200 OK\r\n", True, "too slow"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", True, "too slow"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (HTTP_BODY_MAX_BYTES + 1), False, "body too long"),
    ],
    ids=["nothing", "half a line", "no status", "half a body", "no head's end", "a body that stops", "too much"],
)
async def test_what_is_no_whole_response_fails_with_a_word(answer, hangs, why, autojump_clock) -> None:
    """Each way to break off. Spec: BND-7."""
    async with served(answer, hangs=hangs) as (_, web, url):
        with pytest.raises(WebFailed, match=why):
            await web.get(url, timeout_s=5.0, policy=None)
        assert web.failures == 1


async def test_nobody_there_and_nobody_allowed_are_failures() -> None:
    """An address without a listener, a name, and an address that may not be asked. Fault: 10."""
    web = MemoryNetwork(MemoryWire()).open_web()
    with pytest.raises(WebFailed, match="connection failed"):
        await web.get("http://127.0.0.1:1/", timeout_s=5.0, policy=None)
    with pytest.raises(WebFailed, match="host unknown"):
        await web.get("http://grid.example/", timeout_s=5.0, policy=None)
    strict = HostPolicy(hosts=frozenset(), any_public_host=True)
    with pytest.raises(WebFailed, match="host refused"):
        await web.resolve("http://127.0.0.1/", strict)


async def test_datagrams_go_both_ways() -> None:
    """Each end has an address of its own, until it is closed. Spec: LIV-15."""
    network = MemoryNetwork(wire := MemoryWire())
    one, other = [await network.open_datagrams(loopback=True) for _ in range(2)]
    one.send(b"hello", other._port.address)
    assert await other.receive() == [(b"hello", one._port.address)]
    other.close()
    one.send(b"hello?", other._port.address)
    assert (wire.lost, one.unsent) == (1, 0)
