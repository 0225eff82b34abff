"""How a circuit is set up: which end we are, and the numbers an owner may choose.

Owns the words that the parts of a circuit share; no behaviour.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec

from live_grid.limits import ACK_DELAY_S, DEAD_AFTER_S, PING_EVERY_S

__all__ = ("Address", "CircuitConfig", "Role")

Address: TypeAlias = tuple[str, int]
"""Host and port, compared as a whole."""


class Role(Enum):
    """Which end we are."""

    VIEWER = "viewer"
    SIMULATOR = "simulator"


class CircuitConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How a circuit behaves; the defaults suit a bot on any grid."""

    send_rate_bytes_s: float = 64_000.0
    """What leaves in the long run, resends included."""
    send_burst_bytes: float = 16_000.0
    """What leaves at once after a pause."""
    resends_max: int = 5
    """With doubling time-outs a message is given up after about half a minute."""
    ack_delay_s: float = ACK_DELAY_S
    """Longest time an ack waits for a packet to ride on."""
    ping_every_s: float = PING_EVERY_S
    dead_after_s: float = DEAD_AFTER_S
    """Silence after which the circuit is over."""
