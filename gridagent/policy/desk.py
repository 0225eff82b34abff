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

from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Role
from gridagent.config.policy import Approvers
from gridagent.ids import ApprovalId, EffectKey, Generation
from gridagent.policy.approval_im import nonce_from
from gridagent.policy.approvals import Approval, ApprovalBook, ApprovalInput, ApprovalState, ApprovalView, nonce_hash
from gridagent.policy.audit import AuditKind
from gridagent.policy.changes import ApprovalMoved, ApprovalOpened, ApprovalTried, StoredApproval
from gridagent.policy.decisions import AnswerCode, ApprovalAnswer, Decision, Denied, Ended, Instant
from gridagent.policy.journal import Journal
from gridagent.policy.policy import Policy
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


_PASSING: Final = frozenset(
    {
        DenialCode.HELD,
        DenialCode.SAFE_MODE,
        DenialCode.NOT_READY,
        DenialCode.RESOURCE_BUSY,
        DenialCode.LEDGER_FULL,
    }
)
"""Reasons that go away by themselves: a yes that meets one is not used up."""
_NONE: Final = ApprovalId("")


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

    def asked_before(self, effect: EffectKey, now: Instant, policy: Policy) -> Approval | Denied | None:
        """Say what became of an earlier request for this very effect: still waiting, or turned down."""
        earlier = self._book.asked_before(effect)
        if isinstance(earlier, Approval):
            self._end_if_over(earlier, now, policy)
        return self._book.asked_before(effect)

    def room_for(self, principal: str) -> Denied | None:
        """Say whether one more request of a principal can wait."""
        return self._book.room_for(principal)

    def open(self, question: Question, rule: str, now: Instant) -> Approval:
        """Make an approval for a question; it waits once it was parked."""
        canonical, policy = question.canonical, question.policy
        nonce = nonce_from(self._tokens())
        return Approval(
            approval_id=ApprovalId(self._tokens()),
            nonce=nonce,
            nonce_hash=nonce_hash(nonce),
            # A copy: whoever holds the request can't change what waits.
            request=msgspec.structs.replace(question.request, action=canonical.decode()),
            canonical=canonical,
            effect=question.effect,
            rule=rule,
            summary=summarise_for_approval(canonical.action),
            expires_at=now.monotonic + policy.approval_ttl_s,
            opened_wall=now.wall,
            expires_wall=now.wall + policy.approval_ttl_s,
            policy_version=policy.version,
        )

    def park(self, approval: Approval) -> None:
        """Let it wait."""
        if self._journal.keeps:
            self._journal.keep(_opened(approval))
        self._book.park(approval)

    def nonce_of(self, approval_id: ApprovalId) -> str | None:
        """Return the nonce of a waiting approval."""
        approval = self._book.find(approval_id)
        return approval.nonce if approval is not None and approval.state not in _TO_ENDED else None

    def is_nonce(self, nonce: str) -> bool:
        """Tell whether a nonce is that of a waiting approval."""
        digest = nonce_hash(nonce)
        return any(approval.has_nonce(digest) for approval in self._book.waiting())

    def receive(
        self, approval_id: ApprovalId, who: Answerer, now: Instant, policy: Policy
    ) -> Approval | ApprovalAnswer:
        """Return the waiting approval whose answer this is, or say why the answer doesn't count."""
        approval = self._book.find(approval_id)
        if approval is None:
            known = _is_operator(who) or _may_answer(None, who, policy.approvers)
            return self._turn_away(AnswerCode.UNKNOWN if known else AnswerCode.WRONG_PERSON, who, now, approval_id)
        return self._received(approval, who, now, policy)

    def receive_im(self, nonce: str, who: Answerer, now: Instant, policy: Policy) -> Approval | ApprovalAnswer:
        """Return the waiting approval whose nonce this is, or say why the answer doesn't count.

        A nonce that is nobody's was tried at every approval this person may answer, and counts for each of them.
        """
        if not _may_answer(None, who, policy.approvers):
            return self._turn_away(AnswerCode.WRONG_PERSON, who, now)
        digest = nonce_hash(nonce)
        # Every one is compared to its end, so that the time it takes tells nothing.
        found = [approval for approval in self._book.all() if approval.has_nonce(digest)]
        if found:
            return self._received(found[0], who, now, policy)
        for approval in self._book.waiting():
            if now.monotonic < approval.expires_at and _may_answer(approval, who, policy.approvers):
                self._try(approval)
        return self._turn_away(AnswerCode.WRONG_NONCE, who, now)

    def _received(self, approval: Approval, who: Answerer, now: Instant, policy: Policy) -> Approval | ApprovalAnswer:
        self._end_if_over(approval, now, policy)
        code = _why_not(approval, who, policy.approvers)
        if code is None:
            return approval
        if code is AnswerCode.WRONG_NONCE:
            self._try(approval)
        self._report(approval, code, who, now)
        return ApprovalAnswer(approval_id=approval.approval_id, code=code)

    def _end_if_over(self, approval: Approval, now: Instant, policy: Policy) -> None:
        """End an approval that nobody has looked at since its time was up, or since its policy went."""
        if now.monotonic >= approval.expires_at:
            self._end(approval, ApprovalInput.EXPIRE, now)
        elif approval.policy_version != policy.version:
            self._end(approval, ApprovalInput.SUPERSEDE, now)

    def _try(self, approval: Approval) -> None:
        if not approval.nonce_locked:
            approval.wrong_nonces += 1
            self._journal.keep(ApprovalTried(approval_id=approval.approval_id, wrong_nonces=approval.wrong_nonces))

    def _turn_away(
        self, code: AnswerCode, who: Answerer, now: Instant, approval_id: ApprovalId = _NONE
    ) -> ApprovalAnswer:
        self._journal.note(AuditKind.APPROVAL, code.value, now, by=who.by, via=who.via, role=who.role)
        return ApprovalAnswer(approval_id=approval_id, code=code)

    def allowed_earlier(self, approval_id: ApprovalId, now: Instant, policy: Policy) -> Approval | ApprovalAnswer:
        """Return an approval that was allowed before a restart and waits to be claimed, or why there is none."""
        approval = self._book.find(approval_id)
        code = AnswerCode.UNKNOWN
        if approval is not None:
            self._end_if_over(approval, now, policy)
            if approval.state is ApprovalState.ALLOWED:
                return approval
            code = _TO_ENDED.get(approval.state, AnswerCode.UNKNOWN)
        return ApprovalAnswer(approval_id=approval_id, code=code)

    def request_now(self, approval: Approval, live: Generation | None) -> ActionRequest:
        """Return the parked request as it is decided now, for the connection that is live.

        The arguments are taken from the bytes that were shown, whatever became of any copy since.
        """
        generation = approval.request.generation if live is None else live
        return msgspec.structs.replace(approval.request, action=approval.canonical.decode(), generation=generation)

    def allow(self, approval: Approval, by: str, now: Instant) -> None:
        """Record a yes that will be used up next; one that was recorded before a restart stands."""
        if approval.state is ApprovalState.PENDING:
            self._move(approval, (ApprovalInput.ALLOW,), by, now)

    def claimed(self, approval: Approval) -> None:
        """Use a recorded yes up; that it is so went into the change of the effect it led to."""
        self._book.move(approval, ApprovalInput.CLAIM)

    def conclude(
        self,
        approval: Approval,
        request: ActionRequest,
        decision: Decision,
        who: Answerer | None,
        now: Instant,
        *,
        allow: bool,
    ) -> ApprovalAnswer:
        """Say what an accepted answer came to, and use it up unless what stands in its way goes away by itself."""
        accepted, code = True, AnswerCode.ALLOWED
        if isinstance(decision, Denied):
            accepted = not allow or decision.code not in _PASSING
            code = AnswerCode.DENIED if not allow else AnswerCode.REFUSED if accepted else AnswerCode.NOT_NOW
        if accepted and code is not AnswerCode.ALLOWED:
            steps: tuple[ApprovalInput, ...] = (ApprovalInput.REFUSE,)
            if allow and approval.state is ApprovalState.PENDING:
                steps = (ApprovalInput.ALLOW, *steps)
            self._move(approval, steps, approval.by if who is None else who.by.key, now)
        self._report(approval, code, who, now)
        return ApprovalAnswer(
            approval_id=approval.approval_id, code=code, accepted=accepted, decision=decision, request=request
        )

    def _move(self, approval: Approval, given: tuple[ApprovalInput, ...], by: str, now: Instant) -> None:
        for each in given:
            self._book.move(approval, each)
        approval.by = by
        if self._journal.keeps:
            self._journal.keep(ApprovalMoved(approval_id=approval.approval_id, given=given, by=by, at=now.wall))

    def _report(self, approval: Approval, code: AnswerCode, who: Answerer | None, now: Instant) -> None:
        """Record what an answer came to; of a yes from before a restart, nobody is there to be named."""
        if who is None:
            self._journal.approval(approval, code.value, now)
        else:
            self._journal.approval(approval, code.value, now, by=who.by, via=who.via, role=who.role)

    # --- across a restart -------------------------------------------------------------------------

    def stored(self) -> tuple[StoredApproval, ...]:
        """Return every approval that is remembered, as it is kept."""
        return tuple(
            StoredApproval(
                opened=_opened(approval), state=approval.state, wrong_nonces=approval.wrong_nonces, by=approval.by
            )
            for approval in self._book.all()
        )

    def recall(self, approval: Approval) -> None:
        """Take in an approval from before a restart; waiting ones in the order in which they expire."""
        if approval.state in _TO_ENDED:
            self._book.recall(approval)
        else:
            self._book.park(approval)

    # --- ends -------------------------------------------------------------------------------------

    def end_stale(self, version: str, now: Instant) -> tuple[Ended, ...]:
        """End every waiting approval that was opened under another policy."""
        stale = (approval for approval in self._book.waiting() if approval.policy_version != version)
        return self._end_each(stale, ApprovalInput.SUPERSEDE, now)

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
            self._move(approval, (given,), approval.by, now)
            self._journal.approval(approval, approval.state.value, now)


