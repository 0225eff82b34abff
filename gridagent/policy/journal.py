"""How the gateway's doings become audit rows and counters.

Owns the numbering of rows and the tallies of status; decides nothing. Only the gateway calls it. Its
invariant: every decision, refused redemption, change of an approval, settlement, hold and change of
policy gives exactly one row, in order (Spec: POL-10).
"""

from __future__ import annotations

from collections import Counter

from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.ids import EffectKey, Generation
from gridagent.policy.approvals import Approval
from gridagent.policy.audit import AuditKind, AuditRecord, AuditSink, BudgetMark
from gridagent.policy.canonical import Canonical
from gridagent.policy.decisions import Instant, RedeemRefusal
from gridagent.policy.ledger import Entry

__all__ = ("Journal",)


class Journal:
    """Numbers rows and hands them to the sink.

    Args:
        sink: takes each row; one that raises stops what was being decided, and leaves a gap in ``seq``.
        policy: version of the policy in force; changed when the policy is.
    """

    __slots__ = ("_seq", "_sink", "policy", "tally")

    def __init__(self, sink: AuditSink, policy: str) -> None:
        self._sink = sink
        self.policy = policy
        self._seq = 0
        self.tally: Counter[str] = Counter()
        """How often each decision was given, by its code; one entry a code."""

    def decision(
        self,
        code: str,
        now: Instant,
        *,
        rule: str,
        request: ActionRequest,
        canonical: Canonical | None,
        role: Role,
        marks: tuple[BudgetMark, ...] = (),
        effect: EffectKey | None = None,
        approval: Approval | None = None,
    ) -> None:
        """Record the answer to one request."""
        self.tally[code] += 1
        self._seq += 1
        self._sink(
            AuditRecord(
                seq=self._seq,
                at=now.wall,
                kind=AuditKind.DECISION,
                code=code,
                rule=rule,
                who=request.principal.key,
                role=role,
                origin=request.origin,
                conversation=request.conversation,
                generation=request.generation,
                action="" if canonical is None else canonical.verb.name,
                digest="" if canonical is None else canonical.digest,
                tainted=request.tainted,
                budgets=marks,
                effect=effect,
                approval_id=None if approval is None else approval.approval_id,
                correlation=request.correlation,
                cause=request.cause,
                ordinal=request.ordinal,
                policy=self.policy,
            )
        )

    def settlement(self, entry: Entry, now: Instant) -> None:
        """Record how an effect ended, or that it is in doubt."""
        self._effect(AuditKind.SETTLEMENT, entry.state.value, entry, now)

    def refusal(self, refusal: RedeemRefusal, now: Instant, *, generation: Generation, entry: Entry | None) -> None:
        """Record that a handle was not honoured."""
        if entry is not None:
            self._effect(AuditKind.REDEEM_REFUSED, refusal.value, entry, now)
            return
        self._seq += 1
        self._sink(
            AuditRecord(
                seq=self._seq,
                at=now.wall,
                kind=AuditKind.REDEEM_REFUSED,
                code=refusal.value,
                generation=generation,
                policy=self.policy,
            )
        )

    def approval(
        self,
        approval: Approval,
        code: str,
        now: Instant,
        *,
        by: Principal | None = None,
        via: Origin | None = None,
        role: Role | None = None,
    ) -> None:
        """Record that an approval moved, or that an answer to it was turned away."""
        request = approval.request
        self._seq += 1
        self._sink(
            AuditRecord(
                seq=self._seq,
                at=now.wall,
                kind=AuditKind.APPROVAL,
                code=code,
                rule=approval.rule,
                who="" if by is None else by.key,
                role=role,
                origin=via,
                conversation=request.conversation,
                generation=request.generation,
                action=approval.canonical.verb.name,
                digest=approval.canonical.digest,
                tainted=request.tainted,
                effect=approval.effect,
                approval_id=approval.approval_id,
                correlation=request.correlation,
                cause=request.cause,
                ordinal=request.ordinal,
                policy=self.policy,
            )
        )

    def note(
        self,
        kind: AuditKind,
        code: str,
        now: Instant,
        *,
        by: Principal | None = None,
        via: Origin | None = None,
        role: Role | None = None,
    ) -> None:
        """Record something that concerns no single request."""
        self._seq += 1
        self._sink(
            AuditRecord(
                seq=self._seq,
                at=now.wall,
                kind=kind,
                code=code,
                who="" if by is None else by.key,
                role=role,
                origin=via,
                policy=self.policy,
            )
        )

    def _effect(self, kind: AuditKind, code: str, entry: Entry, now: Instant) -> None:
        request = entry.request
        self._seq += 1
        self._sink(
            AuditRecord(
                seq=self._seq,
                at=now.wall,
                kind=kind,
                code=code,
                rule=entry.rule,
                who=request.principal.key,
                role=entry.role,
                origin=request.origin,
                conversation=request.conversation,
                generation=request.generation,
                action=entry.canonical.verb.name,
                digest=entry.canonical.digest,
                tainted=request.tainted,
                effect=entry.effect,
                correlation=request.correlation,
                cause=request.cause,
                ordinal=request.ordinal,
                policy=self.policy,
            )
        )
