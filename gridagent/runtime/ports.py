"""The ports of determinism: everything that would differ between two runs with the same inputs.

Owns the Protocols through which the project reads clocks, draws random numbers, makes ids, blocks
and opens sockets. May not implement any: `gridagent.runtime.system` holds the real ones,
`gridagent.runtime.deterministic` the simulated ones. The composition root makes one `Ports` and
hands each room what it needs. Waiting needs no port: `trio.sleep` follows the clock of the run.

Invariant: code that reaches the outside only through these ports takes the same scheduler steps
for the same seed (Spec: SIM-2).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, Protocol, TypeVar, TypeVarTuple

import attrs
import trio

__all__ = (
    "STREAMS_MAX",
    "TOKEN_BYTES_MAX",
    "TOKEN_BYTES_MIN",
    "Blocking",
    "Clock",
    "Ids",
    "Network",
    "Ports",
    "Randomness",
)

STREAMS_MAX: Final = 1_024
"""Named random streams of one `Randomness`: names are parts of the program, never of a request."""
TOKEN_BYTES_MIN: Final = 16
TOKEN_BYTES_MAX: Final = 64

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Clock(Protocol):
    """Two clocks; neither stands for the other."""

    def monotonic(self) -> float:
        """Return seconds on the trio clock: for deadlines and intervals. Only inside `trio.run`."""
        ...

    def wall(self) -> float:
        """Return Unix seconds: for people and records. May jump in both directions."""
        ...


class Randomness(Protocol):
    """Independent random streams: one more draw in one does not change another."""

    def stream(self, name: str) -> Random:
        """Return the stream of this name; the same name gives the same, advancing stream.

        Raises:
            LimitExceeded: there are `STREAMS_MAX` names already.
        """
        ...


class Ids(Protocol):
    """New names for things. Never parse them."""

    def uuid(self) -> str:
        """Return a new version 4 UUID, lower case and hyphenated."""
        ...

    def token(self, size: int = 16) -> str:
        """Return ``size`` unguessable bytes as lower-case hex.

        Raises:
            ValueError: ``size`` is not from `TOKEN_BYTES_MIN` to `TOKEN_BYTES_MAX`.
        """
        ...


class Blocking(Protocol):
    """Synchronous work off the loop, one call at a time in the order of asking."""

    async def run(self, fn: Callable[[*Ts], T], *args: *Ts, name: str) -> T:
        """Run ``fn(*args)`` and return its result.

        Args:
            fn: must not touch trio.
            args: handed to ``fn``.
            name: how errors call the work.

        Raises:
            OutcomeUnknown: ``fn`` started and did not end within the port's bound. It may still end
                later; no other call starts before it has.
            Exception: whatever ``fn`` raises.

        Bounds: one call runs; others wait.

        Cancellation: before ``fn`` starts: safe, it never runs. After: shielded up to the bound, and
        the result is returned although the scope is cancelled, so that what happened is known.
        """
        ...


class Network(Protocol):
    """Stream sockets. Which addresses are allowed is the caller's rule (loopback, an allow-list)."""

    async def serve_tcp(
        self,
        handler: Callable[[trio.abc.Stream], Awaitable[object]],
        *,
        host: str,
        port: int,
        connections_max: int,
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until cancelled; one task a connection, and the connection closes with its handler.

        Args:
            handler: catches what a client can cause; what it raises ends the server.
            host: one numeric address to bind; there is no "all interfaces" default.
            port: 0 lets the system choose.
            connections_max: further clients wait in the listen queue.
            task_status: told the bound port.

        Raises:
            OSError: the address cannot be bound.
            ValueError: ``host`` is not a numeric address, or ``connections_max`` is under 1.

        Cancellation: closes the listener and every connection.
        """
        ...

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:
        """Open a connection.

        Raises:
            OSError: no address of ``host`` answered.
            trio.TooSlowError: none did within ``timeout_s``.
        """
        ...


@attrs.frozen(kw_only=True)
class Ports:
    """One set of ports, chosen once by the composition root."""

    clock: Clock
    randomness: Randomness
    ids: Ids
    blocking: Blocking
    network: Network
