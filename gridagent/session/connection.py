"""One connection: a backend, its workers, and the one logout, inside one generation's scope.

Owns the task that runs a backend to its end and the sink that stamps its events. Decides nothing: it
reports how the connection ended. Its invariants: the backend and every worker are gone before it
returns; logout is attempted exactly once if the backend ever said that it was logged in, on every exit
path, under a deadline (Spec: SUP-3, SUP-9).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec
import trio

from gridagent.errors import BackendError, ResourceClosed
from gridagent.events import BackendReady, DisconnectCause, GridEvent, TransportUp
from gridagent.grid.base import GridBackend
from gridagent.runtime.channels import Sender
from gridagent.runtime.generation import Generation

__all__ = ("Connection", "ConnectionEnd", "FromGrid", "GenerationSink")

LogError: TypeAlias = Callable[[str, BaseException], None]


class FromGrid(msgspec.Struct, frozen=True, gc=False):
    """One event and the generation it came from."""

    generation: int
    event: GridEvent


class ConnectionEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a connection ended, told once after everything of it is gone."""

    generation: int
    cause: DisconnectCause
    logged_out: bool


class GenerationSink:
    """The event sink of one generation; implements `gridagent.grid.base.EventSink`."""

    __slots__ = ("_generation", "_lane", "logged_in")

    def __init__(self, generation: Generation, lane: Sender[FromGrid]) -> None:
        self._generation = generation
        self._lane = lane
        self.logged_in = False

    def _admit(self, event: GridEvent) -> FromGrid:
        if not self._generation.live:
            raise ResourceClosed("event sink", f"generation {self._generation.number} is over")
        return FromGrid(self._generation.number, event)

    def _note(self, event: GridEvent) -> None:
        # Before the fence and before any wait: a login that was cut off right here still has to be undone.
        if isinstance(event, TransportUp | BackendReady):
            self.logged_in = True

    async def send(self, event: GridEvent) -> None:
        """Put one event; waits while the session's queue is full.

        Cancellation: safe; the event is then not put.

        Raises:
            ResourceClosed: the generation is over.
        """
        self._note(event)
        await self._lane.send(self._admit(event))

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Put several events in order.

        Cancellation: a prefix may have been put.

        Raises:
            ResourceClosed: the generation is over.
        """
        for event in events:
            self._note(event)
        await self._lane.send_many([self._admit(event) for event in events])


class Connection:
    """Runs one backend; workers are started into it and die with it.

    Args:
        generation: whose scope everything lives in.
        backend: has not begun to connect.
        sink: takes the backend's events.
        logout_timeout_s: seconds the one logout may take.
        log_error: takes a stable code and an error.
        ready: awaited before the backend connects; what must be durable first.
    """

    __slots__ = ("_backend", "_generation", "_log_error", "_logout_timeout_s", "_nursery", "_ready", "_sink")

    def __init__(
        self,
        *,
        generation: Generation,
        backend: GridBackend,
        sink: GenerationSink,
        logout_timeout_s: float,
        log_error: LogError,
        ready: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._ready = ready
        self._generation = generation
        self._backend = backend
        self._sink = sink
        self._logout_timeout_s = logout_timeout_s
        self._log_error = log_error
        self._nursery: trio.Nursery | None = None

    @property
    def generation(self) -> Generation:
        """The generation it belongs to."""
        return self._generation

    @property
    def backend(self) -> GridBackend:
        """The backend; not to be used after the generation is over."""
        return self._backend

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> bool:
        """Start one worker; False when the connection is not running, and nothing was started."""
        if self._nursery is None:
            return False
        self._nursery.start_soon(work, name=name)
        return True

    async def run(self, report: Callable[[ConnectionEnd], None]) -> None:
        """Run the backend until it ends or the generation is cancelled, log out once, and report.

        Args:
            report: told exactly once, last, on every way out; must not block or raise.

        Cancellation: of the generation's scope: absorbed, reported as ``requested``. From further out: the
        logout still happens, shielded for at most the logout time-out, then it propagates.
        """
        cause = DisconnectCause.REQUESTED
        try:
            with self._generation.scope:
                cause = await self._run_backend()
        finally:
            logged_in = self._sink.logged_in
            try:
                if logged_in:
                    await self._log_out()
            finally:
                report(ConnectionEnd(generation=self._generation.number, cause=cause, logged_out=logged_in))

    async def _run_backend(self) -> DisconnectCause:
        async with trio.open_nursery(strict_exception_groups=True) as nursery:
            self._nursery = nursery
            try:
                return await self._end_of_backend()
            finally:
                self._nursery = None
                nursery.cancel_scope.cancel(reason="the backend ended")

    async def _end_of_backend(self) -> DisconnectCause:
        if self._ready is not None:
            await self._ready()
        try:
            await self._backend.run(self._sink)
        except BackendError as error:
            if error.cause != DisconnectCause.REQUESTED:  # of its own will, as to go back to its region: no error
                self._log_error("backend_ended", error)
            try:
                return DisconnectCause(error.cause)
            except ValueError:
                return DisconnectCause.BACKEND_FAULT
        except Exception as error:  # noqa: BLE001 - a backend's fault ends its generation, not the session
            if isinstance(error, ResourceClosed) and not self._generation.live:
                return DisconnectCause.REQUESTED  # the sink told it that the generation is over
            self._log_error("backend_fault", error)
            return DisconnectCause.BACKEND_FAULT
        return DisconnectCause.GRID_CLOSED

    async def _log_out(self) -> None:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + self._logout_timeout_s) as bound:
            try:
                await self._backend.logout()
            except Exception as error:  # noqa: BLE001 - leaving goes on whatever the grid answers
                self._log_error("logout_failed", error)
        if bound.cancelled_caught:
            self._log_error("logout_timed_out", TimeoutError(f"no end within {self._logout_timeout_s} s"))
