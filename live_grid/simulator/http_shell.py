"""One HTTP connection: reads requests, waits for their answers, writes them.

Owns time-outs and the notice that a client has gone while its poll is held; knows no grammar (that is
`live_grid.simulator.http1`) and no answer (that is the core). One task a connection (Spec: LIV-15; Fault: 34).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import trio

from live_grid.errors import RemoteProtocolError
from live_grid.simulator.http1 import HttpReader, HttpRequest, HttpResponse, write_response_bytes
from live_grid.simulator.limits import (
    HEAD_MAX_BYTES,
    IDLE_CONNECTION_S,
    REQUEST_MAX_BYTES,
    REQUESTS_PER_CONNECTION_MAX,
)

__all__ = ("Handle", "serve_connection")

Handle: TypeAlias = Callable[[HttpRequest, Callable[[HttpResponse], None]], Callable[[], None]]
"""Takes a request and what takes its answer; returns what to call when the client is gone before that."""

_READ_MAX_BYTES: Final = 65_536
_WRITE_TIMEOUT_S: Final = 30.0
_BAD_REQUEST: Final = HttpResponse(status=400, close=True)


class _Slot:
    """Where an answer arrives."""

    __slots__ = ("arrived", "response")

    def __init__(self) -> None:
        self.response: HttpResponse | None = None
        self.arrived = trio.Event()

    def put(self, response: HttpResponse) -> None:
        self.response = response
        self.arrived.set()


async def serve_connection(handle: Handle, stream: trio.abc.Stream) -> None:
    """Serve one connection until either side ends it; what a client can cause is caught here.

    Args:
        handle: answers requests.
        stream: closed by the caller.

    Cancellation: safe; a request under way gets no answer.
    """
    reader = HttpReader()
    try:
        for _ in range(REQUESTS_PER_CONNECTION_MAX):
            request = await _next_request(reader, stream)
            if request is None:
                return
            response = await _answer(handle, request, reader, stream)
            if response is None or response.status == 0:
                return
            await _write(stream, write_response_bytes(response, keep_alive=request.keep_alive))
            if response.close or not request.keep_alive:
                return
    except RemoteProtocolError:
        await _refuse(stream)
    except (trio.BrokenResourceError, trio.TooSlowError):
        return


async def _next_request(reader: HttpReader, stream: trio.abc.Stream) -> HttpRequest | None:
    """Wait for a request; None when the client is done or says nothing for too long."""
    with trio.move_on_after(IDLE_CONNECTION_S):
        while True:
            request = reader.next_request()
            if request is not None:
                return request
            data = await stream.receive_some(_READ_MAX_BYTES)
            if not data:
                return None
            reader.receive_untrusted(data)
    return None


async def _answer(
    handle: Handle, request: HttpRequest, reader: HttpReader, stream: trio.abc.Stream
) -> HttpResponse | None:
    """Wait for the answer; None when the client goes first."""
    slot = _Slot()
    forget = handle(request, slot.put)
    try:
        if not slot.arrived.is_set():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_watch, stream, reader, nursery.cancel_scope)
                await slot.arrived.wait()
                nursery.cancel_scope.cancel()
    finally:
        if slot.response is None:
            forget()
    return slot.response


async def _watch(stream: trio.abc.Stream, reader: HttpReader, scope: trio.CancelScope) -> None:
    """Notice that a client goes while its answer is outstanding; keep what it sends meanwhile, within bounds."""
    try:
        while len(reader) <= HEAD_MAX_BYTES + REQUEST_MAX_BYTES:
            data = await stream.receive_some(_READ_MAX_BYTES)
            if not data:
                break
            reader.receive_untrusted(data)
    except trio.BrokenResourceError:
        pass
    scope.cancel()


async def _write(stream: trio.abc.Stream, data: bytes) -> None:
    with trio.fail_after(_WRITE_TIMEOUT_S):
        await stream.send_all(data)


async def _refuse(stream: trio.abc.Stream) -> None:
    try:
        await _write(stream, write_response_bytes(_BAD_REQUEST, keep_alive=False))
    except (trio.BrokenResourceError, trio.TooSlowError):
        return
