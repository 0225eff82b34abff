"""The watchdog of a mind: what is raised in it ends its turns, not the session.

Owns the calls into a mind, and the count of those that broke. A mind that breaks forgets what is under way and goes on;
one that breaks too often takes its avatar down with it, so that a supervisor above may begin afresh. Used by
`gridagent.session.hosting`. Pure.

Invariant: nothing that a mind raises passes through here, and none of it is passed over: each is reported with its
error (Spec: SUP-7, SUP-10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from gridagent.mind import Mind, Moment, Thought
from gridagent.runtime.restart import RestartDecision, RestartIntensity, RestartWindow

__all__ = ("MindGuard",)

T = TypeVar("T")


class MindGuard:
    """Calls a mind.

    Args:
        mind: thinks.
        intensity: how often it may break within which time.
        report: takes what it raised; must not raise.
        escalate: called when it broke too often; once a breakage.
    """

    __slots__ = ("_broke", "_escalate", "_report", "_window", "mind")

    def __init__(
        self,
        mind: Mind,
        intensity: RestartIntensity,
        *,
        report: Callable[[Exception], None],
        escalate: Callable[[], None],
    ) -> None:
        self.mind = mind
        self._report = report
        self._escalate = escalate
        self._window = RestartWindow(intensity)
        self._broke = 0

    @property
    def broke(self) -> int:
        """How often it broke so far."""
        return self._broke

    def think(self, call: Callable[[], Sequence[Thought]], now: Moment) -> Sequence[Thought] | None:
        """Return what the mind thinks of something; None where it broke, and its turns have to end.

        Args:
            call: into the mind.
            now: the moment.
        """
        try:
            return tuple(call())
        except Exception as error:  # noqa: BLE001 - a supervisor of what it calls
            self._fell(error, now)
            return None

    def due(self, now: Moment) -> float | None:
        """Return when the mind wants to be called; None where it broke."""
        try:
            return self.mind.due()
        except Exception as error:  # noqa: BLE001 - the same
            self._fell(error, now)
            return None

    def end_turns(self, now: Moment) -> Sequence[Thought]:
        """Have the mind drop all that is under way; nothing where it breaks at that."""
        return self.think(lambda: self.mind.fence(now), now) or ()

    def _fell(self, error: Exception, now: Moment) -> None:
        self._broke += 1
        self._report(error)
        if self._window.record(now.monotonic) is RestartDecision.ESCALATE:
            self._escalate()
