"""How the gateway's doings become audit rows, counters and changes to be made durable.

Owns the numbering of rows, the tallies of status and the way to both sinks; decides nothing. Only the
gateway and its desks call it. Its invariants: every decision, refused redemption, change of an approval or
grant, settlement, hold and change of policy gives exactly one row, in order (Spec: POL-10); what must
survive a restart gives exactly one change, and what a change would allow happens after it was taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gridagent.actions import InDoubt, Outcome, Refused, SettledBy
from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.ids import EffectKey, Generation, GrantId
from gridagent.policy.approvals import Approval
from gridagent.policy.audit import AuditKind, AuditRecord, AuditSink, BudgetMark
from gridagent.policy.budgets import BudgetSnapshot
from gridagent.policy.canonical import Canonical
from gridagent.policy.changes import Change, ChangeSink, EffectReserved, EffectSent, EffectSettled
from gridagent.policy.decisions import Ended, Instant, RedeemRefusal
from gridagent.policy.grants import GrantUse
from gridagent.policy.ledger import Entry
from gridagent.policy.verbs import Charges

__all__ = ("Journal",)


class Journal:
    """Numbers rows and hands them to the sink.

    Args:
        sink: takes each row; one that raises stops what was being decided, and leaves a gap in ``seq``.
        policy: version of the policy in force; changed when the policy is.
        changes: takes each change that a restart must not forget, where somebody keeps them.
    """

    __slots__ = ("_changes", "_seq", "_sink", "policy", "tally")

    def __init__(self, sink: AuditSink, policy: str, changes: ChangeSink | None = None) -> None:
        self._sink = sink
        self._changes = changes
        self.policy = policy
        self._seq = 0
        self.tally: Counter[str] = Counter()
        """How often each decision was given, by its code; one entry a code."""

    @property
    def keeps(self) -> bool:
        """Whether somebody keeps changes; if not, none need be made."""
        return self._changes is not None

    def keep(self, change: Change) -> None:
        """Have a change kept, if somebody keeps them."""
        if self._changes is not None:
            self._changes(change)

    def reserved(
        self,
        entry: Entry,
        now: Instant,
        *,
        charge: Charges,
        budgets: BudgetSnapshot,
        approval: Approval | None,
        grant: GrantUse | None,
        dry_run: bool,
    ) -> None:
        """Have it kept that an effect is reserved, with all that it costs: one step."""
        verb = entry.canonical.verb
        self.keep(
            EffectReserved(
                effect=entry.effect,
                action=verb.name,
                capability=verb.capability,
                effect_class=verb.effect,
                canonical=entry.canonical.raw,
                request=entry.request,
                generation=entry.generation,
                role=entry.role,
                rule=entry.rule,
                policy_version=self.policy,
                charge=charge,
                budgets=budgets,
                approval_id=None if approval is None else approval.approval_id,
                grant=grant,
                dry_run=dry_run,
                at=now.wall,
            )
        )

    def sent(self, entry: Entry, now: Instant) -> None:
        """Have it kept that an effect may happen from now on; said once."""
        if self._changes is not None and not entry.intended:
            self._changes(EffectSent(effect=entry.effect, at=now.wall))

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
                grant_id=request.grant,
                correlation=request.correlation,
                cause=request.cause,
                ordinal=request.ordinal,
                policy=self.policy,
            )
        )

    def settlement(
        self, entry: Entry, outcome: Outcome, now: Instant, *, by: SettledBy | None = None, proof: str = ""
    ) -> None:
        """Record how an effect ended, or that it is in doubt; of one that was in doubt, by whom and by what proof."""
        if self._changes is not None:
            self._changes(EffectSettled(effect=entry.effect, outcome=outcome, at=now.wall))
        self._effect(AuditKind.SETTLEMENT, entry.state.value, entry, now, by=by, proof=proof)

    def deaths(self, dead: Iterable[tuple[Entry, InDoubt | Refused]], now: Instant) -> tuple[Ended, ...]:
        """Record effects that the gateway ended by itself, and return them as what ended."""
        ended = []
        for entry, outcome in dead:
            self.settlement(entry, outcome, now)
            ended.append(
                Ended(
                    how=outcome.reason,
                    correlation=entry.request.correlation,
                    effect=entry.effect,
                    action=entry.canonical.action,
                    outcome=outcome,
                )
            )
        return tuple(ended)

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
        grant_id: GrantId | None = None,
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
                grant_id=grant_id,
                policy=self.policy,
            )
        )

    def _effect(
        self, kind: AuditKind, code: str, entry: Entry, now: Instant, *, by: SettledBy | None = None, proof: str = ""
    ) -> None:
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
                grant_id=request.grant,
                correlation=request.correlation,
                cause=request.cause,
                ordinal=request.ordinal,
                policy=self.policy,
                settled_by=by,
                proof=proof,
            )
        )
