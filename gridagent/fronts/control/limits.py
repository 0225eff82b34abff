"""Every bound of the control endpoint in one struct.

Owns the numbers and why they are what they are; the server and the conversation read them. Configuration
has no key for them: an operator's tools need few connections and small frames.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from gridagent.limits import MESSAGE_MAX_BYTES

__all__ = ("ControlLimits",)

Seconds = Annotated[float, Meta(gt=0.0, le=3_600.0)]


class ControlLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one endpoint."""

    frame_max_bytes: int = MESSAGE_MAX_BYTES
    """One line, its line break included, in both directions (Spec: BND-7)."""
    connections_max: int = 32
    """Connections at one time. When all are taken, the oldest that has not shown the token makes room."""
    streams_max: int = 16
    """Connections that observe at one time: watching may not keep the kill switch out."""
    requests_burst: int = 100
    """Requests a connection may send at once."""
    requests_per_s: float = 50.0
    """Requests a connection may send for ever."""
    hello_timeout_s: Seconds = 5.0
    """Time to show the token."""
    idle_timeout_s: Seconds = 300.0
    """Time between two requests; a stream is never idle."""
    send_timeout_s: Seconds = 5.0
    """Time a reader has to take what it is sent; then it is dropped."""
    control_timeout_s: Seconds = 15.0
    """Time an avatar has to answer a control."""
