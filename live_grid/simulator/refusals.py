"""Which logins a fault refuses, and why: those that were ordered, and those that chance strikes.

Owns the order of what was ordered (Spec: LIV-15).
"""

from __future__ import annotations

from collections import deque
from typing import Final

from gridagent.events import DisconnectCause
from live_grid.simulator.faults import WireFaultKind
from live_grid.simulator.stage import Stage

__all__ = ("Refusals",)

_ORDERED_MAX: Final = 16


class Refusals:
    """Refuses logins.

    Args:
        stage: with the knobs and the chances.
    """

    __slots__ = ("_ordered", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._ordered: deque[DisconnectCause] = deque(maxlen=_ORDERED_MAX)

    def refuse_next(self, cause: DisconnectCause) -> None:
        """Refuse one login more for a cause; beyond the ceiling the oldest order is forgotten."""
        self._ordered.append(cause)

    def draw(self) -> DisconnectCause | None:
        """Tell why the login that is asked for now is refused, if it is."""
        stage = self._stage
        if self._ordered:
            stage.counts.add(WireFaultKind.LOGIN_REFUSED)
            return self._ordered.popleft()
        if stage.strikes(stage.faults.login_refused, WireFaultKind.LOGIN_REFUSED):
            return stage.rng.choice(stage.faults.login_causes)
        return None
