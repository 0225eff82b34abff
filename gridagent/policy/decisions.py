"""The gateway's answers as values: authorised, denied, or a person must be asked (Spec: POL-3).

Owns the words of a decision, of a refused redemption and of an answered approval; decides nothing.
Built by `gridagent.policy.gateway`, read by the session. Its invariant: an expected refusal is a value
with a stable code; only a handle that is not honoured is an error (`AuthorityRefused`), because its
holder asked for nothing that could be answered otherwise.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from gridagent.actions import Action, Outcome
from gridagent.authority import ActionRequest, DenialCode
from gridagent.ids import ApprovalId, CorrelationId, EffectKey, Generation, GrantId
from gridagent.policy.authorized import AuthorizedAction

__all__ = (
    "AnswerCode",
    "ApprovalAnswer",
    "Authorized",
    "Decision",
    "Denied",
    "Doubt",
    "Ended",
    "GrantAnswer",
    "GrantCode",
    "Instant",
    "NeedsApproval",
    "RedeemRefusal",
)


class Instant(msgspec.Struct, frozen=True):
    """One moment on both clocks, in seconds; the session reads them, the gateway never does."""

    wall: float
    monotonic: float


class Authorized(msgspec.Struct, frozen=True, kw_only=True):
    """Yes: ``handle`` may be redeemed once, for exactly ``action``."""

    handle: AuthorizedAction
    effect: EffectKey
    action: Action
    """A fresh copy, for reading; what is sent is the ledger's own."""
    deadline_s: float
    """How long evidence is waited for, in seconds."""
    rule: str
    dry_run: bool
    """The handle can never be redeemed and the effect is settled already (Spec: POL-11)."""
    correlation: CorrelationId


class Denied(msgspec.Struct, frozen=True, kw_only=True):
    """No: why, and by which rule."""

    code: DenialCode
    rule: str


class NeedsApproval(msgspec.Struct, frozen=True, kw_only=True):
    """Not yet: the request is parked until somebody answers, or until it expires."""

    approval_id: ApprovalId
    rule: str
    summary: str
    """The exact arguments in one line, safe to show."""
    expires_at: float
    """Monotonic seconds."""


Decision: TypeAlias = Authorized | Denied | NeedsApproval


class RedeemRefusal(StrEnum):
    """Why a handle was not honoured; the reason of `AuthorityRefused`."""

    FORGED = "forged"
    """Not an `AuthorizedAction` at all: a mock, a subclass, a look-alike."""
    UNKNOWN = "unknown"
    """Never minted by this gateway, or dead for so long that nobody remembers why."""
    REPLAYED = "replayed"
    EXPIRED = "expired"
    STALE_GENERATION = "stale_generation"
    HELD = "held"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    """The policy it was decided under is no longer in force."""
    DRY_RUN = "dry_run"
    SETTLED = "settled"
    """Its effect was settled before it was sent."""
    SAFE_MODE = "safe_mode"
    """Storage can't promise to remember it."""
    NOT_INTENDED = "not_intended"
    """It costs something, and nobody made the intent durable first (see `Gateway.intend`)."""


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """An effect that may have cost something and of which nobody knows whether it happened."""

    effect: EffectKey
    action: Action
    generation: Generation
    """The connection it was sent over."""
    at: float
    """When it was authorised, by the wall clock: not sent before."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """Something the gateway ended by itself: an approval, a grant or an authorisation."""

    how: str
    correlation: CorrelationId = CorrelationId("")
    approval_id: ApprovalId | None = None
    effect: EffectKey | None = None
    grant_id: GrantId | None = None
    action: Action
    outcome: Outcome | None = None
    """How the effect was settled; None for an approval or a grant."""


class AnswerCode(StrEnum):
    """What an answer to an approval came to."""

    ALLOWED = "allowed"
    """It counted; the decision beside it is `Authorized`."""
    DENIED = "denied"
    """It counted; the request is denied."""
    REFUSED = "refused"
    """It counted, and under today's policy and budgets the request is denied all the same."""
    NOT_NOW = "not_now"
    """Nothing changed: held, not connected, busy or full just now; the approval still waits."""
    UNKNOWN = "unknown"
    WRONG_PERSON = "wrong_person"
    WRONG_NONCE = "wrong_nonce"
    NONCE_LOCKED = "nonce_locked"
    """Too many wrong nonces: only the operator can answer this one."""
    ALREADY_ANSWERED = "already_answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class ApprovalAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer; unless it was accepted, nothing changed (Spec: POL-7)."""

    approval_id: ApprovalId
    code: AnswerCode
    accepted: bool = False
    decision: Decision | None = None
    """Of an accepted answer: what follows. Of `AnswerCode.NOT_NOW`: what stands in the way."""
    request: ActionRequest | None = None
    """The parked request, as it was decided now."""


class GrantCode(StrEnum):
    """What giving a schedule grant, or taking one back, came to."""

    GIVEN = "given"
    REVOKED = "revoked"
    WRONG_PERSON = "wrong_person"
    """Only the operator gives grants and takes them back."""
    INVALID = "invalid"
    """The terms cannot be kept; `GrantAnswer.problem` says which."""
    DENIED = "denied"
    """The policy does not permit what would be allowed; `GrantAnswer.denied` says why."""
    FULL = "full"
    """There are as many usable grants as there may be."""
    UNKNOWN = "unknown"
    ENDED = "ended"
    """It had ended already."""


class GrantAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an order about a grant; unless it is given or revoked, nothing changed (Spec: POL-8)."""

    code: GrantCode
    grant_id: GrantId | None = None
    denied: Denied | None = None
    problem: str = ""
