"""The grid port and its adapters; see `gridagent.grid.base` for the port."""

from gridagent.grid.base import BackendFactory as BackendFactory
from gridagent.grid.base import EventSink as EventSink
from gridagent.grid.base import GridBackend as GridBackend
from gridagent.grid.base import Redeem as Redeem
from gridagent.grid.base import RedeemedAction as RedeemedAction
from gridagent.grid.base import WorldMutator as WorldMutator

__all__ = ("BackendFactory", "EventSink", "GridBackend", "Redeem", "RedeemedAction", "WorldMutator")
