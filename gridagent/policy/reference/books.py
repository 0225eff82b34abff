"""What the reference gateway remembers, in lists, and how it writes its audit rows.

Owns the records of effects, approvals and grants; decides nothing. The other modules of the folder build on
it, one class on the other. Its invariant: everything is in a list that can be printed and read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec

from gridagent.actions import EffectClass
from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.ids import ApprovalId, EffectKey, Generation, GrantId
from gridagent.policy.audit import AuditKind, AuditRecord, AuditSink
from gridagent.policy.decisions import Instant, RedeemRefusal
from gridagent.policy.grants import GrantTerms
from gridagent.policy.reference.budgets import Line, ReferenceBudgets
from gridagent.policy.reference.words import Form, role_of

__all__ = ("WAITS", "Approval", "Books", "Effect", "Grant", "Handle", "Sizes")


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """The ceilings that it holds; a test may lower them on both sides."""

    open_effects: int = 1_024
    ends_each: int = 2_048
    """Of what costs something, and of everything else."""
    approvals: int = 4_096
    approvals_each: int = 64
    grants: int = 1_024
    accounts: tuple[int, int, int, int] = (1_025, 1_535, 1_535, 4_096)
    """Configured, fronts, everybody else, peers."""


class Handle:
    """Stands for one authorisation; no backend takes it."""


class Effect(msgspec.Struct, kw_only=True, eq=False):
    """One effect that is reserved, sent or in doubt."""

    key: EffectKey
    form: Form
    request: ActionRequest
    role: Role
    rule: str
    handle: Handle | None
    at: float
    expires_at: float
    state: str = "reserved"
    intended: bool = False

    @property
    def once(self) -> bool:
        """Whether doing it twice would cost something."""
        return self.form.action.spec.effect is EffectClass.ONCE


class Approval(msgspec.Struct, kw_only=True, eq=False):
    """One request that waits for a person, or waited."""

    approval_id: ApprovalId
    nonce: str
    told: bool
    """Whether the nonce is still known; after a restart only its hash is."""
    request: ActionRequest
    form: Form
    effect: EffectKey
    rule: str
    opened_wall: float
    expires_wall: float
    expires_at: float
    version: str
    state: str = "pending"
    wrong: int = 0
    by: str = ""


class Grant(msgspec.Struct, kw_only=True, eq=False):
    """One schedule grant."""

    grant_id: GrantId
    terms: GrantTerms
    allowed: list[bytes]
    line: Line
    used: int = 0
    state: str = "active"


WAITS: Final = ("pending", "allowed")
"""States of an approval that somebody can still answer."""


class Books:
    """The memory of one avatar's reference gateway.

    Args:
        section: the policy, with its preset laid under it already.
        roles: who is who.
        version: what the policy is called.
        tokens: source of ids.
        nonces: source of nonces.
        audit: takes each row.
        sizes: the ceilings.
        keeps: whether somebody keeps changes; then what can't be written down is denied.
    """

    def __init__(
        self,
        section: PolicySection,
        roles: RolesSection,
        version: str,
        *,
        tokens: Callable[[], str],
        nonces: Callable[[], str],
        audit: AuditSink,
        sizes: Sizes | None = None,
        keeps: bool = False,
    ) -> None:
        self.keeps = keeps
        self.section = section
        self.roles = roles
        self.version = version
        self.sizes = Sizes() if sizes is None else sizes
        self.budgets = ReferenceBudgets(section.budgets, self._pool, self.sizes.accounts)
        self.effects: list[Effect] = []
        self.ends: dict[bool, list[EffectKey]] = {True: [], False: []}
        self.loose: list[Effect] = []
        """What costs nothing and is in doubt: remembered as ended, and evidence may still come."""
        self.waiting: list[Approval] = []
        self.answered: list[Approval] = []
        self.usable: list[Grant] = []
        self.used_up: list[Grant] = []
        self.generation: Generation | None = None
        self.last_generation = Generation(0)
        self.held = False
        self.safe_mode = False
        self.tally: Counter[str] = Counter()
        self._dead: list[tuple[Handle | None, RedeemRefusal]] = []
        self._tokens = tokens
        self._nonces = nonces
        self._sink = audit
        self._seq = 0

    def _pool(self, key: str) -> int:
        if key in self.roles.owners or key in self.roles.trusted or key == "client:operator":
            return 0
        return 1 if key.startswith("client:") else 2

    def _role(self, principal: Principal, origin: Origin) -> Role:
        return role_of(principal, origin, self.roles)

    # --- audit ------------------------------------------------------------------------------------

    def _row(self, kind: AuditKind, code: str, now: Instant, **fields: object) -> None:
        self._seq += 1
        row = {"seq": self._seq, "at": now.wall, "kind": kind, "code": code, "policy": self.version, **fields}
        self._sink(AuditRecord(**row))  # type: ignore[arg-type]

    def _about(self, request: ActionRequest, form: Form | None) -> dict[str, object]:
        return {
            "conversation": request.conversation,
            "generation": request.generation,
            "action": "" if form is None else form.name,
            "digest": "" if form is None else form.digest,
            "tainted": request.tainted,
            "correlation": request.correlation,
            "cause": request.cause,
            "ordinal": request.ordinal,
        }

    def _decided(
        self, code: str, now: Instant, request: ActionRequest, form: Form | None, rule: str, **fields: object
    ) -> None:
        self.tally[code] += 1
        who = {"who": request.principal.key, "origin": request.origin, "grant_id": request.grant}
        role = self._role(request.principal, request.origin)
        self._row(AuditKind.DECISION, code, now, rule=rule, role=role, **who, **self._about(request, form), **fields)

    def _settled(
        self,
        effect: Effect,
        now: Instant,
        kind: AuditKind = AuditKind.SETTLEMENT,
        code: str = "",
        **fields: object,
    ) -> None:
        request = effect.request
        who = {"who": request.principal.key, "origin": request.origin, "grant_id": request.grant}
        self._row(
            kind, code or effect.state, now, rule=effect.rule, role=effect.role, effect=effect.key, **who,
            **self._about(request, effect.form), **fields,
        )  # fmt: skip

    def _answered(self, approval: Approval, code: str, now: Instant, who: tuple[Principal, Origin] | None) -> None:
        fields: dict[str, object] = {}
        if who is not None:
            fields = {"who": who[0].key, "origin": who[1], "role": self._role(*who)}
        self._row(
            AuditKind.APPROVAL, code, now, rule=approval.rule, effect=approval.effect,
            approval_id=approval.approval_id, **fields, **self._about(approval.request, approval.form),
        )  # fmt: skip

    def _turned_away(self, kind: AuditKind, code: str, now: Instant, by: Principal, via: Origin) -> None:
        self._row(kind, code, now, who=by.key, origin=via, role=self._role(by, via))
