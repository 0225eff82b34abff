"""The reference gateway: decide, answer, expire, replace, restart, the slow and obvious way.

Owns the order of a decision and the approvals. Tests run it beside `gridagent.policy.gateway` and compare every
answer and every row; no session uses it. It can't mint: its handles are objects that no backend takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import msgspec

from gridagent.actions import EffectClass, Resource
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Role
from gridagent.config.policy import Approvers, PolicySection
from gridagent.ids import ApprovalId, EffectKey
from gridagent.policy.approval_im import ImAnswer
from gridagent.policy.audit import AuditKind, BudgetMark
from gridagent.policy.authorized import AuthorizedAction
from gridagent.policy.decisions import (
    AnswerCode,
    ApprovalAnswer,
    Authorized,
    Decision,
    Denied,
    Ended,
    Instant,
    NeedsApproval,
    RedeemRefusal,
)
from gridagent.policy.reference.books import WAITS, Approval, Effect, Handle
from gridagent.policy.reference.rules import Rules
from gridagent.policy.reference.words import Form, draws, form_of, keepable, key_of, peer_of

__all__ = ("ReferenceGateway",)

NONCE_TRIES: Final = 5
_ASKED_AGAIN: Final = {
    "denied": DenialCode.APPROVAL_DENIED,
    "expired": DenialCode.APPROVAL_EXPIRED,
    "cancelled": DenialCode.APPROVAL_CANCELLED,
}
_ENDED: Final = {
    "claimed": AnswerCode.ALREADY_ANSWERED,
    "denied": AnswerCode.ALREADY_ANSWERED,
    "expired": AnswerCode.EXPIRED,
    "cancelled": AnswerCode.CANCELLED,
    "superseded": AnswerCode.SUPERSEDED,
}
_PASSING: Final = ("held", "safe_mode", "not_ready", "resource_busy", "ledger_full")


class ReferenceGateway(Rules):
    """Decides for one avatar; see `gridagent.policy.reference.books.Books` for its arguments."""

    # --- decide -----------------------------------------------------------------------------------

    def decide(self, request: ActionRequest, now: Instant, *, busy: frozenset[Resource] = frozenset()) -> Decision:
        """Answer one request."""
        return self._decide(request, now, busy, None, "")

    def _decide(  # noqa: C901, PLR0911 - one step a rule
        self, request: ActionRequest, now: Instant, busy: frozenset[Resource], approved: Approval | None, by: str
    ) -> Decision:
        form = form_of(request.action)
        if isinstance(form, DenialCode):
            rule = "kind" if form is DenialCode.UNKNOWN_ACTION else "arguments"
            return self._deny(Denied(code=form, rule=rule), now, request, None)
        if self.keeps and not keepable(request, form):
            return self._deny(Denied(code=DenialCode.INVALID_ARGUMENTS, rule="request"), now, request, form)
        effect = key_of(request, form)
        found = self._first_finding(request, form)
        if isinstance(found, Denied):
            return self._deny(found, now, request, form)
        if request.grant is not None:
            refused = self._grant_refuses(request.grant, request, form, now)
            if refused is not None:
                return self._deny(refused, now, request, form)
        if self._knows(effect):
            return self._deny(Denied(code=DenialCode.DUPLICATE, rule="ledger"), now, request, form)
        if found and approved is None and request.grant is None and not self._operators_own(request):
            return self._park(request, form, effect, found, now)
        spec = form.action.spec
        doubtful = [each for each in self.effects if each.state == "in_doubt"]
        full = len(self.effects) - len(doubtful) >= self.sizes.open_effects
        if full or (spec.effect is EffectClass.ONCE and len(doubtful) >= self.sizes.open_effects):
            return self._deny(Denied(code=DenialCode.LEDGER_FULL, rule="ledger"), now, request, form)
        paying = any(
            each.form.action.spec.resource is Resource.PAYMENT and each.state != "in_doubt" for each in self.effects
        )
        taken = spec.resource in busy or (spec.resource is Resource.PAYMENT and paying)
        if taken and not spec.preempts:
            busy_with = Denied(code=DenialCode.RESOURCE_BUSY, rule=f"resource.{spec.resource.value}")
            return self._deny(busy_with, now, request, form)
        charged = self._charge(request, form, now, commit=True)
        if charged and isinstance(charged[0], Denied):
            return self._deny(charged[0], now, request, form, charged[1])
        return self._authorize(request, form, effect, charged, now, approved, by)

    def _authorize(
        self,
        request: ActionRequest,
        form: Form,
        effect: EffectKey,
        marks: object,
        now: Instant,
        approved: Approval | None,
        by: str,
    ) -> Authorized:
        rule = f"matrix.{request.origin.value}.{form.action.spec.capability.value}"
        if approved is not None:
            rule = approved.rule
        if request.grant is not None:
            rule = "grant"
            grant = next(each for each in self.usable if each.grant_id == request.grant)
            grant.line.charges.append(("", self.budgets.clock.advance(now), 1))
            grant.used += 1
        taken = Effect(
            key=effect,
            form=form,
            request=request,
            role=self._role(request.principal, request.origin),
            rule=rule,
            handle=Handle(),
            at=now.wall,
            expires_at=now.monotonic + self.section.handle_ttl_s,
        )
        approval_id = None if approved is None else approved.approval_id
        self._decided("authorized", now, request, form, rule, budgets=marks, effect=effect, approval_id=approval_id)
        if approved is not None:
            approved.by = by
            self._end_approval(approved, "claimed")
        self.effects.append(taken)
        if self.section.dry_run:
            self._end_effect(taken, "refused", RedeemRefusal.DRY_RUN)
            self._settled(taken, now)
        return Authorized(
            handle=cast("AuthorizedAction", taken.handle),
            effect=effect,
            action=form.action,
            deadline_s=form.action.spec.deadline_s,
            rule=rule,
            dry_run=self.section.dry_run,
            correlation=request.correlation,
        )

    def _deny(
        self, denied: Denied, now: Instant, request: ActionRequest, form: Form | None, marks: object = ()
    ) -> Denied:
        self._decided(denied.code.value, now, request, form, denied.rule, budgets=marks)
        return denied

    def _charge(
        self, request: ActionRequest, form: Form, now: Instant, *, commit: bool
    ) -> tuple[BudgetMark, ...] | tuple[Denied, tuple[BudgetMark, ...]]:
        return self.budgets.charge(
            draws(form.action, request.travel_m),
            now,
            key=request.principal.key,
            stranger=self._role(request.principal, request.origin).rank < Role.TRUSTED.rank,
            peer=peer_of(form.action),
            commit=commit,
        )

    # --- approvals --------------------------------------------------------------------------------

    def _park(self, request: ActionRequest, form: Form, effect: EffectKey, rule: str, now: Instant) -> Decision:
        earlier = next((each for each in reversed([*self.answered, *self.waiting]) if each.effect == effect), None)
        if earlier is not None:
            self._end_if_over(earlier, now)
            for state, code in _ASKED_AGAIN.items():
                if earlier.state == state:
                    return self._deny(Denied(code=code, rule="approval"), now, request, form)
        if earlier is None or earlier.state not in WAITS:
            short = self._charge(request, form, now, commit=False)
            if short and isinstance(short[0], Denied):
                return self._deny(short[0], now, request, form, short[1])
            of_theirs = [each for each in self.waiting if each.request.principal.key == request.principal.key]
            if len(self.waiting) >= self.sizes.approvals or len(of_theirs) >= self.sizes.approvals_each:
                return self._deny(Denied(code=DenialCode.APPROVALS_FULL, rule="approvals"), now, request, form)
            earlier = Approval(
                nonce=self._nonces(),
                approval_id=ApprovalId(self._tokens()),
                told=True,
                request=request,
                form=form,
                effect=effect,
                rule=rule,
                opened_wall=now.wall,
                expires_wall=now.wall + self.section.approval_ttl_s,
                expires_at=now.monotonic + self.section.approval_ttl_s,
                version=self.version,
            )
            if len(self.waiting) + len(self.answered) >= self.sizes.approvals:
                del self.answered[0]
            self.waiting.append(earlier)
        approval_id = earlier.approval_id
        self._decided("needs_approval", now, request, form, earlier.rule, effect=effect, approval_id=approval_id)
        return NeedsApproval(approval_id=approval_id, rule=earlier.rule, summary="", expires_at=earlier.expires_at)

    def _end_approval(self, approval: Approval, state: str) -> None:
        approval.state = state
        self.waiting.remove(approval)
        self.answered.append(approval)

    def _end_if_over(self, approval: Approval, now: Instant) -> None:
        if approval.state in WAITS and now.monotonic >= approval.expires_at:
            self._end_approval(approval, "expired")
            self._answered(approval, "expired", now, None)

    def _end_all(self, wanted: Callable[[Approval], bool], state: str, now: Instant) -> list[Ended]:
        ended = []
        for each in [each for each in self.waiting if wanted(each)]:
            self._end_approval(each, state)
            self._answered(each, state, now, None)
            correlation = each.request.correlation
            ended.append(
                Ended(how=state, correlation=correlation, approval_id=each.approval_id, action=each.form.action)
            )
        return ended

    def nonce_of(self, approval_id: ApprovalId) -> str | None:
        """Return the nonce of a waiting approval, where it is still known."""
        return next((each.nonce for each in self.waiting if each.approval_id == approval_id and each.told), None)

    def answer(
        self,
        approval_id: ApprovalId,
        *,
        allow: bool,
        by: Principal,
        via: Origin,
        nonce: str | None,
        now: Instant,
        busy: frozenset[Resource] = frozenset(),
    ) -> ApprovalAnswer:
        """Take a person's answer."""
        approval = next((each for each in [*self.waiting, *self.answered] if each.approval_id == approval_id), None)
        if approval is None:
            operator = via is Origin.OPERATOR_CONSOLE and self._role(by, via) is Role.OPERATOR
            known = operator or self._may_answer(None, by, via)
            code = AnswerCode.UNKNOWN if known else AnswerCode.WRONG_PERSON
            self._turned_away(AuditKind.APPROVAL, code.value, now, by, via)
            return ApprovalAnswer(approval_id=approval_id, code=code)
        return self._receive(approval, allow=allow, by=by, via=via, nonce=nonce, now=now, busy=busy)

    def answer_im(
        self, answer: ImAnswer, *, by: Principal, now: Instant, busy: frozenset[Resource] = frozenset()
    ) -> ApprovalAnswer:
        """Take an answer that came over direct IM."""
        via, nobody = Origin.DIRECT_IM, ApprovalId("")
        if not self._may_answer(None, by, via):
            self._turned_away(AuditKind.APPROVAL, "wrong_person", now, by, via)
            return ApprovalAnswer(approval_id=nobody, code=AnswerCode.WRONG_PERSON)
        for approval in [*self.answered, *self.waiting]:
            if approval.nonce == answer.nonce:
                return self._receive(
                    approval, allow=answer.allow, by=by, via=via, nonce=answer.nonce, now=now, busy=busy
                )
        for approval in self.waiting:
            if now.monotonic < approval.expires_at and self._may_answer(approval, by, via):
                approval.wrong = min(5, approval.wrong + 1)
        self._turned_away(AuditKind.APPROVAL, "wrong_nonce", now, by, via)
        return ApprovalAnswer(approval_id=nobody, code=AnswerCode.WRONG_NONCE)

    def claim(self, approval_id: ApprovalId, now: Instant) -> ApprovalAnswer:
        """Use up a yes from before a restart; here a yes is never left over, so there is none."""
        approval = next((each for each in [*self.waiting, *self.answered] if each.approval_id == approval_id), None)
        code = AnswerCode.UNKNOWN
        if approval is not None:
            self._end_if_over(approval, now)
            code = _ENDED.get(approval.state, AnswerCode.UNKNOWN)
        return ApprovalAnswer(approval_id=approval_id, code=code)

    def _may_answer(self, approval: Approval | None, by: Principal, via: Origin) -> bool:
        role = self._role(by, via)
        if via is not Origin.DIRECT_IM or role not in {Role.OWNER, Role.TRUSTED}:
            return False
        own = approval is not None and approval.request.principal.key == by.key
        return role is Role.OWNER or (self.section.approvers is Approvers.TRUSTED and not own)

    def _receive(
        self,
        approval: Approval,
        *,
        allow: bool,
        by: Principal,
        via: Origin,
        nonce: str | None,
        now: Instant,
        busy: frozenset[Resource],
    ) -> ApprovalAnswer:
        self._end_if_over(approval, now)
        operator = via is Origin.OPERATOR_CONSOLE and self._role(by, via) is Role.OPERATOR
        code: AnswerCode | None = None
        if not operator and not self._may_answer(approval, by, via):
            code = AnswerCode.WRONG_PERSON
        elif approval.state not in WAITS:
            code = _ENDED[approval.state]
        elif not operator and approval.wrong >= NONCE_TRIES:
            code = AnswerCode.NONCE_LOCKED
        elif not operator and nonce != approval.nonce:
            code = AnswerCode.WRONG_NONCE
            approval.wrong += 1
        if code is not None:
            self._answered(approval, code.value, now, (by, via))
            return ApprovalAnswer(approval_id=approval.approval_id, code=code)
        live = approval.request.generation if self.generation is None else self.generation
        request = msgspec.structs.replace(approval.request, action=approval.form.action, generation=live)
        decision: Decision = Denied(code=DenialCode.APPROVAL_DENIED, rule="approval")
        code, accepted = AnswerCode.DENIED, True
        if allow:
            decision = self._decide(request, now, busy, approval, by.key)
            code = AnswerCode.ALLOWED
            if isinstance(decision, Denied):
                accepted = decision.code.value not in _PASSING
                code = AnswerCode.REFUSED if accepted else AnswerCode.NOT_NOW
        if code in {AnswerCode.DENIED, AnswerCode.REFUSED}:
            self._end_approval(approval, "denied")
        self._answered(approval, code.value, now, (by, via))
        return ApprovalAnswer(
            approval_id=approval.approval_id, code=code, accepted=accepted, decision=decision, request=request
        )

    def cancel_cause(self, cause: str, now: Instant) -> list[Ended]:
        """End everything of a turn."""
        killed = self._kill(lambda each: each.request.cause == cause, RedeemRefusal.CANCELLED)
        ended = self._end_all(lambda each: each.request.cause == cause, "cancelled", now)
        return [*ended, *self._tell(killed, "cancelled", now)]

    # --- time, policy, restart ----------------------------------------------------------------------

    def expire(self, now: Instant) -> list[Ended]:
        """End everything whose time is up."""
        killed = self._kill(lambda each: now.monotonic >= each.expires_at, RedeemRefusal.EXPIRED)
        ended = self._end_all(lambda each: now.monotonic >= each.expires_at, "expired", now)
        ended += self._tell(killed, "expired", now)
        self.budgets.clock.advance(now)
        return ended + [self._end_grant(each, "expired", now) for each in list(self.usable) if self._over(each)]

    def next_deadline(self) -> float | None:
        """Return when `expire` has something to do next."""
        due = [each.expires_at for each in self.effects if each.state == "reserved"]
        return min([*due, *(each.expires_at for each in self.waiting)], default=None)

    def replace_policy(self, section: PolicySection, version: str, now: Instant) -> list[ApprovalId]:
        """Put another policy in force."""
        if version == self.version:
            return []
        self.section, self.version = section, version
        self.budgets.replace(section.budgets)
        killed = self._kill(lambda _: True, RedeemRefusal.SUPERSEDED)
        self._row(AuditKind.POLICY, "replaced", now)
        self._tell(killed, "superseded", now)
        self._end_forbidden_grants(now)
        ended = self._end_all(lambda _: True, "superseded", now)
        return [each.approval_id for each in ended if each.approval_id is not None]

    def restart(self, section: PolicySection, version: str, now: Instant, *, crashed: bool) -> list[Ended]:
        """Go on after a restart; after a crash with what the last charge left of the clock."""
        self.section, self.version, self._seq = section, version, 0
        self.tally.clear()
        self._dead.clear()
        self.loose.clear()
        self.generation, self.safe_mode = None, False
        self.budgets.restart(section.budgets, now, crashed=crashed)
        ended: list[Ended] = []
        cut_off = [each for each in self.effects if each.state != "in_doubt"]
        for each in cut_off:
            each.handle = None
            known = "refused" if each.state == "reserved" and not each.intended else "in_doubt"
            self._end_effect(each, known, RedeemRefusal.UNKNOWN)
        for each in cut_off:
            ended += self._tell([each], "not_sent" if each.state == "refused" else "crashed", now)
        wall = self.budgets.clock.wall_high / 1_000_000
        for approval in self.waiting:
            left = min(approval.expires_wall - approval.opened_wall, approval.expires_wall - wall)
            approval.expires_at = now.monotonic + left
            approval.told = False
        self.waiting.sort(key=lambda each: each.expires_at)
        ended += self._end_all(lambda each: each.version != version, "superseded", now)
        ended += self.expire(now)
        return ended + self._end_forbidden_grants(now)
