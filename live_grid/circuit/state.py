"""Where a circuit stands, and what ends it: the transition table.

Owns the states and inputs; what follows from them is done in `live_grid.circuit.circuit`.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from live_grid.state_table import StateTable

__all__ = ("CIRCUIT_TABLE", "CircuitInput", "CircuitState")


class CircuitState(Enum):
    """Where a circuit stands."""

    OPEN = "open"
    CLOSING = "closing"
    """Our farewell has not left yet."""
    ENDED = "ended"


class CircuitInput(Enum):
    """What ends it."""

    CLOSE = "close"
    FAREWELL_SENT = "farewell_sent"
    PEER_CLOSED = "peer_closed"
    SILENCE = "silence"


CIRCUIT_TABLE: Final[StateTable[CircuitState, CircuitInput]] = StateTable(
    "circuit",
    initial=CircuitState.OPEN,
    transitions={
        (CircuitState.OPEN, CircuitInput.CLOSE): CircuitState.CLOSING,
        (CircuitState.OPEN, CircuitInput.PEER_CLOSED): CircuitState.ENDED,
        (CircuitState.OPEN, CircuitInput.SILENCE): CircuitState.ENDED,
        (CircuitState.CLOSING, CircuitInput.FAREWELL_SENT): CircuitState.ENDED,
    },
    terminal=frozenset({CircuitState.ENDED}),
)
