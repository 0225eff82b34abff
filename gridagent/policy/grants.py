"""Recurring actions that somebody allowed beforehand, each within bounds of its own (Spec: POL-8).

Owns the grant table, the book of grants and the question whether one admits a request; gives out none
(`gridagent.policy.grant_desk` does) and authorises nothing. A rule asks the book, the gateway counts a use.
Its invariants: a grant admits exactly the actions whose canonical bytes it holds, for the principal it was
given for, through the schedule's door; a use is counted with the charge of its effect or not at all; what
ended stays ended; clocks that are set back lengthen nothing (Spec: BND-12).
"""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Action
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal
from gridagent.config.policy import WINDOW_MAX_S
from gridagent.errors import InternalError
from gridagent.ids import GrantId
from gridagent.limits import SCHEDULE_GRANTS_MAX, Bounded
from gridagent.policy.canonical import Canonical
from gridagent.policy.decisions import Denied, Instant
from gridagent.policy.windows import MICROSECONDS, BudgetClock, Window
from gridagent.state_table import StateTable

__all__ = (
    "GRANT",
    "Grant",
    "GrantBook",
    "GrantInput",
    "GrantRecord",
    "GrantState",
    "GrantTerms",
    "GrantUse",
    "GrantView",
)

GRANT_ACTIONS_MAX: Final = 32
GRANT_BYTES_MAX: Final = 16_384
"""All canonical forms of one grant together."""
GRANT_TIMES_MAX: Final = 10_000
GRANT_VALID_MAX_S: Final = 366 * 86_400
"""Nobody remembers what they allowed longer ago than a year."""


class GrantState(Enum):
    """How far a grant has come."""

    ACTIVE = "active"
    """It may be used, within its times and its validity."""
    REVOKED = "revoked"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    """A policy came into force under which its principal may not do what it allows."""


class GrantInput(Enum):
    """What moves a grant."""

    REVOKE = "revoke"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"


GRANT: Final = StateTable(
    "grant",
    initial=GrantState.ACTIVE,
    transitions={
        (GrantState.ACTIVE, GrantInput.REVOKE): GrantState.REVOKED,
        (GrantState.ACTIVE, GrantInput.EXPIRE): GrantState.EXPIRED,
        # No way back: a later policy that permits it again does not revive what nobody looked at meanwhile.
        (GrantState.ACTIVE, GrantInput.SUPERSEDE): GrantState.SUPERSEDED,
    },
    terminal=frozenset({GrantState.REVOKED, GrantState.EXPIRED, GrantState.SUPERSEDED}),
)

Buckets: TypeAlias = tuple[tuple[int, int], ...]