def _opened(approval: Approval) -> ApprovalOpened:
    return ApprovalOpened(
        approval_id=approval.approval_id,
        effect=approval.effect,
        nonce_hash=approval.nonce_hash,
        canonical=approval.canonical.raw,
        request=approval.request,
        rule=approval.rule,
        policy_version=approval.policy_version,
        opened_at=approval.opened_wall,
        expires_at=approval.expires_wall,
    )


def _is_operator(who: Answerer) -> bool:
    return who.via is Origin.OPERATOR_CONSOLE and who.role is Role.OPERATOR


def _why_not(approval: Approval, who: Answerer, approvers: Approvers) -> AnswerCode | None:
    """Say why an answer doesn't count; None when it does."""
    operator = _is_operator(who)
    if not operator and not _may_answer(approval, who, approvers):
        return AnswerCode.WRONG_PERSON
    if (ended := _TO_ENDED.get(approval.state)) is not None:
        return ended
    if operator:
        return None
    if approval.nonce_locked:
        return AnswerCode.NONCE_LOCKED
    right = who.nonce is not None and approval.has_nonce(nonce_hash(who.nonce))
    return None if right else AnswerCode.WRONG_NONCE


def _may_answer(approval: Approval | None, who: Answerer, approvers: Approvers) -> bool:
    own = approval is not None and approval.request.principal.key == who.by.key
    trusted = who.role is Role.TRUSTED and approvers is Approvers.TRUSTED and not own
    return who.via is Origin.DIRECT_IM and (who.role is Role.OWNER or trusted)
