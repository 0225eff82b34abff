"""Every reason to say no, in the one order in which they are tried.

Owns the rules: pure functions of a `Question`, each with a stable name and code. The gateway runs
`RULES` in order; the first denial wins, and a rule that wants a person asked is remembered while the
rest still may deny, so nobody is asked to allow what would be refused anyway. Canonical form comes
before them (``kind``, ``arguments``); `CAPACITY` and budgets (``budget.*``) come after, because a charge
must be the last thing that can fail. The order is part of the contract (``docs/reference/policy.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from gridagent.actions import EffectClass, Resource
from gridagent.authority import ActionRequest, DenialCode, Origin, Provenance, Role
from gridagent.config.policy import TaintVerdict
from gridagent.ids import EffectKey, Generation
from gridagent.policy.budgets import Payer
from gridagent.policy.canonical import Canonical
from gridagent.policy.decisions import Denied, Instant
from gridagent.policy.grants import GrantBook
from gridagent.policy.ledger import Ledger
from gridagent.policy.policy import Policy

__all__ = ("CAPACITY", "RULES", "Ask", "Finding", "Question", "Rule")


class Ask(msgspec.Struct, frozen=True):
    """A person must be asked, by this rule."""

    rule: str


Finding: TypeAlias = Denied | Ask | None

_TRUSTED: Final = Role.TRUSTED.rank


class Question(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """Everything the rules may look at; they change nothing in it."""

    request: ActionRequest
    canonical: Canonical
    effect: EffectKey
    role: Role
    rank: int
    withdraws: bool
    """The action only ends or declines something; it is never dangerous to let through."""
    policy: Policy
    ledger: Ledger
    grants: GrantBook
    now: Instant
    live: Generation | None
    held: bool
    safe_mode: bool
    busy: frozenset[Resource]

    @property
    def operators_own(self) -> bool:
        """Whether the operator wrote this very action: then its arguments are theirs, and they are the approver."""
        return self.request.verbatim and self.role is Role.OPERATOR and self.request.origin is Origin.OPERATOR_CONSOLE

    @property
    def payer(self) -> Payer:
        """Whose budgets it draws on."""
        verb = self.canonical.verb
        peer = getattr(self.canonical.action, verb.peer) if verb.peer else None
        return Payer(self.request.principal.key, self.rank < _TRUSTED, peer)


Rule: TypeAlias = Callable[[Question], Finding]

_HELD: Final = Denied(code=DenialCode.HELD, rule="hold")
_NOT_READY: Final = Denied(code=DenialCode.NOT_READY, rule="generation")
_STALE: Final = Denied(code=DenialCode.STALE_GENERATION, rule="generation")
_OBJECT: Final = Denied(code=DenialCode.ORIGIN_MAY_NOT, rule="origin")
_SAFE_MODE: Final = Denied(code=DenialCode.SAFE_MODE, rule="safe_mode")
_DUPLICATE: Final = Denied(code=DenialCode.DUPLICATE, rule="ledger")
_LEDGER_FULL: Final = Denied(code=DenialCode.LEDGER_FULL, rule="ledger")
_BUSY: Final = {
    resource: Denied(code=DenialCode.RESOURCE_BUSY, rule=f"resource.{resource.value}") for resource in Resource
}
_ADMITS_NOBODY: Final = Role.OPERATOR.rank + 1


def not_held(question: Question) -> Finding:
    """Nothing passes while the kill switch is on (Spec: POL-12)."""
    return _HELD if question.held else None


def storage_keeps(question: Question) -> Finding:
    """What costs something is done only while storage can promise to remember it (Spec: EFX-4, Fault: 39)."""
    return _SAFE_MODE if question.safe_mode and question.canonical.verb.effect is EffectClass.ONCE else None


def live_generation(question: Question) -> Finding:
    """Only the connection that is live now may be acted on (Spec: SUP-5)."""
    if question.live is None:
        return _NOT_READY
    return None if question.request.generation == question.live else _STALE


def origin_may_cause(question: Question) -> Finding:
    """Object and script text never causes anything, whatever the matrix says (Spec: POL-4, Fault: 15)."""
    return _OBJECT if question.request.origin is Origin.OBJECT_TEXT else None


def matrix(question: Question) -> Finding:
    """The door must let this role through for this capability; what isn't listed is denied (Spec: POL-4)."""
    least, rule = question.policy.cells[question.request.origin][question.canonical.verb.capability]
    if question.rank >= least:
        return None
    code = DenialCode.ORIGIN_MAY_NOT if least >= _ADMITS_NOBODY else DenialCode.ROLE_TOO_LOW
    return Denied(code=code, rule=rule)