class GrantTerms(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is allowed to recur, as the operator writes it."""

    principal: Principal
    """On whose behalf the schedule acts; its requests must name the same."""
    actions: Annotated[tuple[Action, ...], Meta(min_length=1, max_length=GRANT_ACTIONS_MAX)]
    """Each exact action it allows, all of one verb: one action, or one with each of its allowed arguments."""
    times: Annotated[int, Meta(ge=1, le=GRANT_TIMES_MAX)]
    """At most so many uses within any ``window_s`` seconds."""
    window_s: Annotated[int, Meta(ge=1, le=WINDOW_MAX_S)]
    valid_from: float
    """Wall clock, in seconds."""
    valid_until: float
    """Wall clock, in seconds; at most `GRANT_VALID_MAX_S` after ``valid_from``."""


class GrantRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A grant as it was given; it never changes."""

    grant_id: GrantId
    principal: Principal
    action: str
    """Name of the verb."""
    allowed: tuple[bytes, ...]
    """Canonical form of each action it allows."""
    summary: str
    """The first action in one line, safe to show, and how many more there are."""
    times: int
    window_s: int
    valid_from: float
    valid_until: float
    given_by: str
    """Key of whoever gave it."""
    given_at: float
    policy_version: str
    """The policy it was given under; another one ends it only if it no longer permits what it allows."""


class GrantUse(msgspec.Struct, frozen=True, kw_only=True):
    """How a grant stands with one use."""

    grant_id: GrantId
    used: int
    """All uses so far; it only grows."""
    at: float
    """Wall clock, in seconds."""
    buckets: Buckets
    """Last microsecond of each bucket of its window on the budget clock, and the uses in it."""


class GrantView(msgspec.Struct, frozen=True, kw_only=True):
    """A grant as status shows it."""

    grant_id: GrantId
    principal: str
    summary: str
    times: int
    window_s: int
    used: int
    """Uses in the window that ends now, as far as the last look at the clock."""
    used_in_all: int
    valid_from: float
    valid_until: float


class Grant:
    """One grant and its count."""

    __slots__ = ("_window", "allowed", "record", "state", "use")

    def __init__(self, record: GrantRecord, *, state: GrantState = GRANT.initial, use: GrantUse | None = None) -> None:
        self.record = record
        self.allowed = frozenset(record.allowed)
        self.state = state
        self.use = use
        self._window = Window(record.window_s)
        for end, amount in () if use is None else use.buckets:
            self._window.used(end)
            self._window.add(amount)

    def used(self, at: int) -> int:
        """Return the uses in the window that ends at a moment of the budget clock."""
        return self._window.used(at)

    def count(self, at: int, wall: float) -> GrantUse:
        """Count one use."""
        self._window.used(at)
        self._window.add(1)
        before = 0 if self.use is None else self.use.used
        self.use = GrantUse(
            grant_id=self.record.grant_id, used=before + 1, at=wall, buckets=tuple(self._window.buckets())
        )
        return self.use


def _refused(why: str) -> Denied:
    return Denied(code=DenialCode.GRANT_REFUSED, rule=f"grant.{why}")


_DOOR: Final = _refused("origin")
_UNKNOWN: Final = _refused("unknown")
_PRINCIPAL: Final = _refused("principal")
_MISMATCH: Final = _refused("mismatch")
_EARLY: Final = _refused("early")
_ENDED: Final = {state: _refused(state.value) for state in GRANT.terminal}
_SPENT: Final = Denied(code=DenialCode.GRANT_SPENT, rule="grant.times")


class GrantBook:
    """All grants of one avatar.

    Args:
        clock: the one that budgets are read by.

    Bounds: `SCHEDULE_GRANTS_MAX` records, the oldest ended one goes first; usable ones never go, one more
        is refused.
    """

    __slots__ = ("_active", "_clock", "_ended")

    def __init__(self, clock: BudgetClock) -> None:
        self._clock = clock
        self._active: OrderedDict[GrantId, Grant] = OrderedDict()
        self._ended: OrderedDict[GrantId, Grant] = OrderedDict()

    def refusal(  # noqa: PLR0911 - one line a reason
        self, grant_id: GrantId, request: ActionRequest, canonical: Canonical, now: Instant
    ) -> Denied | None:
        """Say why a request may not draw on a grant; None when it may. Changes nothing but the clock."""
        if request.origin is not Origin.SCHEDULE:
            return _DOOR
        grant = self.find(grant_id)
        if grant is None:
            return _UNKNOWN
        if request.principal != grant.record.principal:
            return _PRINCIPAL
        if canonical.raw not in grant.allowed:
            return _MISMATCH
        if grant.state is not GrantState.ACTIVE:
            return _ENDED[grant.state]
        at = self._clock.advance(now)
        if self._over(grant):
            return _ENDED[GrantState.EXPIRED]
        if now.wall < grant.record.valid_from:
            return _EARLY
        return _SPENT if grant.used(at) >= grant.record.times else None

    def count(self, grant_id: GrantId, now: Instant) -> GrantUse:
        """Count one use of a grant that was just found to admit it."""
        return self._active[grant_id].count(self._clock.advance(now), now.wall)

    def _over(self, grant: Grant) -> bool:
        """Tell whether its time is up, by the highest wall clock ever seen: a clock set back revives nothing."""
        return self._clock.wall_high_us >= grant.record.valid_until * MICROSECONDS

    def has_room(self) -> bool:
        """Tell whether one more grant can be given."""
        return len(self._active) < SCHEDULE_GRANTS_MAX

    def put(self, grant: Grant) -> None:
        """Take a grant in, usable or ended; there must be room for a usable one.

        Raises:
            InternalError: its id is in use, which a source of ids must never let happen.
        """
        if self.find(grant.record.grant_id) is not None:
            raise InternalError("two grants were given one id")
        if len(self._active) + len(self._ended) >= SCHEDULE_GRANTS_MAX and self._ended:
            self._ended.popitem(last=False)
        (self._active if grant.state is GrantState.ACTIVE else self._ended)[grant.record.grant_id] = grant

    def find(self, grant_id: GrantId) -> Grant | None:
        """Return a grant, usable or ended, as far as is remembered."""
        return self._active.get(grant_id) or self._ended.get(grant_id)

    def active(self) -> tuple[Grant, ...]:
        """Return the usable grants, the oldest first."""
        return tuple(self._active.values())

    def over(self, now: Instant) -> tuple[Grant, ...]:
        """Return the usable grants whose time is up."""
        self._clock.advance(now)
        return tuple(grant for grant in self._active.values() if self._over(grant))

    def move(self, grant: Grant, given: GrantInput) -> None:
        """End a grant.

        Raises:
            IllegalTransition: it has ended.
        """
        grant.state = GRANT.step(grant.state, given)
        self._ended[grant.record.grant_id] = self._active.pop(grant.record.grant_id)

    def all(self) -> tuple[Grant, ...]:
        """Return every grant that is remembered, ended ones first."""
        return (*self._ended.values(), *self._active.values())

    def views(self) -> tuple[GrantView, ...]:
        """Return the usable grants as status shows them."""
        at = self._clock.at_us
        return tuple(
            GrantView(
                grant_id=grant.record.grant_id,
                principal=grant.record.principal.key,
                summary=grant.record.summary,
                times=grant.record.times,
                window_s=grant.record.window_s,
                used=grant.used(at),
                used_in_all=0 if grant.use is None else grant.use.used,
                valid_from=grant.record.valid_from,
                valid_until=grant.record.valid_until,
            )
            for grant in self._active.values()
        )
