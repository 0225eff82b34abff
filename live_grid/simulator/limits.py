"""Every ceiling of the simulator on the wire, with the reason for its number.

Owns the numbers and nothing else; what a stranger can send is bounded by them (Spec: LIV-15, BND-7).
"""

from __future__ import annotations

from typing import Final

__all__ = (
    "AGENTS_MAX",
    "CONNECTIONS_MAX",
    "DATAGRAMS_HELD_MAX",
    "DEFERRED_MAX",
    "EVENTS_WAITING_MAX",
    "HEADERS_MAX",
    "HEAD_MAX_BYTES",
    "HTTP_HELD_MAX",
    "IDLE_CONNECTION_S",
    "REQUESTS_PER_CONNECTION_MAX",
    "REQUEST_MAX_BYTES",
    "UNPROVED_ARRIVAL_S",
    "VISITS_MAX",
)

KIB: Final = 1024

AGENTS_MAX: Final = 256
"""Avatars logged in over the wire at once; one more is told to come back later."""
VISITS_MAX: Final = 16
"""Circuits of one avatar: its region and the neighbours around it."""
CONNECTIONS_MAX: Final = 512
"""HTTP connections: a client keeps one for its long poll and one for everything else."""
HEAD_MAX_BYTES: Final = 16 * KIB
"""Request line and headers of one HTTP request."""
HEADERS_MAX: Final = 64
"""Headers of one HTTP request."""
REQUEST_MAX_BYTES: Final = 1024 * KIB
"""Body of one HTTP request: a seed request of every name that exists takes 8 KiB."""
REQUESTS_PER_CONNECTION_MAX: Final = 10_000
"""Requests on one connection before it is closed in order."""
IDLE_CONNECTION_S: Final = 120.0
"""A connection on which nothing comes is closed after so long; a held poll is not idle."""
EVENTS_WAITING_MAX: Final = 256
"""Events that wait in one event queue; Second Life overflows at about 100. The oldest goes, and is counted."""
DEFERRED_MAX: Final = 4_096
"""Things to be done once the world's call has returned."""
DATAGRAMS_HELD_MAX: Final = 8_192
"""Datagrams that a fault knob delays; one more passes at once."""
HTTP_HELD_MAX: Final = 1_024
"""HTTP answers that a fault knob delays; one more passes at once."""
UNPROVED_ARRIVAL_S: Final = 60.0
"""A login without a circuit, and a circuit without presence, are given up after so long."""
