"""A session on a real network: one nursery with a reader, a clock, and whoever makes HTTP requests.

Owns the performing of a `GridSession`, which decides everything. The reader hands datagrams in and never waits for
anybody; the clock hands events out by a plain call, a bounded number between two looks at the socket; each HTTP request
is a task of its own, of which the session asks for one a kind and link. Leaving is a policy: ask, wait, give up
(Spec: LIV-9, LIV-12, LIV-14).

Invariant: nothing outlives `run`, and whatever ends it, the grid is told once that we leave.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import trio

from live_grid.addresses import HostPolicy, vet_url
from live_grid.handover import GridSession, SessionEnded, SessionEvent, WebRequest
from live_grid.io.health import Health
from live_grid.io.network import Datagrams, WebClient
from live_grid.io.recording import Recorder
from live_grid.io.web import WebFailed
from live_grid.llsd import LlsdGiven, LlsdValue, read_llsd_untrusted, write_llsd_xml
from live_grid.requests import Request

__all__ = ("LARGE_BYTES", "GridClient", "ReadLarge")

CAPABILITY_TIMEOUT_S: Final = 30.0
_OK: Final = 200
_LLSD: Final = "application/llsd+xml"
LARGE_BYTES: Final = 64 * 1024
"""Read in about ten milliseconds; a whole inventory takes seconds."""
ReadLarge: TypeAlias = Callable[[bytes], Awaitable[LlsdValue]]
EVENTS_AT_ONCE: Final = 256
"""Events handed out between two looks at the socket."""
IDLE_S: Final = 1.0
"""Longest the clock sleeps, so that nothing hangs on a timer that was told wrongly."""
FAREWELLS: Final = 2
"""Last words are sent so often: nothing acknowledges them."""


class GridClient:
    """One session on a real network.

    Args:
        session: to perform.
        udp: its socket.
        web: to make requests with.
        policy: where the hosts of capabilities may live.
        on_event: takes each event, synchronously; the last one is `SessionEnded`.
        recorder: takes what goes over the wire, if anybody wants it.
        read_large: reads an answer of over `LARGE_BYTES` where nothing waits for it; None reads it here.
    """

    __slots__ = (
        *("_on_event", "_policy", "_read_large", "_recorder", "_said_farewell", "_udp", "_wake", "_web"),
        "session",
    )

    def __init__(
        self,
        session: GridSession,
        *,
        udp: Datagrams,
        web: WebClient,
        policy: HostPolicy,
        on_event: Callable[[SessionEvent], None],
        recorder: Recorder | None = None,
        read_large: ReadLarge | None = None,
    ) -> None:
        self._read_large = read_large
        self.session = session
        self._udp = udp
        self._web = web
        self._policy = policy
        self._on_event = on_event
        self._recorder = recorder
        self._wake = trio.Event()
        self._said_farewell = False

    async def run(self) -> None:
        """Perform the session until it has ended.

        Cancellation: the avatar stays in the world until `leave`.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read)
            await self._turn(nursery)
            nursery.cancel_scope.cancel()

    async def _read(self) -> None:
        session, recorder = self.session, self._recorder
        while True:
            for data, address in await self._udp.receive():
                now = trio.current_time()
                if recorder is not None:
                    recorder.datagram(data, address, now, incoming=True)
                session.receive_datagram_untrusted(data, address, now)
            self._wake.set()

    async def _turn(self, nursery: trio.Nursery) -> None:
        """Turn the clockwork until it stands still."""
        session = self.session
        ended = False
        while not ended:
            self._wake = trio.Event()
            now = trio.current_time()
            due = session.get_timer()
            if due is not None and now >= due:
                session.handle_timer(now)
            more, ended = self._hand_out(now)
            while (request := session.next_request(now)) is not None:
                nursery.start_soon(self._ask, request)
            self._send(now)
            if more:
                await trio.lowlevel.checkpoint()
                continue
            with trio.move_on_at(min(session.get_timer() or now + IDLE_S, now + IDLE_S)):
                await self._wake.wait()

    def _hand_out(self, now: float) -> tuple[bool, bool]:
        """Hand out events; tell whether more are there, and whether that was the last one."""
        for _ in range(EVENTS_AT_ONCE):
            event = self.session.next_event(now)
            if event is None:
                return False, False
            self._on_event(event)
            if isinstance(event, SessionEnded):
                return False, True
        return True, False

    def _send(self, now: float) -> None:
        for data, address in self.session.datagrams_to_send(now):
            if self._recorder is not None:
                self._recorder.datagram(data, address, now, incoming=False)
            self._udp.send(data, address)

    async def _ask(self, request: WebRequest) -> None:
        try:
            response = await self._web.post(
                request.url,
                request.body,
                content_type=request.content_type,
                timeout_s=request.timeout_s,
                policy=self._policy,
            )
        except WebFailed:
            self.session.receive_failure(request, trio.current_time())
        else:
            now = trio.current_time()
            if self._recorder is not None:
                self._recorder.response(request, response.status, response.body, now)
            self.session.receive_response(request, response.status, response.body, now)
        self._wake.set()

    def send(self, request: Request) -> int:
        """Send a request to where we are; see `GridSession.send`.

        Raises:
            LocalProtocolError: no region has authority now, or a message cannot be written.
            LimitReached: too much is on its way.
        """
        token = self.session.send(request, trio.current_time())
        self._wake.set()
        return token

    async def ask_capability(self, name: str, body: LlsdGiven) -> LlsdValue:
        """Ask a capability of the region we are in and read its answer.

        Raises:
            WebFailed: the region does not offer it, or no answer came.
            RemoteProtocolError: the answer cannot be read.
        """
        url = self.session.capability(name)
        if url is None:
            raise WebFailed("not offered")
        return await self.ask_address(url, write_llsd_xml(body), content_type=_LLSD)

    async def ask_address(self, url: str, body: bytes, *, content_type: str) -> LlsdValue:
        """Ask an address that a capability named and read its answer.

        Raises:
            WebFailed: no answer came.
            RemoteProtocolError: it may not be asked, or the answer cannot be read (Fault: 10).
        """
        vet_url(url, self._policy)
        response = await self._web.post(
            url, body, content_type=content_type, timeout_s=CAPABILITY_TIMEOUT_S, policy=self._policy
        )
        if response.status != _OK:
            raise WebFailed(f"status {response.status}")
        if self._read_large is not None and len(response.body) > LARGE_BYTES:
            return await self._read_large(response.body)
        return read_llsd_untrusted(response.body)

    def nudge(self) -> None:
        """Look at the session again: somebody gave it something to do."""
        self._wake.set()

    async def leave(self) -> None:
        """Log out, if that was not done yet, and wait for the end; also after `run` was cancelled.

        Bounds: the session's own time for it; whoever cannot be reached is told once more and left.

        Cancellation: the grid has been told.
        """
        if self._said_farewell:
            return
        self._said_farewell = True
        session = self.session
        if not session.travel.ended:
            session.log_out(trio.current_time())
            self._send(trio.current_time())
            await self.run()
            return
        for _ in range(FAREWELLS):
            for data, address in session.last_words():
                self._udp.send(data, address)
            await trio.lowlevel.checkpoint()

    def health(self) -> Health:
        """Take the figures of this moment (Spec: LIV-12)."""
        return Health.of(
            self.session.statistics(),
            now=trio.current_time(),
            unsent=self._udp.unsent,
            web_requests=self._web.requests,
            web_failures=self._web.failures,
        )
