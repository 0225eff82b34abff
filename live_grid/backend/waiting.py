"""Who waits for which evidence: one entry an action, settled once.

Owns the waits and their judging by `gridagent.grid.evidence`, which every backend shares. One piece of evidence
settles one action, the oldest that it fits (Spec: EFX-1).
"""

from __future__ import annotations

import trio

from gridagent.actions import Action, InDoubt, Outcome
from gridagent.events import GridEvent
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.limits import OPEN_EFFECTS_MAX, Label

__all__ = ("Wait", "Waits")


class Wait:
    """One action that waits for its evidence."""

    __slots__ = ("action", "outcome", "reference", "settled")

    def __init__(self, action: Action, reference: Label) -> None:
        self.action = action
        self.reference = reference
        self.outcome: Outcome | None = None
        self.settled = trio.Event()

    def settle(self, outcome: Outcome) -> None:
        """End the wait."""
        self.outcome = outcome
        self.settled.set()


class Waits:
    """Every wait of one connection.

    Args:
        context: who acts, and who is where.
    """

    __slots__ = ("_context", "_open")

    def __init__(self, context: EvidenceContext) -> None:
        self._context = context
        self._open: list[Wait] = []  # bounded in `full`

    @property
    def idle(self) -> bool:
        """Whether nobody waits."""
        return not self._open

    @property
    def full(self) -> bool:
        """Whether as many wait as may."""
        return len(self._open) >= OPEN_EFFECTS_MAX

    def add(self, wait: Wait) -> None:
        """Begin to wait; there must be room."""
        self._open.append(wait)

    def remove(self, wait: Wait) -> None:
        """Cease to wait; doing so twice does nothing."""
        if wait in self._open:
            self._open.remove(wait)

    def has(self, reference: Label) -> bool:
        """Tell whether somebody waits for the evidence of a deed."""
        return any(wait.reference == reference for wait in self._open)

    def judge(self, event: GridEvent) -> None:
        """Settle the oldest wait that an event is evidence for, if any."""
        for wait in self._open:
            verdict = judge(wait.action, wait.reference, event, self._context)
            if verdict is not None:
                self._open.remove(wait)
                wait.settle(verdict)
                return

    def settle_all(self) -> None:
        """End every wait in doubt: the connection is over."""
        waits, self._open = self._open, []
        for wait in waits:
            wait.settle(InDoubt(reason="connection_lost"))
