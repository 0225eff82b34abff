"""What the parts of the simulator share: the world, the map, the profile, chance, and a place for later.

Owns the bounded list of things to be done once the world's own call has returned: a world that tells somebody something
must not be called back from there. Made by the core, handed to everything else; decides nothing.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from gridagent.grid.simulated.world import World
from live_grid.simulator.faults import WireFaultCounts, WireFaultKind, WireFaults
from live_grid.simulator.limits import DEFERRED_MAX
from live_grid.simulator.places import Places
from live_grid.simulator.profiles import WireProfile

__all__ = ("Later", "Stage")

Later: TypeAlias = Callable[[float], None]
"""Something to do, given the seconds at which it is done."""
_NOTHING: Final = WireFaults()


@attrs.define(eq=False, kw_only=True)
class Stage:
    """The shared surroundings."""

    world: World
    places: Places
    profile: WireProfile
    rng: random.Random
    """Decides faults of the wire, and numbers that a client must not guess."""
    ids: Callable[[], str]
    """Returns a new canonical UUID a call."""
    counts: WireFaultCounts
    faults: WireFaults = _NOTHING
    base_url: str = ""
    """This server's address, with a slash at its end."""
    wake: Callable[[], None] = lambda: None
    """Called when something waits to be sent or done."""
    started_at_wall: int = 0
    """Unix seconds at the core's zero."""
    overlooked: int = 0
    """Things that were to be done later and found no room."""
    _later: deque[Later] = attrs.field(factory=lambda: deque(maxlen=DEFERRED_MAX), init=False)

    def defer(self, later: Later) -> None:
        """Do something once the world's call has returned."""
        if len(self._later) == DEFERRED_MAX:
            self.overlooked += 1
            return
        self._later.append(later)
        self.wake()

    def do_deferred(self, now: float) -> None:
        """Do everything that waits, in order, also what comes of it."""
        while self._later:
            self._later.popleft()(now)

    def strikes(self, chance: float, kind: WireFaultKind) -> bool:
        """Draw whether a fault happens, and count it."""
        # No draw for a knob that is off: turning one knob does not reshuffle the others' story.
        if chance <= 0 or self.rng.random() >= chance:
            return False
        self.counts.add(kind)
        return True
