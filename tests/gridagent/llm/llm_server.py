"""A real HTTP server on loopback whose every byte a test decides; over trio and h11."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import attrs
import h11
import trio

from gridagent.config.secrets import EndpointUrl

CANARY = "canary-provider-text-7d1f"
KEY = "sk-canary-key-93ab55"


@attrs.define
class Seen:
    """One request as the server saw it."""

    body: bytes
    headers: dict[str, str]
    target: str

    @property
    def json(self):
        return json.loads(self.body)


Script = Callable[["Exchange"], Awaitable[None]]


@attrs.define
class Exchange:
    """One request, and the means to answer it well or badly."""

    stream: trio.SocketStream
    connection: h11.Connection
    seen: Seen
    server: LlmServer
    keep: bool = True

    async def head(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        given = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"} | (headers or {})
        response = h11.Response(status_code=status, headers=[(k, v) for k, v in given.items() if v])
        await self.raw(self.connection.send(response))

    async def data(self, data: bytes) -> None:
        await self.raw(self.connection.send(h11.Data(data)))

    async def end(self) -> None:
        await self.raw(self.connection.send(h11.EndOfMessage()))

    async def raw(self, data: bytes | None) -> None:
        if data:
            await self.stream.send_all(data)

    async def reply(self, body: bytes | str | dict, status: int = 200, **headers: str) -> None:
        if isinstance(body, dict):
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await self.head(status, {"Content-Length": str(len(body)), "Transfer-Encoding": ""} | named)
        if body:
            await self.data(body)
        await self.end()

    async def events(self, *events: dict | str, end: bool = True) -> None:
        await self.head(headers={"Content-Type": "text/event-stream"})
        for event in events:
            await self.data(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode())
        if end:
            await self.end()

    async def hang_up(self) -> None:
        self.keep = False
        await self.stream.aclose()


@attrs.define
class LlmServer:
    """What the server saw, and what it does next: the last script repeats."""

    scripts: list[Script]
    seen: list[Seen] = attrs.field(factory=list)
    open: int = 0
    connections: int = 0
    peak: int = 0
    port: int = 0

    @property
    def url(self) -> EndpointUrl:
        return EndpointUrl(f"http://127.0.0.1:{self.port}/v1/chat/completions")

    async def all_gone(self) -> None:
        """Wait until no client is connected."""
        with trio.fail_after(5):
            while self.open:
                await trio.lowlevel.checkpoint()

    async def has_seen(self, requests: int) -> None:
        """Wait until so many requests have come."""
        with trio.fail_after(5):
            while len(self.seen) < requests:
                await trio.lowlevel.checkpoint()

    async def handle(self, stream: trio.SocketStream) -> None:
        self.open += 1
        self.connections += 1
        self.peak = max(self.peak, self.open)
        try:
            await self._converse(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            pass
        finally:
            self.open -= 1
            await trio.aclose_forcefully(stream)

    async def _converse(self, stream: trio.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER)
        while (seen := await _read_request(stream, connection)) is not None:
            self.seen.append(seen)
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            exchange = Exchange(stream, connection, seen, self)
            await script(exchange)
            if not exchange.keep or connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()


async def _read_request(stream: trio.SocketStream, connection: h11.Connection) -> Seen | None:
    head, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65_536))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            headers = {name.decode(): value.decode() for name, value in head.headers}
            return Seen(body, headers, head.target.decode())
        else:
            return None


@asynccontextmanager
async def serve(*scripts: Script) -> AsyncIterator[LlmServer]:
    """Serve on loopback; each request takes the next script."""
    server = LlmServer(list(scripts))
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, server.handle, 0, host="127.0.0.1"))
        server.port = listeners[0].socket.getsockname()[1]
        yield server
        nursery.cancel_scope.cancel()


def answer(text: str = "hello", **choice) -> dict:
    """A plain chat completion."""
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice], "usage": usage}


def chunk(text: str | None = None, finish: str | None = None, **delta) -> dict:
    """One event of a streamed chat completion."""
    content = {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": content | delta, "finish_reason": finish}]}


def always(*args, **kwargs) -> Script:
    """Answer every request the same way."""

    async def script(exchange: Exchange) -> None:
        await exchange.reply(*args, **kwargs)

    return script
