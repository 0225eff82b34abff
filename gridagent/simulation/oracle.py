"""The judge of a simulated run: sees from outside what was asked, decided, done and said, and finds breaches.

Owns the violations and what happened just before each. What is held, avatar by avatar and life by life, is in
`gridagent.simulation.account`; the policy is worked out anew in `gridagent.simulation.rulebook`. All of it
shares no code with what it judges: it imports the vocabulary's values and JSON, and is told everything in
the one order in which it happened (Spec: SIM-3).

Invariant: it changes nothing, and what it cannot explain is a violation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from gridagent.simulation.history import History

__all__ = ("Oracle", "Violation")

TRACE_LINES: Final = 40
VIOLATIONS_MAX: Final = 20


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One breach of an invariant."""

    seed: int
    at_s: float
    """Simulated seconds since the run began."""
    avatar: str
    rule: str
    detail: str
    trace: tuple[str, ...]
    """What happened just before, oldest first."""


class Oracle:
    """Keeps the accounts of all avatars of one run.

    Args:
        seed: names the run in every violation.
        clock: simulated seconds.
    """

    def __init__(self, *, seed: int, clock: Callable[[], float]) -> None:
        self.violations: list[Violation] = []  # at most VIOLATIONS_MAX
        self.checked = 0
        """Facts that were judged."""
        self._seed = seed
        self._clock = clock
        self._trace: deque[tuple[float, str, str, str]] = deque(maxlen=TRACE_LINES)

    @property
    def now(self) -> float:
        """Simulated seconds."""
        return self._clock()

    def note(self, avatar: str, what: str, detail: str = "") -> None:
        """Put a line into the trace."""
        self.checked += 1
        self._trace.append((self._clock(), avatar, what, detail))

    def breach(self, avatar: str, rule: str, detail: str) -> None:
        """Record a violation."""
        if len(self.violations) < VIOLATIONS_MAX:
            trace = tuple(f"{at:.3f} {who} {what} {said}".rstrip() for at, who, what, said in self._trace)
            self.violations.append(
                Violation(
                    seed=self._seed, at_s=round(self._clock(), 3), avatar=avatar, rule=rule, detail=detail, trace=trace
                )
            )

    def new_history(self, avatar: str, *, generation: int = 0) -> History:
        """Begin the history of one avatar."""
        return History(self, avatar, generation)

    def deaf(self) -> Oracle:
        """Return an oracle that nobody asks: what the dead say goes there."""
        return Oracle(seed=self._seed, clock=self._clock)
