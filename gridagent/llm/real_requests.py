"""The switch that keeps tests from asking a real model.

Owns one process-wide flag, on purpose: a test-suite turns it once, and no test that forgets something can reach a
paid endpoint. `gridagent.llm.transport` asks it before each request; nothing else does. Offline and scripted
models are not real and never stopped.

Invariant: while requests are forbidden nothing is sent, and whoever tries gets a bug, not a failure that a
fallback line could hide.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from gridagent.errors import InternalError

__all__ = ("RealRequests", "allow_real_requests", "check_real_request", "real_requests")


class RealRequests(Enum):
    """To where requests may go."""

    ANYWHERE = "anywhere"
    LOOPBACK = "loopback"
    """To servers on this machine only: a test's own."""
    NOWHERE = "nowhere"


class _Switch:
    __slots__ = ("allowed",)

    def __init__(self) -> None:
        self.allowed = RealRequests.ANYWHERE


_SWITCH = _Switch()


def real_requests() -> RealRequests:
    """Return to where requests may go now."""
    return _SWITCH.allowed


@contextmanager
def allow_real_requests(allowed: RealRequests) -> Iterator[None]:
    """Say to where requests may go while the block lasts, in the whole process."""
    before = _SWITCH.allowed
    _SWITCH.allowed = allowed
    try:
        yield
    finally:
        _SWITCH.allowed = before


def check_real_request(*, loopback: bool) -> None:
    """Let a request to a model pass, or not.

    Raises:
        InternalError: requests of this kind are forbidden here.
    """
    if _SWITCH.allowed is RealRequests.NOWHERE or (_SWITCH.allowed is RealRequests.LOOPBACK and not loopback):
        raise InternalError("a request to a real model was made where they are forbidden (see allow_real_requests)")
