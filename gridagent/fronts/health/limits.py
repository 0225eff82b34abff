"""Every bound of the health endpoint in one struct.

Owns the numbers and why they are what they are; the server and the exchange read them. Configuration has no key for
them: probes and collectors are few, and ask little.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = ("HealthLimits",)

Seconds = Annotated[float, Meta(gt=0.0, le=3_600.0)]


class HealthLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one endpoint."""

    connections_max: int = 16
    """Connections at one time. When all are taken, the one that asked nothing for the longest time makes room, so that
    nobody keeps a probe out by holding connections."""
    head_max_bytes: int = 8 * 1024
    """Request line and headers that have not come to their end."""
    requests_max: int = 1_000
    """Requests of one connection; then it is closed in order."""
    request_timeout_s: Seconds = 5.0
    """From the first byte of a request, or from the connection, to the end of its head."""
    idle_timeout_s: Seconds = 90.0
    """Between two requests; a collector that asks once a minute keeps its connection."""
    send_timeout_s: Seconds = 5.0
    """Time a reader has to take an answer; then it is dropped."""
    linger_timeout_s: Seconds = 1.0
    """After the answer to a request that broke a rule: what still comes is read and thrown away, so that the answer is
    not lost with the connection."""
    linger_max_bytes: int = 64 * 1024
    """The most that is thrown away."""
