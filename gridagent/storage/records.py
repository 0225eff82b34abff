"""What is written down, as values: one struct a kind of record, and the rows that are read back.

Owns the shapes; knows no SQL and no queue. Sessions make records through `gridagent.storage.avatar`, stores
apply them: `gridagent.storage.transactions` in SQLite, `gridagent.storage.memory` in memory.

Invariants: applying a record twice does what applying it once did, so that a batch whose outcome is not
known may be written again; a record never moves an effect or an approval off its table (Spec: EFX-2, POL-7).
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from gridagent.actions import Capability, EffectClass, Outcome
from gridagent.authority import ActionRequest, Principal, Role
from gridagent.config.policy import Meter
from gridagent.ids import ApprovalId, AvatarKey, EffectKey, Generation, GrantId
from gridagent.policy.approvals import ApprovalInput, ApprovalState
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.ledger import EffectState

__all__ = (
    "ApprovalMoved",
    "ApprovalOpened",
    "ApprovalRow",
    "ApprovalTried",
    "AuditAppended",
    "AuditQuery",
    "BudgetSaved",
    "EffectReserved",
    "EffectRow",
    "EffectSent",
    "EffectSettled",
    "GenerationUsed",
    "GrantGiven",
    "GrantRevoked",
    "GrantRow",
    "GrantUsed",
    "Record",
    "Recovered",
    "StoredAudit",
)

AUDIT_PAGE_MAX: Final = 1_000


# --- effects --------------------------------------------------------------------------------------


class EffectReserved(msgspec.Struct, frozen=True, kw_only=True):
    """An effect was authorised and charged; nothing was sent.

    Applied unless the key is known already: then this is a re-run of one cause and must not be sent.
    """

    effect: EffectKey
    avatar: AvatarKey
    run: int
    """Which opening of the avatar reserved it."""
    action: str
    """Name of the verb."""
    capability: Capability
    effect_class: EffectClass
    canonical: bytes
    """The action in canonical form: what was decided on."""
    request: ActionRequest
    role: Role
    rule: str
    charge: tuple[tuple[Meter, int], ...]
    """How much of which meter it drew."""
    at: float
    """Wall clock, in seconds."""


class EffectSent(msgspec.Struct, frozen=True, kw_only=True):
    """From now on it may happen. Applied to a reservation of the same run only."""

    effect: EffectKey
    run: int
    at: float


class EffectSettled(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended.

    With a ``run`` it is that run's own word about what it reserved; without, it is late evidence or a
    person's word, and counts only for an effect that is in doubt.
    """

    effect: EffectKey
    outcome: Outcome
    at: float
    run: int | None = None


class EffectRow(msgspec.Struct, frozen=True, kw_only=True):
    """An effect as it is stored."""

    reserved: EffectReserved
    state: EffectState
    sent_at: float | None = None
    settled_at: float | None = None
    """When it ended or came into doubt."""
    outcome: Outcome | None = None

    @property
    def effect(self) -> EffectKey:
        """The effect's key."""
        return self.reserved.effect


# --- budgets and generations ------------------------------------------------------------------------


class BudgetSaved(msgspec.Struct, frozen=True, kw_only=True):
    """What the budgets of an avatar hold now; rows that did not change may be left out."""

    avatar: AvatarKey
    clock_us: int
    wall_high_us: int
    rows: tuple[BudgetRow, ...]


class GenerationUsed(msgspec.Struct, frozen=True, kw_only=True):
    """A connection begins under this number. Applied when it is higher than any before."""

    avatar: AvatarKey
    number: Generation


# --- approvals --------------------------------------------------------------------------------------


class ApprovalOpened(msgspec.Struct, frozen=True, kw_only=True):
    """A request waits for a person's yes."""

    approval_id: ApprovalId
    avatar: AvatarKey
    effect: EffectKey
    nonce_hash: bytes
    """SHA-256 of the nonce, which itself is never stored."""
    canonical: bytes
    request: ActionRequest
    rule: str
    summary: str
    policy_version: str
    at: float
    expires_at: float
    """Wall clock: it must mean something after a restart."""


class ApprovalMoved(msgspec.Struct, frozen=True, kw_only=True):
    """An approval went along its table, one or more steps at once (an answer is allowed and claimed together)."""

    approval_id: ApprovalId
    steps: tuple[ApprovalInput, ...]
    at: float
    by: str = ""
    """Key of whoever answered."""


class ApprovalTried(msgspec.Struct, frozen=True, kw_only=True):
    """So many wrong nonces were tried; the count only grows."""

    approval_id: ApprovalId
    wrong_nonces: int


