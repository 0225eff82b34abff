"""A simulator on the wire: the simulated grid served over LLUDP and capabilities on loopback.

`serve_grid` runs it under trio; start reading with `live_grid.simulator.core`.
"""

from live_grid.simulator.accounts import DEFAULT_PASSWORD as DEFAULT_PASSWORD
from live_grid.simulator.accounts import Accounts as Accounts
from live_grid.simulator.core import SimulatorCore as SimulatorCore
from live_grid.simulator.faults import WireFaultKind as WireFaultKind
from live_grid.simulator.faults import WireFaults as WireFaults
from live_grid.simulator.memory_wire import MemoryWire as MemoryWire
from live_grid.simulator.profiles import OPENSIM as OPENSIM
from live_grid.simulator.profiles import PROFILES as PROFILES
from live_grid.simulator.profiles import SECOND_LIFE as SECOND_LIFE
from live_grid.simulator.profiles import WireProfile as WireProfile
from live_grid.simulator.server import GridServer as GridServer
from live_grid.simulator.server import serve_grid as serve_grid
from live_grid.simulator.statistics import SimulatorStatistics as SimulatorStatistics
from live_grid.simulator.wire import Wire as Wire

__all__ = (
    "DEFAULT_PASSWORD",
    "OPENSIM",
    "PROFILES",
    "SECOND_LIFE",
    "Accounts",
    "GridServer",
    "MemoryWire",
    "SimulatorCore",
    "SimulatorStatistics",
    "Wire",
    "WireFaultKind",
    "WireFaults",
    "WireProfile",
    "serve_grid",
)
