"""Every reason of the reference gateway to say no, and its grants, in plain conditions.

Owns the reading of the section as it was written. Its invariant: each rule returns a denial, the name of the
rule that wants a person asked, or nothing.
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import EffectClass
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Provenance, Role
from gridagent.config.policy import Admission, ApprovalNeed, Pattern, TaintVerdict
from gridagent.ids import EffectKey, GrantId
from gridagent.policy.audit import AuditKind
from gridagent.policy.decisions import Denied, Ended, GrantAnswer, GrantCode, Instant
from gridagent.policy.grants import GrantTerms
from gridagent.policy.reference.books import Grant
from gridagent.policy.reference.budgets import Line
from gridagent.policy.reference.effects import Effects
from gridagent.policy.reference.words import Form, form_of, matches, withdraws

__all__ = ("Rules",)

_LEAST: Final = {Admission.ANYONE: 1, Admission.TRUSTED: 2, Admission.OWNER: 3, Admission.DENY: 5}


class Rules(Effects):
    """The rules of one avatar's policy."""

    # --- the rules, in their order ------------------------------------------------------------------

    def _first_finding(self, request: ActionRequest, form: Form) -> Denied | str:
        """Return the first denial; without one, the first rule that wants a person asked."""
        ask = ""
        for rule in (self._open, self._let_through, self._taint, self._target, self._patterns, self._needs_a_yes):
            found = rule(request, form)
            if isinstance(found, Denied):
                return found
            ask = ask or found
        return ask

    def _open(self, request: ActionRequest, form: Form) -> Denied | str:
        if self.held:
            return Denied(code=DenialCode.HELD, rule="hold")
        if self.safe_mode and form.action.spec.effect is EffectClass.ONCE:
            return Denied(code=DenialCode.SAFE_MODE, rule="safe_mode")
        if self.generation is None:
            return Denied(code=DenialCode.NOT_READY, rule="generation")
        if request.generation != self.generation:
            return Denied(code=DenialCode.STALE_GENERATION, rule="generation")
        return ""

    def _cell(self, origin: Origin, form: Form) -> int:
        row = self.section.matrix.get(origin, {})
        return 5 if origin is Origin.OBJECT_TEXT else _LEAST[row.get(form.action.spec.capability, Admission.DENY)]

    def _let_through(self, request: ActionRequest, form: Form) -> Denied | str:
        if request.origin is Origin.OBJECT_TEXT:
            return Denied(code=DenialCode.ORIGIN_MAY_NOT, rule="origin")
        least = self._cell(request.origin, form)
        if self._role(request.principal, request.origin).rank >= least:
            return ""
        code = DenialCode.ORIGIN_MAY_NOT if least > Role.OPERATOR.rank else DenialCode.ROLE_TOO_LOW
        return Denied(code=code, rule=f"matrix.{request.origin.value}.{form.action.spec.capability.value}")

    def _taint(self, request: ActionRequest, form: Form) -> Denied | str:
        capability = form.action.spec.capability
        verdict = self.section.tainted.get(capability, TaintVerdict.ALLOW)
        if not request.tainted or withdraws(form.action) or verdict is TaintVerdict.ALLOW:
            return ""
        rule = f"taint.{capability.value}"
        return Denied(code=DenialCode.TAINTED, rule=rule) if verdict is TaintVerdict.DENY else rule

    def _target(self, request: ActionRequest, form: Form) -> Denied | str:
        capability = form.action.spec.capability
        sources = self.section.target_from.get(capability)
        if form.target is None or withdraws(form.action) or sources is None or request.target_provenance in sources:
            return ""
        if self._operators_own(request) and Provenance.AUTHORISED_WORDS in sources:
            return ""
        return Denied(code=DenialCode.TARGET_NOT_AUTHORISED, rule=f"target.{capability.value}")

    def _patterns(self, _: ActionRequest, form: Form) -> Denied | str:
        return self._forbidden(form) or next(
            (f"pattern.{name}" for name, each in self.section.patterns.items() if _hits(each, "approve", form)), ""
        )

    def _forbidden(self, form: Form) -> Denied | None:
        for name, each in self.section.patterns.items():
            if _hits(each, "deny", form):
                return Denied(code=DenialCode.PATTERN_DENIED, rule=f"pattern.{name}")
        return None

    def _needs_a_yes(self, _: ActionRequest, form: Form) -> Denied | str:
        capability = form.action.spec.capability
        needed = self.section.approvals.get(capability) is ApprovalNeed.REQUIRED and not withdraws(form.action)
        return f"approval.{capability.value}" if needed else ""

    def _operators_own(self, request: ActionRequest) -> bool:
        role = self._role(request.principal, request.origin)
        return request.verbatim and role is Role.OPERATOR and request.origin is Origin.OPERATOR_CONSOLE

    def _knows(self, effect: EffectKey) -> bool:
        return effect in self.ends[True] or effect in self.ends[False] or any(e.key == effect for e in self.effects)

    # --- grants -----------------------------------------------------------------------------------

    def _grant_refuses(self, grant_id: GrantId, request: ActionRequest, form: Form, now: Instant) -> Denied | None:
        grant = next((each for each in [*self.usable, *self.used_up] if each.grant_id == grant_id), None)
        why = ""
        if request.origin is not Origin.SCHEDULE:
            why = "origin"
        elif grant is None:
            why = "unknown"
        elif grant.terms.principal != request.principal:
            why = "principal"
        elif form.raw not in grant.allowed:
            why = "mismatch"
        elif grant.state != "active":
            why = grant.state
        else:
            at = self.budgets.clock.advance(now)
            if self._over(grant):
                why = "expired"
            elif now.wall < grant.terms.valid_from:
                why = "early"
            elif grant.line.used("", at) >= grant.terms.times:
                return Denied(code=DenialCode.GRANT_SPENT, rule="grant.times")
        return Denied(code=DenialCode.GRANT_REFUSED, rule=f"grant.{why}") if why else None

    def _over(self, grant: Grant) -> bool:
        return self.budgets.clock.wall_high >= grant.terms.valid_until * 1_000_000

    def _permits(self, terms: GrantTerms, forms: list[Form]) -> Denied | None:
        rank = self._role(terms.principal, Origin.SCHEDULE).rank
        for form in forms:
            if rank < self._cell(Origin.SCHEDULE, form):
                rule = f"matrix.schedule.{form.action.spec.capability.value}"
                return Denied(code=DenialCode.ROLE_TOO_LOW, rule=rule)
            denied = self._forbidden(form)
            if denied is not None:
                return denied
        return None

    def give(self, terms: GrantTerms, *, by: Principal, via: Origin, now: Instant) -> GrantAnswer:
        """Give a grant; the terms are sound, or the reference is not asked."""
        if via is not Origin.OPERATOR_CONSOLE or self._role(by, via) is not Role.OPERATOR:
            self._turned_away(AuditKind.GRANT, "wrong_person", now, by, via)
            return GrantAnswer(code=GrantCode.WRONG_PERSON)
        forms = [form for form in map(form_of, terms.actions) if isinstance(form, Form)]
        denied = self._permits(terms, forms)
        if denied is not None:
            return GrantAnswer(code=GrantCode.DENIED, denied=denied)
        if len(self.usable) >= self.sizes.grants:
            return GrantAnswer(code=GrantCode.FULL)
        grant_id, line = GrantId(self._tokens()), Line(terms.window_s)
        self._row(AuditKind.GRANT, "given", now, who=by.key, origin=via, role=self._role(by, via), grant_id=grant_id)
        if len(self.usable) + len(self.used_up) >= self.sizes.grants:
            del self.used_up[0]
        self.usable.append(Grant(grant_id=grant_id, terms=terms, allowed=[form.raw for form in forms], line=line))
        return GrantAnswer(code=GrantCode.GIVEN, grant_id=grant_id)

    def revoke(self, grant_id: GrantId, *, by: Principal, via: Origin, now: Instant) -> GrantAnswer:
        """Take a grant back."""
        if via is not Origin.OPERATOR_CONSOLE or self._role(by, via) is not Role.OPERATOR:
            self._turned_away(AuditKind.GRANT, "wrong_person", now, by, via)
            return GrantAnswer(code=GrantCode.WRONG_PERSON)
        for grant in self.usable:
            if grant.grant_id == grant_id:
                self._end_grant(grant, "revoked", now, who=by.key, origin=via, role=self._role(by, via))
                return GrantAnswer(code=GrantCode.REVOKED, grant_id=grant_id)
        if any(grant.grant_id == grant_id for grant in self.used_up):
            return GrantAnswer(code=GrantCode.ENDED, grant_id=grant_id)
        self._turned_away(AuditKind.GRANT, "unknown", now, by, via)
        return GrantAnswer(code=GrantCode.UNKNOWN)

    def _end_grant(self, grant: Grant, state: str, now: Instant, **who: object) -> Ended:
        grant.state = state
        self.usable.remove(grant)
        self.used_up.append(grant)
        self._row(AuditKind.GRANT, state, now, grant_id=grant.grant_id, **who)
        return Ended(how=state, grant_id=grant.grant_id, action=grant.terms.actions[0])

    def _end_forbidden_grants(self, now: Instant) -> list[Ended]:
        gone = []
        for each in self.usable:
            forms = [form for form in map(form_of, each.terms.actions) if isinstance(form, Form)]
            if self._permits(each.terms, forms) is not None:
                gone.append(each)
        return [self._end_grant(each, "superseded", now) for each in gone]


def _hits(pattern: Pattern, then: str, form: Form) -> bool:
    return pattern.then.value == then and matches(pattern, form)
