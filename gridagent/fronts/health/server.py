"""The trio shell of the health endpoint: connections, deadlines, and sending.

Owns the places for connections; the protocol is `gridagent.fronts.health.exchange`, the answers are
`gridagent.fronts.health.pages`. The command line serves it on loopback; tests hand it streams in memory.

Invariants: nothing raises out of `HealthServer.handle`; a client that does not read is dropped after ``send_timeout_s``
and holds nobody else up (Fault: 34); whoever asks gets a connection, however many others hold one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, TypeAlias

import attrs
import trio

from gridagent.errors import OperatorError
from gridagent.fronts.health.exchange import Answer, Gone, HttpExchange, Spoiled
from gridagent.fronts.health.limits import HealthLimits
from gridagent.fronts.health.pages import Pages
from gridagent.runtime.ports import Clock, Network

__all__ = ("HealthServer", "HealthStatistics", "serve_health")

LogError: TypeAlias = Callable[[str, BaseException], None]

_CHUNK_BYTES: Final = 4 * 1024
_SPARE: Final = 8
"""Connections beyond the limit that are accepted to take another's place."""


@attrs.define(kw_only=True)
class HealthStatistics:
    """Counts since the start."""

    requests: int = 0
    spoiled: int = 0
    """Requests that broke a rule of the protocol."""
    evicted: int = 0
    """Connections that made room."""
    slow: int = 0
    """Readers dropped because they did not read."""
    failed: int = 0
    """Connections that ended by a fault of our own; the log has each."""


class HealthServer:
    """Serves the pages of one service.

    Args:
        pages: what is answered.
        clock: for the date of an answer.
        limits: sizes, counts and times.
        log_error: takes a stable code and the error of a connection that ended by a fault of our own.
    """

    def __init__(
        self, pages: Pages, *, clock: Clock, limits: HealthLimits | None = None, log_error: LogError | None = None
    ) -> None:
        self.statistics = HealthStatistics()
        self.limits = HealthLimits() if limits is None else limits
        self._pages = pages
        self._clock = clock
        self._log_error = log_error
        self._places: OrderedDict[int, trio.CancelScope] = OrderedDict()  # idle longest first; at most connections_max

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it ends; closes the stream.

        Cancellation: closes the connection.
        """
        scope = trio.CancelScope()
        self._take_place(scope)
        try:
            with scope:
                await self._converse(stream, id(scope))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client left
        except Exception as error:  # noqa: BLE001 - one connection's fault ends no other, and no avatar (Spec: SUP-7)
            self.statistics.failed += 1
            if self._log_error is not None:
                self._log_error("health_connection_failed", error)
        finally:
            self._places.pop(id(scope), None)
            with suppress(trio.BrokenResourceError):  # some streams say goodbye while they close
                await trio.aclose_forcefully(stream)

    def _take_place(self, scope: trio.CancelScope) -> None:
        while len(self._places) >= self.limits.connections_max:
            _, oldest = self._places.popitem(last=False)
            oldest.cancel(reason="its place is needed")
            self.statistics.evicted += 1
        self._places[id(scope)] = scope

    async def _converse(self, stream: trio.abc.Stream, place: int) -> None:
        exchange = HttpExchange(self.limits, trio.current_time())
        while not exchange.over:
            said = exchange.next_said()
            if said is None:
                said = await self._receive(stream, exchange)
            match said:
                case None:
                    continue
                case Gone():
                    return
                case Spoiled(status=status):
                    self.statistics.spoiled += 1
                    if await self._send(stream, exchange, Answer(status=status, body=f"{HTTPStatus(status).phrase}\n")):
                        await self._linger(stream)
                case _:
                    self.statistics.requests += 1
                    if place in self._places:
                        self._places.move_to_end(place)
                    await self._send(stream, exchange, self._pages.answer(said))

    async def _receive(self, stream: trio.abc.Stream, exchange: HttpExchange) -> Spoiled | Gone | None:
        """Wait for bytes or for the exchange's timer."""
        with trio.move_on_at(exchange.timer()):
            exchange.feed(bytes(await stream.receive_some(_CHUNK_BYTES)), trio.current_time())
            return None
        return exchange.on_timer()

    async def _send(self, stream: trio.abc.Stream, exchange: HttpExchange, answer: Answer) -> bool:
        date = formatdate(self._clock.wall(), usegmt=True)
        data = exchange.answer(answer, date=date, now=trio.current_time())
        with trio.move_on_after(self.limits.send_timeout_s):
            await stream.send_all(data)
            return True
        self.statistics.slow += 1
        exchange.over = True
        return False

    async def _linger(self, stream: trio.abc.Stream) -> None:
        """Read on for a moment: closing while something unread waits would take the answer along."""
        if isinstance(stream, trio.abc.HalfCloseableStream):
            left = self.limits.linger_max_bytes
            with trio.move_on_after(self.limits.linger_timeout_s):
                await stream.send_eof()
                while left > 0 and (data := await stream.receive_some(_CHUNK_BYTES)):
                    left -= len(data)


async def serve_health(
    server: HealthServer,
    network: Network,
    *,
    host: str,
    port: int,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve on loopback until cancelled.

    Args:
        server: handles each connection.
        network: opens the listener.
        host: a loopback address; the configuration takes no other.
        port: 0 lets the system choose.
        task_status: told the bound port.

    Raises:
        OperatorError: the address cannot be used.

    Cancellation: closes the listener and every connection.
    """
    try:
        await network.serve_tcp(
            server.handle,
            host=host,
            port=port,
            connections_max=server.limits.connections_max + _SPARE,
            task_status=task_status,
        )
    except OSError as error:
        raise OperatorError(
            f"the health endpoint cannot listen on {host} port {port} ({error.strerror or 'unknown error'}); "
            "set health.port to a free port"
        ) from error
