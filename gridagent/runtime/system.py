"""The real ports: the one module that may read the clock, the kernel's randomness, start threads or open sockets.

Owns the adapters behind `gridagent.runtime.ports` and decides nothing. Made once by the composition
root with `system_ports`; a test or simulation takes `gridagent.runtime.deterministic` instead.
A lint test bans ``time``, ``secrets``, ``uuid``, ``os.urandom``, module-level ``random`` and threads
everywhere else (Spec: SIM-2).

Invariant: at most one blocking call runs at a time, an abandoned one included.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import ip_address
from random import Random, SystemRandom
from typing import Final, TypeVar, TypeVarTuple, cast

import trio

from gridagent.errors import LimitExceeded, OutcomeUnknown
from gridagent.runtime.ports import STREAMS_MAX, TOKEN_BYTES_MAX, TOKEN_BYTES_MIN, Ports

__all__ = (
    "BLOCKING_BOUND_S",
    "SystemBlocking",
    "SystemClock",
    "SystemIds",
    "SystemNetwork",
    "SystemRandomness",
    "cpu_seconds",
    "system_ports",
)

BLOCKING_BOUND_S: Final = 30.0
"""Longest a blocking call is waited for: far above a slow disk's commit, below an operator's patience."""
LISTEN_BACKLOG: Final = 64
"""Clients the kernel keeps waiting: for loopback fronts, not for the internet."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class SystemClock:
    """The trio clock and the kernel's wall clock."""

    __slots__ = ()

    def monotonic(self) -> float:
        """Return seconds on the trio clock."""
        return trio.current_time()

    def wall(self) -> float:
        """Return Unix seconds."""
        return time.time()


def cpu_seconds() -> float:
    """Return the CPU seconds that this process has used: for figures, never for decisions."""
    return time.process_time()


class SystemRandomness:
    """Streams seeded by the kernel: different in every process."""

    __slots__ = ("_kernel", "_streams")

    def __init__(self) -> None:
        self._kernel = SystemRandom()
        self._streams: dict[str, Random] = {}

    def stream(self, name: str) -> Random:
        """Return the stream of this name.

        Raises:
            LimitExceeded: there are `STREAMS_MAX` names already.
        """
        found = self._streams.get(name)
        if found is None:
            if len(self._streams) >= STREAMS_MAX:
                raise LimitExceeded("random streams", allowed=STREAMS_MAX)
            found = self._streams[name] = Random(self._kernel.getrandbits(256))  # noqa: S311 - jitter, no secret
        return found


class SystemIds:
    """Ids from the kernel's randomness."""

    __slots__ = ()

    def uuid(self) -> str:
        """Return a new version 4 UUID, lower case and hyphenated."""
        return str(uuid.uuid4())

    def token(self, size: int = TOKEN_BYTES_MIN) -> str:
        """Return ``size`` unguessable bytes as lower-case hex."""
        if not TOKEN_BYTES_MIN <= size <= TOKEN_BYTES_MAX:
            raise ValueError(f"a token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} bytes, not {size}")
        return secrets.token_hex(size)


class _Held:
    """A place in a limiter that its holder took already; trio gives it back when the thread really ends."""

    __slots__ = ("_limiter",)

    def __init__(self, limiter: trio.CapacityLimiter) -> None:
        self._limiter = limiter

    async def acquire_on_behalf_of(self, borrower: object) -> None:  # noqa: ARG002 - trio's protocol
        """Nothing to wait for."""
        await trio.lowlevel.cancel_shielded_checkpoint()

    def release_on_behalf_of(self, borrower: object) -> None:  # noqa: ARG002 - trio's protocol
        """Give the place to the next call."""
        self._limiter.release_on_behalf_of(self)


class SystemBlocking:
    """One worker thread.

    Args:
        bound_s: seconds a started call is waited for.

    Raises:
        ValueError: ``bound_s`` is not positive.
    """

    __slots__ = ("_bound_s", "_limiter")

    def __init__(self, bound_s: float = BLOCKING_BOUND_S) -> None:
        if not bound_s > 0:
            raise ValueError(f"a blocking call is waited for a positive number of seconds, not {bound_s}")
        self._bound_s = bound_s
        self._limiter = trio.CapacityLimiter(1)

    async def run(self, fn: Callable[[*Ts], T], *args: *Ts, name: str) -> T:
        """Run ``fn(*args)`` in the thread; see `gridagent.runtime.ports.Blocking.run`."""
        held = _Held(self._limiter)
        # Waiting for the turn is the caller's to cancel; only a call that starts is shielded.
        await self._limiter.acquire_on_behalf_of(held)
        with trio.CancelScope(shield=True, deadline=trio.current_time() + self._bound_s):
            return await trio.to_thread.run_sync(
                partial(fn, *args),
                thread_name=name,
                abandon_on_cancel=True,
                limiter=cast("trio.CapacityLimiter", held),
            )
        raise OutcomeUnknown(f"{name} did not end within {self._bound_s:g} s; it may still take effect")


class _BoundedListener(trio.abc.Listener[trio.SocketStream]):
    """A listener that accepts only while a place is free; who serves the connection gives it back."""

    def __init__(self, inner: trio.SocketListener, places: trio.Semaphore) -> None:
        self._inner = inner
        self._places = places

    async def accept(self) -> trio.SocketStream:
        """Wait for a place, then for a client."""
        await self._places.acquire()
        try:
            return await self._inner.accept()
        except BaseException:
            self._places.release()
            raise

    async def aclose(self) -> None:
        """Close the listening socket."""
        await self._inner.aclose()


class SystemNetwork:
    """TCP through trio."""

    __slots__ = ()

    async def serve_tcp(
        self,
        handler: Callable[[trio.abc.Stream], Awaitable[object]],
        *,
        host: str,
        port: int,
        connections_max: int,
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until cancelled; see `gridagent.runtime.ports.Network.serve_tcp`."""
        if connections_max < 1:
            raise ValueError(f"a server needs at least 1 connection, not {connections_max}")
        ip_address(host)  # a name could mean several addresses, and port 0 several ports
        places = trio.Semaphore(connections_max)

        async def serve(stream: trio.SocketStream) -> None:
            try:
                await handler(stream)
            finally:
                places.release()

        (listener,) = await trio.open_tcp_listeners(port, host=host, backlog=LISTEN_BACKLOG)
        async with listener:
            task_status.started(listener.socket.getsockname()[1])
            await trio.serve_listeners(serve, [_BoundedListener(listener, places)])

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:
        """Open a connection; see `gridagent.runtime.ports.Network.connect_tcp`."""
        with trio.fail_after(timeout_s):
            return await trio.open_tcp_stream(host, port)


def system_ports(*, blocking_bound_s: float = BLOCKING_BOUND_S) -> Ports:
    """Return the real ports.

    Args:
        blocking_bound_s: seconds a started blocking call is waited for.
    """
    return Ports(
        clock=SystemClock(),
        randomness=SystemRandomness(),
        ids=SystemIds(),
        blocking=SystemBlocking(blocking_bound_s),
        network=SystemNetwork(),
    )