class ApprovalRow(msgspec.Struct, frozen=True, kw_only=True):
    """An approval as it is stored."""

    opened: ApprovalOpened
    state: ApprovalState
    wrong_nonces: int = 0
    moved_at: float | None = None
    by: str = ""

    @property
    def approval_id(self) -> ApprovalId:
        """The approval's id."""
        return self.opened.approval_id

    def remaining_s(self, wall: float) -> float:
        """Return for how much longer it waits, in seconds: never longer than it was opened for, nor below 0."""
        whole = self.opened.expires_at - self.opened.at
        return max(0.0, min(whole, self.opened.expires_at - wall))


# --- schedule grants --------------------------------------------------------------------------------


class GrantGiven(msgspec.Struct, frozen=True, kw_only=True):
    """A recurring action was allowed beforehand, within bounds (Spec: POL-8)."""

    grant_id: GrantId
    avatar: AvatarKey
    principal: Principal
    """On whose behalf the schedule acts."""
    canonical: bytes
    """The one action it allows, in canonical form."""
    summary: str
    policy_version: str
    given_by: str
    at: float
    valid_from: float
    valid_until: float
    every_s: float
    """Least time between two uses, in seconds."""
    uses_max: int


class GrantUsed(msgspec.Struct, frozen=True, kw_only=True):
    """A grant authorised one effect. Applied while the grant has uses left, is valid, due and not revoked."""

    grant_id: GrantId
    effect: EffectKey
    at: float


class GrantRevoked(msgspec.Struct, frozen=True, kw_only=True):
    """A grant counts no longer."""

    grant_id: GrantId
    by: str
    at: float


class GrantRow(msgspec.Struct, frozen=True, kw_only=True):
    """A grant as it is stored."""

    given: GrantGiven
    used: int = 0
    last_used_at: float | None = None
    last_effect: EffectKey | None = None
    revoked_at: float | None = None
    revoked_by: str = ""

    @property
    def grant_id(self) -> GrantId:
        """The grant's id."""
        return self.given.grant_id

    def admits(self, at: float) -> bool:
        """Tell whether it may be used at this wall time."""
        given = self.given
        due = self.last_used_at is None or at >= self.last_used_at + given.every_s
        valid = given.valid_from <= at < given.valid_until
        return self.revoked_at is None and self.used < given.uses_max and valid and due

    def over(self, at: float) -> bool:
        """Tell whether it can never be used again."""
        return self.revoked_at is not None or self.used >= self.given.uses_max or at >= self.given.valid_until


# --- audit ------------------------------------------------------------------------------------------


class AuditAppended(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row of the audit trail. Applied when its number is higher than the run's last."""

    avatar: AvatarKey
    run: int
    record: AuditRecord


class StoredAudit(msgspec.Struct, frozen=True, kw_only=True):
    """An audit row as it is stored."""

    row: int
    """Counts up over all avatars; never used twice."""
    avatar: AvatarKey
    run: int
    record: AuditRecord

    @property
    def cursor(self) -> tuple[float, int]:
        """What a query for the page behind this row goes on after."""
        return self.record.at, self.row


class AuditQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which audit rows are wanted, one page at a time: of one avatar by time, of all as they were written."""

    avatar: AvatarKey | None = None
    since: float | None = None
    """Wall clock, in seconds; this moment included."""
    until: float | None = None
    """This moment excluded."""
    kind: AuditKind | None = None
    after: tuple[float, int] | None = None
    """Go on behind this row: the `StoredAudit.cursor` of the last one of the page before."""
    limit: int = AUDIT_PAGE_MAX

    def __post_init__(self) -> None:
        """Hold the page to its size.

        Raises:
            ValueError: it is none or too long.
        """
        if not 1 <= self.limit <= AUDIT_PAGE_MAX:
            raise ValueError(f"a page of audit rows has 1 to {AUDIT_PAGE_MAX}, not {self.limit}")


Record: TypeAlias = (
    EffectReserved
    | EffectSent
    | EffectSettled
    | BudgetSaved
    | GenerationUsed
    | ApprovalOpened
    | ApprovalMoved
    | ApprovalTried
    | GrantGiven
    | GrantUsed
    | GrantRevoked
    | AuditAppended
)


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """All that a session must know of its avatar's earlier runs before it does anything."""

    run: int
    """Number of this run; higher than any before."""
    generation: Generation
    """The last connection's number; the next is higher. 0 is none yet."""
    budgets: BudgetSnapshot | None = None
    """None when the avatar was never charged."""
    not_sent: tuple[EffectRow, ...] = ()
    """Reserved when the last run ended: now refused, for nothing was sent."""
    in_doubt: tuple[EffectRow, ...] = ()
    """Everything that may have happened, from the last run and all before it; none may be sent again."""
    settled: tuple[EffectKey, ...] = ()
    """The newest ends, newest first: keys that a re-run of their cause must meet again."""
    approvals: tuple[ApprovalRow, ...] = ()
    """What still waits for an answer, or was allowed and not yet claimed."""
    expired: tuple[ApprovalId, ...] = ()
    """What ran out of time while nobody ran."""
    grants: tuple[GrantRow, ...] = ()
    """Every grant that may still be used."""