def taint(question: Question) -> Finding:
    """A turn that has read a stranger's words may be refused, or may need a person's yes (Spec: POL-5)."""
    if not question.request.tainted or question.withdraws:
        return None
    capability = question.canonical.verb.capability
    verdict = question.policy.tainted.get(capability)
    if verdict is None:
        return None
    rule = f"taint.{capability.value}"
    return Denied(code=DenialCode.TAINTED, rule=rule) if verdict is TaintVerdict.DENY else Ask(rule)


def target(question: Question) -> Finding:
    """Payee, receiver and destination must come from where the policy says (Spec: POL-5)."""
    canonical = question.canonical
    if canonical.target is None or question.withdraws:
        return None
    allowed = question.policy.target_from.get(canonical.verb.capability)
    if allowed is None or question.request.target_provenance in allowed:
        return None
    if question.operators_own and Provenance.AUTHORISED_WORDS in allowed:
        return None
    return Denied(code=DenialCode.TARGET_NOT_AUTHORISED, rule=f"target.{canonical.verb.capability.value}")


def patterns(question: Question) -> Finding:
    """Configured tests over arguments; one that denies wins over one that asks (Spec: POL-14)."""
    canonical = question.canonical
    for pattern in question.policy.patterns.get(canonical.verb.kind, ()):
        if pattern.matches(canonical.action):
            return Ask(pattern.ask) if pattern.ask else pattern.denied
    return None


def approvals(question: Question) -> Finding:
    """Some capabilities need a person's yes each time (Spec: POL-14)."""
    rule = question.policy.asks.get(question.canonical.verb.capability)
    return None if rule is None or question.withdraws else Ask(rule)


def grant(question: Question) -> Finding:
    """Whoever draws on a schedule grant must match it in every point, whether or not a yes is needed (Spec: POL-8)."""
    request = question.request
    if request.grant is None:
        return None
    return question.grants.refusal(request.grant, request, question.canonical, question.now)


def unknown_effect(question: Question) -> Finding:
    """One cause has one effect, however often it is run again (Spec: EFX-2)."""
    return _DUPLICATE if question.ledger.knows(question.effect) else None


def room(question: Question) -> Finding:
    """One more effect must fit into the ledger (Spec: BND-16)."""
    return _LEDGER_FULL if question.ledger.full(question.canonical.verb.effect) else None


def resource_free(question: Question) -> Finding:
    """One payment in flight, one body (Spec: EFX-5, LIV-7)."""
    verb = question.canonical.verb
    taken = verb.resource in question.busy or question.ledger.occupies(verb.resource)
    return _BUSY[verb.resource] if taken and not verb.preempts else None


RULES: Final[tuple[Rule, ...]] = (
    not_held,
    storage_keeps,
    live_generation,
    origin_may_cause,
    matrix,
    taint,
    target,
    patterns,
    approvals,
    grant,
    unknown_effect,
)
"""The order of trial; ``kind`` and ``arguments`` come before. Then a person is asked, if one must be."""

CAPACITY: Final[tuple[Rule, ...]] = (room, resource_free)
"""Tried when nobody need be asked, or somebody has said yes; then budgets. What is full or busy now need
not be so when the answer comes, so it doesn't keep a request from being parked."""
