"""One row for everything the gateway decided, refused or settled (Spec: POL-10).

Owns the shape of a row; stores nothing. `gridagent.policy.gateway` hands each row to the sink it was
given; storage chains and keeps them. Rows hold a digest of the arguments and no text of people, so that
forgetting somebody needs no rewriting. Its invariant: ``seq`` counts up by one, so a missing row shows.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

import msgspec

from gridagent.actions import SettledBy
from gridagent.authority import Origin, Role
from gridagent.config.policy import BudgetScope, Meter
from gridagent.ids import ApprovalId, CorrelationId, EffectKey, Generation, GrantId

__all__ = ("AuditKind", "AuditRecord", "AuditSink", "BudgetMark")


class AuditKind(StrEnum):
    """What a row is about."""

    DECISION = "decision"
    REDEEM_REFUSED = "redeem_refused"
    APPROVAL = "approval"
    """An approval changed state, or an answer to it was turned away."""
    GRANT = "grant"
    """A schedule grant was given or ended, or somebody who may not tried to."""
    SETTLEMENT = "settlement"
    HOLD = "hold"
    POLICY = "policy"
    SAFE_MODE = "safe_mode"


class BudgetMark(msgspec.Struct, frozen=True, gc=False):
    """One budget before and after a charge."""

    meter: Meter
    per: BudgetScope
    window_s: int
    before: int
    after: int
    limit: int


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row."""

    seq: int
    """Counts up from 1 for each gateway."""
    at: float
    """Wall clock, in seconds."""
    kind: AuditKind
    code: str
    """Verdict, denial code, refusal, outcome or new state."""
    rule: str = ""
    who: str = ""
    """Key of the principal; of an approval row, of whoever answered."""
    role: Role | None = None
    origin: Origin | None = None
    conversation: str = ""
    generation: Generation = Generation(0)
    action: str = ""
    digest: str = ""
    """SHA-256 of the canonical arguments; empty when there were none to take it of."""
    tainted: bool = False
    budgets: tuple[BudgetMark, ...] = ()
    """Every budget that was charged; of a denial for want of budget, the one that was short."""
    effect: EffectKey | None = None
    approval_id: ApprovalId | None = None
    grant_id: GrantId | None = None
    correlation: CorrelationId = CorrelationId("")
    cause: str = ""
    ordinal: int = 0
    policy: str = ""
    """Version of the policy in force."""
    settled_by: SettledBy | None = None
    """Who ended an effect that was in doubt; None of every other row."""
    proof: str = ""
    """Code of the evidence that it was ended by; never anybody's words."""


AuditSink: TypeAlias = Callable[[AuditRecord], None]
"""Takes each row, synchronously. A sink that raises stops what was being decided."""
