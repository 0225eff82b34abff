"""The desk where people answer: opens approvals, says whose answer counts, and ends them.

Owns the book of approvals and the question of who may answer; authorises nothing: what an accepted yes
leads to is decided by the gateway, which alone calls it. Its invariant (Spec: POL-7): the operator answers
at the console; an owner, or an authorised avatar where the policy says so and the request isn't their own,
answers over direct IM with the nonce; nobody else's answer counts, and they learn nothing about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from gridagent.authority import Origin, Principal, Role
from gridagent.config.policy import Approvers
from gridagent.ids import ApprovalId, EffectKey
from gridagent.policy.approvals import Approval, ApprovalBook, ApprovalInput, ApprovalState, ApprovalView
from gridagent.policy.audit import AuditKind
from gridagent.policy.decisions import AnswerCode, Denied, Ended, Instant
from gridagent.policy.journal import Journal
from gridagent.policy.rules import Question
from gridagent.policy.summary import summarise_for_approval

__all__ = ("Answerer", "ApprovalDesk")

_TO_ENDED: Final = {
    ApprovalState.CLAIMED: AnswerCode.ALREADY_ANSWERED,
    ApprovalState.DENIED: AnswerCode.ALREADY_ANSWERED,
    ApprovalState.EXPIRED: AnswerCode.EXPIRED,
    ApprovalState.CANCELLED: AnswerCode.CANCELLED,
    ApprovalState.SUPERSEDED: AnswerCode.SUPERSEDED,
}
"""What somebody hears who answers an approval that has ended."""


class Answerer(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers, through which door, in which role, with which nonce."""

    by: Principal
    via: Origin
    role: Role
    nonce: str | None


class ApprovalDesk:
    """All approvals of one avatar.

    Args:
        tokens: source of ids and nonces.
        journal: takes a row for every change.
    """

    __slots__ = ("_book", "_journal", "_tokens")

    def __init__(self, tokens: Callable[[], str], journal: Journal) -> None:
        self._book = ApprovalBook()
        self._tokens = tokens
        self._journal = journal

    def asked_before(self, effect: EffectKey, now: Instant) -> Approval | Denied | None:
        """Say what became of an earlier request for this very effect: still waiting, or turned down."""
        earlier = self._book.asked_before(effect)
        if isinstance(earlier, Approval) and now.monotonic >= earlier.expires_at:
            self._end(earlier, ApprovalInput.EXPIRE, now)
            return self._book.asked_before(effect)
        return earlier

    def room_for(self, principal: str) -> Denied | None:
        """Say whether one more request of a principal can wait."""
        return self._book.room_for(principal)

    def open(self, question: Question, rule: str, now: Instant) -> Approval:
        """Make an approval for a question; it waits once it was parked."""
        canonical, policy = question.canonical, question.policy
        return Approval(
            approval_id=ApprovalId(self._tokens()),
            nonce=self._tokens(),
            request=question.request,
            canonical=canonical,
            effect=question.effect,
            rule=rule,
            summary=summarise_for_approval(canonical.action),
            expires_at=now.monotonic + policy.approval_ttl_s,
            policy_version=policy.version,
        )

    def park(self, approval: Approval) -> None:
        """Let it wait."""
        self._book.park(approval)

    def nonce_of(self, approval_id: ApprovalId) -> str | None:
        """Return the nonce of a waiting approval."""
        approval = self._book.find(approval_id)
        return approval.nonce if approval is not None and approval.state not in _TO_ENDED else None

    def receive(
        self, approval_id: ApprovalId, who: Answerer, now: Instant, approvers: Approvers
    ) -> Approval | AnswerCode:
        """Return the waiting approval whose answer this is, or say why the answer doesn't count."""
        approval = self._book.find(approval_id)
        if approval is not None and now.monotonic >= approval.expires_at:
            self._end(approval, ApprovalInput.EXPIRE, now)
        code = _turned_away(approval, who, approvers)
        if code is None and approval is not None:
            return approval
        said = code or AnswerCode.UNKNOWN
        if approval is None:
            self._journal.note(AuditKind.APPROVAL, said.value, now, by=who.by, via=who.via, role=who.role)
        else:
            self.report(approval, said, who, now)
        return said

    def answered(self, approval: Approval, given: ApprovalInput, code: AnswerCode, who: Answerer, now: Instant) -> None:
        """Use an accepted answer up: a yes that led to an authorisation, or whatever else a no."""
        if code is not AnswerCode.DENIED:
            self._book.move(approval, ApprovalInput.ALLOW)
        self._book.move(approval, given)
        self.report(approval, code, who, now)

    def report(self, approval: Approval, code: AnswerCode, who: Answerer, now: Instant) -> None:
        """Record what an answer came to."""
        self._journal.approval(approval, code.value, now, by=who.by, via=who.via, role=who.role)

    def end_all(self, given: ApprovalInput, now: Instant) -> tuple[Ended, ...]:
        """End every waiting approval."""
        return self._end_each(self._book.waiting(), given, now)

    def end_due(self, now: Instant) -> tuple[Ended, ...]:
        """End every approval whose time is up."""
        due = (approval for approval in self._book.waiting() if now.monotonic >= approval.expires_at)
        return self._end_each(due, ApprovalInput.EXPIRE, now)

    def end_of_cause(self, cause: str, now: Instant) -> tuple[Ended, ...]:
        """End every approval that one turn asked for."""
        asked = (approval for approval in self._book.waiting() if approval.request.cause == cause)
        return self._end_each(asked, ApprovalInput.CANCEL, now)

    def next_deadline(self) -> float | None:
        """Return when the next approval expires, in monotonic seconds."""
        first = self._book.first_to_expire()
        return None if first is None else first.expires_at

    def views(self) -> tuple[ApprovalView, ...]:
        """Return the waiting approvals as status shows them."""
        return self._book.views()

    def _end_each(self, approvals: Iterable[Approval], given: ApprovalInput, now: Instant) -> tuple[Ended, ...]:
        ended = []
        for approval in approvals:
            self._end(approval, given, now)
            ended.append(
                Ended(
                    how=approval.state.value,
                    correlation=approval.request.correlation,
                    approval_id=approval.approval_id,
                    action=approval.canonical.action,
                )
            )
        return tuple(ended)

    def _end(self, approval: Approval, given: ApprovalInput, now: Instant) -> None:
        if approval.state not in _TO_ENDED:
            self._book.move(approval, given)
            self._journal.approval(approval, approval.state.value, now)


def _turned_away(approval: Approval | None, who: Answerer, approvers: Approvers) -> AnswerCode | None:
    """Say why an answer doesn't count; None when it does."""
    operator = who.via is Origin.OPERATOR_CONSOLE and who.role is Role.OPERATOR
    if not operator and not _may_answer(approval, who, approvers):
        return AnswerCode.WRONG_PERSON
    if approval is None:
        return AnswerCode.UNKNOWN
    if (ended := _TO_ENDED.get(approval.state)) is not None:
        return ended
    if operator:
        return None
    if approval.nonce_locked:
        return AnswerCode.NONCE_LOCKED
    return None if approval.proves(who.nonce) else AnswerCode.WRONG_NONCE


def _may_answer(approval: Approval | None, who: Answerer, approvers: Approvers) -> bool:
    if who.via is not Origin.DIRECT_IM:
        return False
    if who.role is Role.OWNER:
        return True
    own = approval is not None and approval.request.principal.key == who.by.key
    return who.role is Role.TRUSTED and approvers is Approvers.TRUSTED and not own
