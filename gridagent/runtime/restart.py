"""When a child runs again, when its owner gives up, and how long it waits in between.

Owns the restart classes, the sliding window of restarts, the back-off and the state table of a
child. Pure: the time is an argument in seconds of one clock that never goes back, randomness is a
`random.Random` the caller seeded. `gridagent.runtime.supervisor` performs what is decided here.

Invariant: in any window of ``window_s`` at most ``max_restarts`` restarts are granted (Spec: SUP-7).
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from math import isfinite
from random import Random
from typing import Final, Self

import msgspec

from gridagent.errors import LimitExceeded
from gridagent.state_table import StateTable

__all__ = (
    "CHILD_TABLE",
    "RESTARTS_MAX",
    "Backoff",
    "ChildInput",
    "ChildState",
    "RestartClass",
    "RestartDecision",
    "RestartIntensity",
    "RestartWindow",
    "restarts_after",
)

RESTARTS_MAX: Final = 1_024
"""Largest ``max_restarts``: a window remembers this many moments at most."""


class RestartClass(Enum):
    """Which ends of a child are followed by a restart."""

    PERMANENT = "permanent"
    """Every end."""
    TRANSIENT = "transient"
    """Only a failure."""
    TEMPORARY = "temporary"
    """None."""


class RestartDecision(Enum):
    """What a failing child's window says."""

    RESTART = "restart"
    ESCALATE = "escalate"


class ChildState(Enum):
    """Where a supervised child is."""

    RUNNING = "running"
    BACKOFF = "backoff"
    """It ended and waits to run again."""
    STOPPING = "stopping"
    """It was asked to stop."""
    STOPPED = "stopped"
    """It ended because it was asked to."""
    FINISHED = "finished"
    """It ended by itself and its class does not run it again."""
    ESCALATED = "escalated"
    """It ended too often; the failure went up."""


class ChildInput(Enum):
    """What can happen to a supervised child."""

    RESTART = "restart"
    FINISH = "finish"
    ESCALATE = "escalate"
    RUN = "run"
    STOP = "stop"
    GONE = "gone"


CHILD_TABLE: Final = StateTable(
    "child",
    initial=ChildState.RUNNING,
    transitions={
        (ChildState.RUNNING, ChildInput.RESTART): ChildState.BACKOFF,
        (ChildState.RUNNING, ChildInput.FINISH): ChildState.FINISHED,
        (ChildState.RUNNING, ChildInput.ESCALATE): ChildState.ESCALATED,
        (ChildState.RUNNING, ChildInput.STOP): ChildState.STOPPING,
        (ChildState.BACKOFF, ChildInput.RUN): ChildState.RUNNING,
        (ChildState.BACKOFF, ChildInput.STOP): ChildState.STOPPING,
        # However a child ends once it was asked to stop, it is stopped: it never runs again.
        (ChildState.STOPPING, ChildInput.GONE): ChildState.STOPPED,
    },
    terminal=frozenset({ChildState.STOPPED, ChildState.FINISHED, ChildState.ESCALATED}),
)


def restarts_after(restart: RestartClass, *, failed: bool) -> bool:
    """Tell whether a child of this class wants to run again after this end."""
    return restart is RestartClass.PERMANENT or (failed and restart is RestartClass.TRANSIENT)


class RestartIntensity(msgspec.Struct, frozen=True, kw_only=True):
    """How many restarts in how long are still normal.

    Erlang's advice holds: totals multiply over the levels of a tree, so keep the numbers small.

    Raises:
        LimitExceeded: ``max_restarts`` is over `RESTARTS_MAX`.
        ValueError: ``max_restarts`` is negative, or ``window_s`` is not positive and finite.
    """

    max_restarts: int = 5
    window_s: float = 30.0
    """Seconds."""

    def __post_init__(self) -> None:
        """Check both numbers."""
        if self.max_restarts > RESTARTS_MAX:
            raise LimitExceeded("max_restarts", allowed=RESTARTS_MAX, seen=self.max_restarts)
        if self.max_restarts < 0:
            raise ValueError(f"max_restarts is at least 0, not {self.max_restarts}")
        if not (isfinite(self.window_s) and self.window_s > 0):
            raise ValueError(f"window_s is a positive number of seconds, not {self.window_s}")


class RestartWindow:
    """The restarts of one child that still count.

    Bounds: remembers at most ``max_restarts`` moments.
    """

    __slots__ = ("_granted", "_intensity")

    def __init__(self, intensity: RestartIntensity) -> None:
        self._intensity = intensity
        self._granted: deque[float] = deque(maxlen=max(1, intensity.max_restarts))

    def record(self, now: float) -> RestartDecision:
        """Grant one more restart, or say that there were too many.

        Args:
            now: seconds; never less than in the call before.
        """
        granted = self._granted
        while granted and now - granted[0] >= self._intensity.window_s:
            granted.popleft()
        if len(granted) >= self._intensity.max_restarts:
            return RestartDecision.ESCALATE
        granted.append(now)
        return RestartDecision.RESTART


class Backoff:
    """How long to wait before the next try: exponential with full jitter.

    Full jitter (a uniform draw from zero to the ceiling) spreads many children that fail together.
    The ceiling falls back to ``base_s`` only after the child was up for ``healthy_after_s``: one that
    comes up and falls over at once keeps climbing (Spec: SUP-6).

    Args:
        base_s: ceiling of the first wait, seconds.
        cap_s: ceiling of every wait, seconds.
        healthy_after_s: seconds of being up that prove health.

    Raises:
        ValueError: not ``0 < base_s <= cap_s``, or a negative or endless ``healthy_after_s``.
    """

    __slots__ = ("_ceiling_s", "_up_since", "base_s", "cap_s", "healthy_after_s")

    def __init__(self, base_s: float, cap_s: float, healthy_after_s: float) -> None:
        if not (isfinite(cap_s) and 0 < base_s <= cap_s):
            raise ValueError(f"a back-off needs 0 < base_s <= cap_s, not {base_s} and {cap_s}")
        if not (isfinite(healthy_after_s) and healthy_after_s >= 0):
            raise ValueError(f"healthy_after_s is a number of seconds from 0, not {healthy_after_s}")
        self.base_s = base_s
        self.cap_s = cap_s
        self.healthy_after_s = healthy_after_s
        self._ceiling_s = base_s
        self._up_since: float | None = None

    @property
    def ceiling_s(self) -> float:
        """The longest the next wait can be, in seconds."""
        return self._ceiling_s

    def fresh(self) -> Self:
        """Return another one with the same times and no history."""
        return type(self)(self.base_s, self.cap_s, self.healthy_after_s)

    def next_delay(self, rng: Random) -> float:
        """Return the seconds to wait now, and double the ceiling of the next wait."""
        delay = rng.uniform(0.0, self._ceiling_s)
        self._ceiling_s = min(self.cap_s, self._ceiling_s * 2)
        return delay

    def note_up(self, now: float) -> None:
        """Note that the child works since ``now``; a second call before it is down changes nothing."""
        if self._up_since is None:
            self._up_since = now

    def note_down(self, now: float) -> None:
        """Note that the child no longer works; forget earlier failures if it had proved healthy."""
        if self._up_since is not None and now - self._up_since >= self.healthy_after_s:
            self._ceiling_s = self.base_s
        self._up_since = None
