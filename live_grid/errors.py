"""The error tree of the protocol package, sorted by who must act.

Owns the classes and their stable ``code``; imports nothing of ours. Everything a peer can cause is
`RemoteProtocolError`: its input is dropped and counted, and the circuit lives on. No error holds
bytes or text from the wire, so what it says may be logged (Spec: LIV-3).

    LiveGridError
    ├── RemoteProtocolError    the other side sent what it may not; drop, count, go on
    ├── LocalProtocolError     our side asked for what the protocol cannot carry: a bug here
    ├── LimitReached           a stated bound of this package was reached: send less or later
    └── IllegalTransition      a state table was given a pair it does not list
"""

from __future__ import annotations

from typing import ClassVar

__all__ = (
    "IllegalTransition",
    "LimitReached",
    "LiveGridError",
    "LocalProtocolError",
    "RemoteProtocolError",
)


class LiveGridError(Exception):
    """Base of everything this package raises on purpose; cannot be raised itself."""

    code: ClassVar[str] = ""
    """Stable, documented name for logs and observers."""

    def __init__(self, message: str) -> None:
        if not self.code:
            raise TypeError(f"{type(self).__name__} is a family; raise one of its members")
        super().__init__(message)


class RemoteProtocolError(LiveGridError, ValueError):
    """The other side sent what it may not; the input is dropped, the connection lives (Fault: 5)."""

    code = "remote_protocol_error"


class LocalProtocolError(LiveGridError, ValueError):
    """Our side asked for what the protocol cannot carry: a bug here, not there."""

    code = "local_protocol_error"


class LimitReached(LiveGridError):
    """A bound of this package was reached: ``limit`` allows ``allowed``; send less or later."""

    code = "limit_reached"

    def __init__(self, limit: str, *, allowed: int) -> None:
        self.limit = limit
        self.allowed = allowed
        super().__init__(f"{limit}: at most {allowed} allowed")


class IllegalTransition(LiveGridError):
    """The state table ``table`` lists no row for (``state``, ``given``)."""

    code = "illegal_transition"

    def __init__(self, table: str, state: str, given: str) -> None:
        self.table = table
        self.state = state
        self.given = given
        super().__init__(f"{table}: no transition from {state} on {given}")
