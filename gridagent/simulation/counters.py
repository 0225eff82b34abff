"""``sometimes`` counters: proof that what a simulation is meant to try really happened (Spec: SIM-3).

Owns the list of names and the rows, observations and facts each is counted from. Judges nothing: a
counter at zero says that a run tried less than it promises, and fails it where that is asked for.
A fault that is coded and never happens is not tested; without counters nobody would know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gridagent.simulation.views import AuditView, BodyView

__all__ = ("NAMES", "Sometimes")

_AGENT_STATES: Final = ("starting", "running", "paused", "stopping", "stopped", "failed")
_LINK_STATES: Final = (
    "stopped",
    "connecting",
    "degraded",
    "online",
    "backoff",
    "authentication-blocked",
    "paused",
    "shutting-down",
)

_OF_CRASHES: Final = (
    "power_cut",
    "process_killed",
    "torn_write",
    "lost_unsynced_commit",
    "crash_between_sent_and_confirmed",
    "effect_lost_unsent",
    "budget_restored",
    "approval_answered_after_restart",
)
"""What can only happen to a service that keeps something."""
NAMES: Final = (
    "stale_generation_fenced",
    "late_result_fenced",
    "old_sink_refused",
    "queue_full",
    "subscriber_lagged",
    "action_authorized",
    "action_performed",
    "action_confirmed",
    "action_refused",
    "action_in_doubt",
    "doubt_that_had_happened",
    "doubt_that_had_not_happened",
    "money_paid",
    "budget_denied",
    "matrix_denied",
    "taint_denied",
    "target_denied",
    "pattern_denied",
    "object_text_denied",
    "invalid_arguments_denied",
    "duplicate_denied",
    "held_denied",
    "approval_allowed",
    "approval_denied",
    "approval_expired",
    "approval_answered_twice",
    "approval_superseded",
    "approval_allowed_by_im",
    "approval_wrong_person",
    "approval_wrong_nonce",
    "policy_reloaded",
    "handle_expired",
    "replay_refused",
    "forged_refused",
    "stale_handle_refused",
    "kicked",
    "region_restart",
    "disconnect",
    "disconnect_mid_action",
    "evidence_lost",
    "request_lost",
    "login_refused",
    "logout_lost",
    "event_duplicated",
    "event_reordered",
    "stall",
    "flood",
    "flood_shed",
    "backend_fault",
    "recovered_after_calm",
    *_OF_CRASHES,
    *(f"shutdown_in_agent_{state}" for state in _AGENT_STATES),
    *(f"shutdown_in_link_{state}" for state in _LINK_STATES),
)
"""Every counter, in the order of the report."""

_BY_DENIAL: Final[Mapping[str, str]] = {
    "authorized": "action_authorized",
    "budget_spent": "budget_denied",
    "origin_may_not": "matrix_denied",
    "role_too_low": "matrix_denied",
    "tainted": "taint_denied",
    "target_not_authorised": "target_denied",
    "pattern_denied": "pattern_denied",
    "invalid_arguments": "invalid_arguments_denied",
    "duplicate": "duplicate_denied",
    "held": "held_denied",
}
_BY_REDEEM: Final[Mapping[str, str]] = {
    "expired": "handle_expired",
    "replayed": "replay_refused",
    "forged": "forged_refused",
    "unknown": "forged_refused",
    "stale_generation": "stale_handle_refused",
}
_BY_APPROVAL: Final[Mapping[str, str]] = {
    "allowed": "approval_allowed",
    "denied": "approval_denied",
    "expired": "approval_expired",
    "already_answered": "approval_answered_twice",
    "superseded": "approval_superseded",
    "wrong_person": "approval_wrong_person",
    "wrong_nonce": "approval_wrong_nonce",
}
_BY_SETTLEMENT: Final[Mapping[str, str]] = {"confirmed": "action_confirmed", "in_doubt": "action_in_doubt"}
_BY_FINDING: Final[Mapping[str, str]] = {
    "confirmed": "doubt_that_had_happened",
    "refused": "doubt_that_had_not_happened",
}
_BY_FENCED: Final[Mapping[str, str]] = {"event": "stale_generation_fenced", "result": "late_result_fenced"}
_WORDS: Final = ("chat_heard", "im_received")
"""What a flood consists of; objects and avatars seen again are shed at a login already."""
_BY_FAULT: Final = (
    "disconnect",
    "disconnect_mid_action",
    "evidence_lost",
    "request_lost",
    "login_refused",
    "logout_lost",
    "event_duplicated",
    "event_reordered",
    "stall",
    "flood",
)
_BY_CAUSE: Final[Mapping[str, str]] = {"kicked": "kicked", "region_restart": "region_restart"}


class Sometimes:
    """How often each thing happened.

    Args:
        crashes: whether processes die and the power goes off; what only comes of that is not counted otherwise.
    """

    __slots__ = ("_counts",)

    def __init__(self, *, crashes: bool = True) -> None:
        wanted = NAMES if crashes else tuple(name for name in NAMES if name not in _OF_CRASHES)
        self._counts: dict[str, int] = dict.fromkeys(wanted, 0)

    def saw(self, name: str, times: int = 1) -> None:
        """Count something that happened.

        Raises:
            KeyError: no counter is called that.
        """
        self._counts[name] += times

    def row(self, row: AuditView) -> None:
        """Count what an audit row tells."""
        name: str | None = None
        if row.kind == "decision":
            name = _BY_DENIAL.get(row.code)
            if row.origin == "object_text":
                self.saw("object_text_denied")
        elif row.kind == "redeem_refused":
            name = _BY_REDEEM.get(row.code)
        elif row.kind == "approval":
            name = _BY_APPROVAL.get(row.code)
            if name == "approval_allowed" and row.origin == "direct_im":
                name = "approval_allowed_by_im"
        elif row.kind == "settlement":
            found_out = row.settled_by == "reconciliation"
            name = (_BY_FINDING if found_out else _BY_SETTLEMENT).get(row.code)
        elif row.kind == "policy":
            name = "policy_reloaded"
        if name is not None:
            self._counts[name] += 1

    def body(self, body: BodyView) -> None:
        """Count what an observation tells."""
        if body.kind == "fenced":
            name = _BY_FENCED.get(body.what)
            if name is not None:
                self._counts[name] += body.count
        elif body.kind == "event" and body.event is not None and body.event.kind in _WORDS:
            self._counts["flood_shed"] += body.event.count
        elif body.kind == "generation_closed":
            name = _BY_CAUSE.get(body.cause or "")
            if name is not None:
                self._counts[name] += 1
        elif body.kind == "outcome" and body.outcome is not None and body.outcome.outcome == "refused":
            self._counts["action_refused"] += 1

    def faults(self, happened: Mapping[str, int]) -> None:
        """Add the faults that really happened on connections."""
        for name in _BY_FAULT:
            self._counts[name] += happened.get(name, 0)

    def shut_down_in(self, agent: str, link: str) -> None:
        """Count a shutdown by the state it met."""
        self._counts[f"shutdown_in_agent_{agent}"] += 1
        self._counts[f"shutdown_in_link_{link}"] += 1

    def add(self, other: Mapping[str, int]) -> None:
        """Add the counts of another run."""
        for name in self._counts:
            self._counts[name] += other.get(name, 0)

    def snapshot(self) -> dict[str, int]:
        """Return every count by name, zeros too."""
        return dict(self._counts)

    def never(self) -> tuple[str, ...]:
        """Return the names of what has not happened."""
        return tuple(name for name, count in self._counts.items() if count == 0)
