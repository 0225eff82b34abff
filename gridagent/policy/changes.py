"""Everything a restart must not forget, as values: one change for each step of the gateway's state.

Owns the words between the gateway and whoever makes them durable. The gateway hands each `Change` to the
sink it was given, synchronously and before what it is about can be seen from outside: a handle leaves only
after its `EffectReserved`. Storage keeps changes in order; `gridagent.policy.recovery` folds them back.

Invariants: one change is one atomic step, so a history may be cut between any two; applying one twice does
what applying it once did; a change holds no nonce and no handle (Spec: POL-6, POL-7, EFX-2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from gridagent.actions import Capability, EffectClass, Outcome
from gridagent.authority import ActionRequest, Role
from gridagent.config.policy import Meter
from gridagent.ids import ApprovalId, EffectKey, Generation, GrantId
from gridagent.policy.approvals import ApprovalInput, ApprovalState
from gridagent.policy.budgets import BudgetSnapshot
from gridagent.policy.grants import GrantRecord, GrantState, GrantUse
from gridagent.policy.ledger import EffectState

__all__ = (
    "ApprovalMoved",
    "ApprovalOpened",
    "ApprovalTried",
    "BudgetsReplaced",
    "Change",
    "ChangeSink",
    "EffectReserved",
    "EffectSent",
    "EffectSettled",
    "GatewaySnapshot",
    "GenerationOpened",
    "GrantEnded",
    "GrantGiven",
    "HoldChanged",
    "StoredApproval",
    "StoredEffect",
    "StoredGrant",
)


class _Change(msgspec.Struct, frozen=True, tag_field="change"):
    """Base of every change."""


class EffectReserved(_Change, frozen=True, kw_only=True, tag="effect_reserved"):
    """An effect was authorised, and everything it costs was charged; nothing was sent.

    One step: with it go the charge, the use of a grant and the claim of an approval, or none of them.
    """

    effect: EffectKey
    action: str
    """Name of the verb."""
    capability: Capability
    effect_class: EffectClass
    canonical: bytes
    """The action in canonical form: what was decided on, and all that is ever sent."""
    request: ActionRequest
    """A copy of the gateway's own, that can be written down and read back."""
    generation: Generation
    role: Role
    rule: str
    policy_version: str
    charge: tuple[tuple[Meter, int], ...]
    """How much of which meter it drew."""
    budgets: BudgetSnapshot
    """What the windows that it was charged to hold now; other windows are as they were."""
    approval_id: ApprovalId | None = None
    """The approval it claims, which is used up by it."""
    grant: GrantUse | None = None
    """The schedule grant it draws on, as it stands with this use."""
    dry_run: bool = False
    """Settled as refused in the next change; its handle is never honoured."""
    at: float
    """Wall clock, in seconds."""


class EffectSent(_Change, frozen=True, kw_only=True, tag="effect_sent"):
    """From now on it may happen: it is about to be redeemed, or was."""

    effect: EffectKey
    at: float


class EffectSettled(_Change, frozen=True, kw_only=True, tag="effect_settled"):
    """It ended or came into doubt; of one in doubt, also how it ended later."""

    effect: EffectKey
    outcome: Outcome
    at: float


class ApprovalOpened(_Change, frozen=True, kw_only=True, tag="approval_opened"):
    """A request waits for a person's yes."""

    approval_id: ApprovalId
    effect: EffectKey
    nonce_hash: bytes
    """SHA-256 of the nonce, which itself is never written down."""
    canonical: bytes
    request: ActionRequest
    rule: str
    policy_version: str
    opened_at: float
    expires_at: float
    """Wall clock: it must mean something after a restart."""


class ApprovalMoved(_Change, frozen=True, kw_only=True, tag="approval_moved"):
    """An approval went along its table, except for a claim: that is part of `EffectReserved`."""

    approval_id: ApprovalId
    given: tuple[ApprovalInput, ...]
    """Each step in order; they are one step here."""
    by: str = ""
    """Key of whoever answered; empty when nobody did."""
    at: float


class ApprovalTried(_Change, frozen=True, kw_only=True, tag="approval_tried"):
    """So many wrong nonces were tried; the count only grows."""

    approval_id: ApprovalId
    wrong_nonces: int


class GrantGiven(_Change, frozen=True, kw_only=True, tag="grant_given"):
    """A recurring action was allowed beforehand (Spec: POL-8)."""

    grant: GrantRecord


class GrantEnded(_Change, frozen=True, kw_only=True, tag="grant_ended"):
    """A grant counts no longer."""

    grant_id: GrantId
    state: GrantState
    by: str = ""
    """Key of whoever took it back; empty when nobody did."""
    at: float


class BudgetsReplaced(_Change, frozen=True, kw_only=True, tag="budgets_replaced"):
    """All windows at once, in place of whatever was known: the policy's budgets may be others now."""

    budgets: BudgetSnapshot


class GenerationOpened(_Change, frozen=True, kw_only=True, tag="generation_opened"):
    """A connection begins under this number; no later one may have it or a lower one."""

    generation: Generation


class HoldChanged(_Change, frozen=True, kw_only=True, tag="hold_changed"):
    """The kill switch was thrown or released; a restart doesn't release it."""

    held: bool
    at: float


Change: TypeAlias = (
    EffectReserved
    | EffectSent
    | EffectSettled
    | ApprovalOpened
    | ApprovalMoved
    | ApprovalTried
    | GrantGiven
    | GrantEnded
    | BudgetsReplaced
    | GenerationOpened
    | HoldChanged
)

ChangeSink: TypeAlias = Callable[[Change], None]
"""Takes each change, synchronously and in order; one that raises stops what was being done."""


# --- what a history comes to ------------------------------------------------------------------------


class StoredEffect(msgspec.Struct, frozen=True, kw_only=True):
    """An effect that has not ended, or that is in doubt."""

    effect: EffectKey
    effect_class: EffectClass
    canonical: bytes
    request: ActionRequest
    generation: Generation
    role: Role
    rule: str
    at: float
    """When it was authorised, by the wall clock."""
    state: EffectState


class StoredApproval(msgspec.Struct, frozen=True, kw_only=True):
    """An approval and how far it has come."""

    opened: ApprovalOpened
    state: ApprovalState
    wrong_nonces: int = 0
    by: str = ""


class StoredGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A grant, how far it has come, and its uses."""

    grant: GrantRecord
    state: GrantState
    use: GrantUse | None = None
    """How it stood with its last use; None when it was never used."""


class GatewaySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All that a restart must not forget; what is left out was never there."""

    generation: Generation = Generation(0)
    """The last connection's number; the next is higher."""
    held: bool = False
    budgets: BudgetSnapshot | None = None
    """None when nothing was ever charged."""
    open_effects: tuple[StoredEffect, ...] = ()
    """Reserved, sent or in doubt; the oldest first."""
    ended_once: tuple[EffectKey, ...] = ()
    """Remembered ends of what costs something, the oldest first."""
    ended_light: tuple[EffectKey, ...] = ()
    """Remembered ends of everything else, the oldest first."""
    approvals: tuple[StoredApproval, ...] = ()
    """Waiting ones, and as many ended ones as are known, the oldest first."""
    grants: tuple[StoredGrant, ...] = ()
    """Usable ones, and as many ended ones as are known, the oldest first."""
