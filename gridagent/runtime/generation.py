"""The generation fence: at most one live run of something, and nothing late from an earlier one.

Owns the number that counts up with every run, the cancel scope of the live one, and the verdict
whether a result with a number may still be used. May not know what a run does. Its owner calls, in
this order: `GenerationFence.open`, `invalidate` (before any clean-up), `retire` (after it).

Invariant: `admits` is true for at most one number, and never again for a number once it was false
after being true; a new generation opens only after the last was fenced and cleaned up
(Spec: SUP-5, BND-5).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec
import trio

from gridagent.errors import ResourceBusy
from gridagent.state_table import StateTable

__all__ = (
    "GENERATION_TABLE",
    "FenceInput",
    "FenceState",
    "FenceStatistics",
    "Generation",
    "GenerationFence",
)


class FenceState(Enum):
    """Where a fence is."""

    IDLE = "idle"
    """Nothing runs; a generation may open."""
    LIVE = "live"
    """Results of the current number are admitted."""
    FENCED = "fenced"
    """The last generation is over but not yet cleaned up; nothing is admitted."""


class FenceInput(Enum):
    """What its owner can do to it."""

    OPEN = "open"
    INVALIDATE = "invalidate"
    RETIRE = "retire"


GENERATION_TABLE: Final = StateTable(
    "generation",
    initial=FenceState.IDLE,
    transitions={
        (FenceState.IDLE, FenceInput.OPEN): FenceState.LIVE,
        # There is no way from LIVE to IDLE: clean-up always runs behind the fence.
        (FenceState.LIVE, FenceInput.INVALIDATE): FenceState.FENCED,
        (FenceState.FENCED, FenceInput.RETIRE): FenceState.IDLE,
    },
)


class FenceStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A fence at one moment."""

    state: FenceState
    number: int
    """The newest generation's number; the start number while there was none."""
    opened: int
    fenced: int
    """Late results turned away."""


class Generation:
    """One run: its number and the scope its work lives in. Made by `GenerationFence.open` only."""

    __slots__ = ("_fence", "number", "scope")

    def __init__(self, fence: GenerationFence, number: int) -> None:
        self._fence = fence
        self.number = number
        self.scope = trio.CancelScope()
        """Enter it once, round everything this generation does; `GenerationFence.invalidate` cancels it."""

    def __repr__(self) -> str:
        return f"<Generation {self.number} {'live' if self.live else 'over'}>"

    @property
    def live(self) -> bool:
        """Whether this generation is the current one and was not invalidated."""
        return self._fence.current is self


class GenerationFence:
    """The fence of one owner.

    Args:
        last: number of the last generation of an earlier process; the first here is one more. 0 is "none yet".

    Raises:
        ValueError: ``last`` is negative.
    """

    __slots__ = ("_current", "_fenced", "_name", "_number", "_opened", "_state")

    def __init__(self, last: int = 0, *, name: str = "generation") -> None:
        if last < 0:
            raise ValueError(f"{name}: the last number is at least 0, not {last}")
        self._name = name
        self._number = last
        self._state = GENERATION_TABLE.initial
        self._current: Generation | None = None
        self._opened = 0
        self._fenced = 0

    def __repr__(self) -> str:
        return f"<GenerationFence {self._name} {self._number} {self._state.value}>"

    @property
    def current(self) -> Generation | None:
        """The live generation, or None."""
        return self._current

    @property
    def number(self) -> int:
        """The newest generation's number, live or not; the start number while there was none."""
        return self._number

    def open(self) -> Generation:
        """Start the next generation.

        Raises:
            ResourceBusy: the last one is live, or fenced but not cleaned up.
        """
        if not self.retired():
            raise ResourceBusy(self._name, f"number {self._number} is {self._state.value}")
        self._step(FenceInput.OPEN)
        self._number += 1
        self._opened += 1
        self._current = Generation(self, self._number)
        return self._current

    def invalidate(self) -> None:
        """End the live generation: from this line on nothing of it is admitted, and its scope is cancelled.

        Idempotent; without a live generation it does nothing. Call it before clean-up.
        """
        if self._current is None:
            return
        ended, self._current = self._current, None
        self._step(FenceInput.INVALIDATE)
        ended.scope.cancel(reason=f"{self._name} {ended.number} is over")

    def retire(self) -> None:
        """Say that the invalidated generation is cleaned up, so that the next may open.

        Raises:
            IllegalTransition: it is still live, or there is none: the order of calls is broken.
        """
        self._step(FenceInput.RETIRE)

    def retired(self) -> bool:
        """Tell whether the next generation may open."""
        return self._state is FenceState.IDLE

    def admits(self, number: int) -> bool:
        """Tell whether a result that carries ``number`` may be used; counts it as fenced if not."""
        if self._current is not None and self._current.number == number:
            return True
        self._fenced += 1
        return False

    def statistics(self) -> FenceStatistics:
        """Return the counts."""
        return FenceStatistics(state=self._state, number=self._number, opened=self._opened, fenced=self._fenced)

    def _step(self, given: FenceInput) -> None:
        self._state = GENERATION_TABLE.step(self._state, given)
