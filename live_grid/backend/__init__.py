"""The grid port's adapter to a real grid: found by the entry point ``live`` of the group ``gridagent.backends``."""

from live_grid.backend.account import LiveAccount as LiveAccount
from live_grid.backend.account import LiveSettings as LiveSettings
from live_grid.backend.backend import LiveBackend as LiveBackend
from live_grid.backend.factory import live_backends as live_backends

__all__ = ("LiveAccount", "LiveBackend", "LiveSettings", "live_backends")
