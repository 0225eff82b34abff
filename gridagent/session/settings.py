"""What a session needs to know of its avatar, apart from who decides and who thinks.

Owns one frozen struct; the composition root fills it from the configuration, embedders by hand.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gridagent.ids import AvatarKey
from gridagent.limits import (
    CONTROL_QUEUE_MAX,
    GRID_EVENT_QUEUE_MAX,
    LLM_REQUESTS_MAX,
    OBSERVABLE_QUEUE_MAX,
    OFFLINE_WORK_MAX,
)
from gridagent.runtime.restart import RestartIntensity
from gridagent.session.reconnect import ReconnectDelays

__all__ = ("OnBackendFailure", "SessionSettings")


class OnBackendFailure(StrEnum):
    """What a connection that ends by itself leads to (Spec: SUP-1)."""

    FAIL = "fail"
    """Offline mode: the agent ends in ``failed``."""
    RECONNECT = "reconnect"
    """Live mode: the reconnect table decides by cause (Spec: SUP-6)."""


def _checked(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is from {low} to {high}, not {value}")


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds and habits of one session.

    Raises:
        ValueError: a number is outside its range.
    """

    key: AvatarKey
    on_backend_failure: OnBackendFailure = OnBackendFailure.FAIL
    connect_at_start: bool = True
    start_after_s: float = 0.0
    """Seconds before the first login, so that many avatars do not log in at once."""
    grid_events_max: int = 1024
    """Events that may wait for the session; the backend waits beyond it (Spec: BND-1)."""
    controls_max: int = 64
    """Controls that may wait (Spec: BND-2)."""
    observables_max: int = 1024
    """Observations that may wait for one subscriber (Spec: BND-3)."""
    offline_work_max: int = 256
    """Look-ups that may wait until the avatar is in the world; one more is refused (Spec: BND-6)."""
    ask_over_im: bool = True
    """Ask the configured approvers over IM when an approval opens (Spec: POL-7); the operator can always answer."""
    workers_max: int = 16
    """Actions in flight at once (Spec: BND-4)."""
    errands_max: int = 16
    """Requests to a model and look-ups under way at once (Spec: BND-4)."""
    doubts_settle_s: float = 60.0
    """Seconds in the world again after which nothing of an earlier connection is on its way any more (Spec: EFX-2)."""
    shutdown_timeout_s: float = 10.0
    """Seconds each of the backend and the coordinator gets to end in order (Spec: SUP-3)."""
    logout_timeout_s: float = 5.0
    """Seconds a logout may take (Spec: SUP-9)."""
    delays: ReconnectDelays = ReconnectDelays()
    fault_intensity: RestartIntensity = RestartIntensity(max_restarts=5, window_s=300.0)
    """How often our own backend may break before the agent fails, and how often its mind (Spec: SUP-7)."""
    last_generation: int = 0
    """Number of the last generation of an earlier process."""

    def __post_init__(self) -> None:
        """Check every bound against its ceiling."""
        _checked("start_after_s", self.start_after_s, 0.0, 86_400.0)
        _checked("grid_events_max", self.grid_events_max, 1, GRID_EVENT_QUEUE_MAX)
        _checked("controls_max", self.controls_max, 1, CONTROL_QUEUE_MAX)
        _checked("observables_max", self.observables_max, 1, OBSERVABLE_QUEUE_MAX)
        _checked("offline_work_max", self.offline_work_max, 0, OFFLINE_WORK_MAX)
        _checked("workers_max", self.workers_max, 1, LLM_REQUESTS_MAX)
        _checked("errands_max", self.errands_max, 1, LLM_REQUESTS_MAX)
        _checked("doubts_settle_s", self.doubts_settle_s, 1.0, 3_600.0)
        _checked("shutdown_timeout_s", self.shutdown_timeout_s, 0.1, 300.0)
        _checked("logout_timeout_s", self.logout_timeout_s, 0.1, self.shutdown_timeout_s)
