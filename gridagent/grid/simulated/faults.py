"""Fault knobs: what may go wrong between a client and the simulated grid, how often, and what did.

Owns the knobs and the counts; does nothing itself (that is `gridagent.grid.simulated.link`). Chances are
per event or action, rates are per hour in the world. Invariant: a fault is counted when it really
happened, never when it was only drawn (Spec: SIM-3).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.errors import ConfigError, ConfigProblem
from gridagent.events import DisconnectCause
from gridagent.limits import Bounded

__all__ = ("FLOOD_PER_S_MAX", "LOGIN_CAUSES", "FaultCounts", "FaultKind", "Faults", "without_faults")

Chance: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
PerHour: TypeAlias = Annotated[float, Meta(ge=0.0, le=3600.0)]
SecondsRange: TypeAlias = tuple[float, float]

FLOOD_PER_S_MAX: Final = 10_000
"""Hostile utterances a second; more would test the machine, not the service."""
LOGIN_CAUSES: Final = (
    DisconnectCause.BAD_CREDENTIALS,
    DisconnectCause.TERMS_NOT_ACCEPTED,
    DisconnectCause.MFA_REQUIRED,
    DisconnectCause.BANNED,
    DisconnectCause.ALREADY_LOGGED_IN,
    DisconnectCause.MAINTENANCE,
    DisconnectCause.LOGIN_FAILED,
)
"""Why a login can be refused."""


class FaultKind(StrEnum):
    """What went wrong."""

    LOGIN_REFUSED = "login_refused"
    REQUEST_LOST = "request_lost"
    """An action never reached the grid: nothing happened."""
    EVIDENCE_LOST = "evidence_lost"
    """An action happened and the avatar was not told."""
    EVENT_DUPLICATED = "event_duplicated"
    EVENT_REORDERED = "event_reordered"
    MONEY_REFUSED = "money_refused"
    TELEPORT_FAILED = "teleport_failed"
    LOGOUT_LOST = "logout_lost"
    DISCONNECT = "disconnect"
    DISCONNECT_MID_ACTION = "disconnect_mid_action"
    """The circuit broke while an action waited for its evidence."""
    KICK = "kick"
    REGION_RESTART = "region_restart"
    STALL = "stall"
    """The grid fell silent for a while."""
    FLOOD = "flood"
    OVERFLOW = "overflow"
    """The client fell so far behind that the connection could not go on."""


class Faults(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a connection misbehaves; the defaults are a perfect one that takes a moment to log in."""

    login_s: SecondsRange = (0.2, 1.0)
    """Shortest and longest login, in seconds."""
    latency_s: SecondsRange = (0.0, 0.0)
    """Shortest and longest way of one event to the client, in seconds; order is kept."""
    login_refused: Chance = 0.0
    login_causes: Annotated[tuple[DisconnectCause, ...], Meta(min_length=1, max_length=7)] = (
        DisconnectCause.MAINTENANCE,
    )
    """Why a refused login is refused; one of them is drawn."""
    request_lost: Chance = 0.0
    evidence_lost: Chance = 0.0
    event_duplicated: Chance = 0.0
    event_reordered: Chance = 0.0
    money_refused: Chance = 0.0
    teleport_failed: Chance = 0.0
    logout_lost: Chance = 0.0
    """Of a logout, and always of one over a broken circuit when 1: leaves a ghost in the world."""
    disconnect_mid_action: Chance = 0.0
    """Of the circuit breaking within a second after an action was sent."""
    disconnects_per_hour: PerHour = 0.0
    kicks_per_hour: PerHour = 0.0
    restarts_per_hour: PerHour = 0.0
    """Of the region the avatar is in."""
    restart_notice_s: Annotated[float, Meta(ge=0, le=3600)] = 30.0
    restart_down_s: Annotated[float, Meta(ge=0, le=86_400)] = 60.0
    stalls_per_hour: PerHour = 0.0
    stall_s: SecondsRange = (5.0, 30.0)
    floods_per_hour: PerHour = 0.0
    flood_s: SecondsRange = (5.0, 20.0)
    flood_per_s: Annotated[float, Meta(gt=0, le=FLOOD_PER_S_MAX)] = 100.0
    """Hostile utterances a second."""
    flood_senders: Annotated[int, Meta(ge=1, le=1_000)] = 50
    """Accounts they come from."""

    def __post_init__(self) -> None:
        """Check what one field cannot say alone.

        Raises:
            ConfigError: a range runs backwards or below zero, or a cause is none of a login.
        """
        super().__post_init__()
        problems = [
            ConfigProblem(
                path=f"faults.{field}",
                what="is a range from shortest to longest, in seconds from 0",
                shape=f"{low:g} to {high:g}",
                mend="put the smaller number first",
            )
            for field in ("login_s", "latency_s", "stall_s", "flood_s")
            for low, high in (getattr(self, field),)
            if not 0.0 <= low <= high
        ]
        problems += [
            ConfigProblem(
                path="faults.login_causes",
                what="names a cause that no login is refused for",
                shape=cause.value,
                mend="use one of " + ", ".join(one.value for one in LOGIN_CAUSES),
            )
            for cause in self.login_causes
            if cause not in LOGIN_CAUSES
        ]
        if problems:
            raise ConfigError(tuple(problems), source="fault knobs")


class FaultCounts:
    """How often each fault really happened."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[FaultKind, int] = dict.fromkeys(FaultKind, 0)

    def add(self, kind: FaultKind) -> None:
        """Count one."""
        self._counts[kind] += 1

    def __getitem__(self, kind: FaultKind) -> int:
        return self._counts[kind]

    def snapshot(self) -> dict[str, int]:
        """Return every count by name, zeros too."""
        return {kind.value: count for kind, count in self._counts.items()}


def without_faults(faults: Faults) -> Faults:
    """Return knobs that keep the pace of a connection and nothing that goes wrong on it."""
    return msgspec.structs.replace(Faults(), login_s=faults.login_s, latency_s=faults.latency_s)
