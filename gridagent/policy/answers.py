"""Whose answer to an approval counts, and what whoever gives one that doesn't is told.

Owns that one question; changes nothing but the count of wrong nonces. The gateway asks it before it
takes an answer. Its invariant (Spec: POL-7): the operator answers at the console; an owner, or an
authorised avatar where the policy says so and the request isn't their own, answers over direct IM with
the nonce; nobody else's answer counts, and they learn nothing about the approval.
"""

from __future__ import annotations

from typing import Final

from gridagent.authority import Origin, Principal, Role
from gridagent.config.policy import Approvers
from gridagent.policy.approvals import Approval, ApprovalState
from gridagent.policy.decisions import AnswerCode

__all__ = ("ANSWER_TO_ENDED", "turned_away")

ANSWER_TO_ENDED: Final = {
    ApprovalState.CLAIMED: AnswerCode.ALREADY_ANSWERED,
    ApprovalState.DENIED: AnswerCode.ALREADY_ANSWERED,
    ApprovalState.EXPIRED: AnswerCode.EXPIRED,
    ApprovalState.CANCELLED: AnswerCode.CANCELLED,
    ApprovalState.SUPERSEDED: AnswerCode.SUPERSEDED,
}
"""What somebody hears who answers an approval that has ended."""


def turned_away(
    approval: Approval | None, *, by: Principal, via: Origin, role: Role, nonce: str | None, approvers: Approvers
) -> AnswerCode | None:
    """Say why an answer doesn't count; None when it does.

    Args:
        approval: what is answered; None when nobody remembers it.
        by: who answers.
        via: the door it came through.
        role: the role in which they came through that door.
        nonce: what they showed.
        approvers: who may answer over IM.
    """
    operator = via is Origin.OPERATOR_CONSOLE and role is Role.OPERATOR
    if not operator and not _may_answer(approval, by, via, role, approvers):
        return AnswerCode.WRONG_PERSON
    if approval is None:
        return AnswerCode.UNKNOWN
    if (ended := ANSWER_TO_ENDED.get(approval.state)) is not None:
        return ended
    if operator:
        return None
    if approval.nonce_locked:
        return AnswerCode.NONCE_LOCKED
    return None if approval.proves(nonce) else AnswerCode.WRONG_NONCE


def _may_answer(approval: Approval | None, by: Principal, via: Origin, role: Role, approvers: Approvers) -> bool:
    if via is not Origin.DIRECT_IM:
        return False
    if role is Role.OWNER:
        return True
    own = approval is not None and approval.request.principal.key == by.key
    return role is Role.TRUSTED and approvers is Approvers.TRUSTED and not own
