"""The figures of a simulator at one moment."""

from __future__ import annotations

import msgspec

__all__ = ("SimulatorStatistics",)


class SimulatorStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one moment."""

    agents: int
    circuits: int
    lingering: int
    """Logins that are over and still resent to."""
    addresses: int
    """Capabilities that were given out."""
    strangers: int
    """Datagrams that belonged to no circuit and opened none."""
    malformed: int
    """Requests that could not be read."""
    unsaid: int
    """Messages that found no room on their circuit."""
    overlooked: int
    """Things that found no room to be done."""
    faults: dict[str, int]
