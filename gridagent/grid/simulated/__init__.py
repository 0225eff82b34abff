"""The simulated grid: a virtual world in memory that ships with the product (Spec: SIM-1).

`World` is the sans-IO core, `open_simulated_grid` runs it under trio, and ``scenario`` reads one from a
file. Start with `gridagent.grid.simulated.world`; each verb has its own module beside it.
"""

from gridagent.grid.simulated.avatars import Account as Account
from gridagent.grid.simulated.avatars import Place as Place
from gridagent.grid.simulated.faults import FaultKind as FaultKind
from gridagent.grid.simulated.faults import Faults as Faults
from gridagent.grid.simulated.grid import SimulatedGrid as SimulatedGrid
from gridagent.grid.simulated.grid import open_simulated_grid as open_simulated_grid
from gridagent.grid.simulated.objects import Thing as Thing
from gridagent.grid.simulated.parcels import Land as Land
from gridagent.grid.simulated.state import WorldSettings as WorldSettings
from gridagent.grid.simulated.world import World as World

__all__ = (
    "Account",
    "FaultKind",
    "Faults",
    "Land",
    "Place",
    "SimulatedGrid",
    "Thing",
    "World",
    "WorldSettings",
    "open_simulated_grid",
)
