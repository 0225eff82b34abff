"""Circuits: reliable and unreliable messages over datagrams, sans-IO."""

from live_grid.circuit.circuit import Circuit as Circuit
from live_grid.circuit.config import Address as Address
from live_grid.circuit.config import CircuitConfig as CircuitConfig
from live_grid.circuit.config import Role as Role
from live_grid.circuit.events import CircuitEnded as CircuitEnded
from live_grid.circuit.events import CircuitEvent as CircuitEvent
from live_grid.circuit.events import CircuitStatistics as CircuitStatistics
from live_grid.circuit.events import MessageDelivered as MessageDelivered
from live_grid.circuit.events import MessageLost as MessageLost
from live_grid.circuit.events import MessageReceived as MessageReceived
from live_grid.circuit.state import CIRCUIT_TABLE as CIRCUIT_TABLE

__all__ = (
    "CIRCUIT_TABLE",
    "Address",
    "Circuit",
    "CircuitConfig",
    "CircuitEnded",
    "CircuitEvent",
    "CircuitStatistics",
    "MessageDelivered",
    "MessageLost",
    "MessageReceived",
    "Role",
)
