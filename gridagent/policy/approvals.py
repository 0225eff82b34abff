"""Requests that wait for a person's yes: parked, answered once, or ended by time, cancellation or change.

Owns the approval table and the book of approvals; decides neither who may ask nor whether an allowed
request passes (the gateway does, under the day's policy). Its invariants (Spec: POL-7): an approval is
bound to the exact canonical arguments and to the policy it was opened under; it moves only along
`APPROVAL`, so one answer counts; the number of records, and of those one principal has waiting, is
bounded (Spec: BND-12).
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from enum import Enum
from hashlib import sha256
from typing import Final

import msgspec

from gridagent.authority import ActionRequest, DenialCode
from gridagent.errors import InternalError
from gridagent.ids import ApprovalId, EffectKey
from gridagent.limits import APPROVAL_RECORDS_MAX, APPROVALS_PER_PRINCIPAL_MAX
from gridagent.policy.canonical import Canonical
from gridagent.policy.decisions import Denied
from gridagent.state_table import StateTable

__all__ = (
    "APPROVAL",
    "Approval",
    "ApprovalBook",
    "ApprovalInput",
    "ApprovalState",
    "ApprovalView",
    "nonce_hash",
)

NONCE_ATTEMPTS_MAX: Final = 5


class ApprovalState(Enum):
    """How far an approval has come."""

    PENDING = "pending"
    ALLOWED = "allowed"
    """Somebody said yes; what they allowed has not been authorised yet."""
    CLAIMED = "claimed"
    """The yes was used up by one authorisation."""
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    """The turn that asked is over."""
    SUPERSEDED = "superseded"
    """The policy it was opened under is no longer in force."""


class ApprovalInput(Enum):
    """What moves an approval."""

    ALLOW = "allow"
    CLAIM = "claim"
    REFUSE = "refuse"
    EXPIRE = "expire"
    CANCEL = "cancel"
    SUPERSEDE = "supersede"


# Two phases: a yes is recorded first and used up second, so a crash between the two loses neither the
# answer nor the knowledge that nothing was done with it yet.
APPROVAL: Final = StateTable(
    "approval",
    initial=ApprovalState.PENDING,
    transitions={
        (ApprovalState.PENDING, ApprovalInput.ALLOW): ApprovalState.ALLOWED,
        (ApprovalState.PENDING, ApprovalInput.REFUSE): ApprovalState.DENIED,
        (ApprovalState.PENDING, ApprovalInput.EXPIRE): ApprovalState.EXPIRED,
        (ApprovalState.PENDING, ApprovalInput.CANCEL): ApprovalState.CANCELLED,
        (ApprovalState.PENDING, ApprovalInput.SUPERSEDE): ApprovalState.SUPERSEDED,
        (ApprovalState.ALLOWED, ApprovalInput.CLAIM): ApprovalState.CLAIMED,
        (ApprovalState.ALLOWED, ApprovalInput.REFUSE): ApprovalState.DENIED,
        (ApprovalState.ALLOWED, ApprovalInput.EXPIRE): ApprovalState.EXPIRED,
        (ApprovalState.ALLOWED, ApprovalInput.CANCEL): ApprovalState.CANCELLED,
        (ApprovalState.ALLOWED, ApprovalInput.SUPERSEDE): ApprovalState.SUPERSEDED,
    },
    terminal=frozenset(
        {
            ApprovalState.CLAIMED,
            ApprovalState.DENIED,
            ApprovalState.EXPIRED,
            ApprovalState.CANCELLED,
            ApprovalState.SUPERSEDED,
        }
    ),
)

_STILL_OPEN: Final = frozenset({ApprovalState.PENDING, ApprovalState.ALLOWED})
_ASKED_AGAIN: Final = {
    ApprovalState.DENIED: Denied(code=DenialCode.APPROVAL_DENIED, rule="approval"),
    ApprovalState.EXPIRED: Denied(code=DenialCode.APPROVAL_EXPIRED, rule="approval"),
    ApprovalState.CANCELLED: Denied(code=DenialCode.APPROVAL_CANCELLED, rule="approval"),
}

_FULL: Final = Denied(code=DenialCode.APPROVALS_FULL, rule="approvals")


def nonce_hash(nonce: str) -> bytes:
    """Return what is kept of a nonce. Nonces are random, so nothing more than a hash hides them."""
    return sha256(nonce.encode(errors="replace")).digest()


class Approval:
    """One parked request; its arguments are the canonical bytes, not the action the asker holds.

    Args:
        nonce: as the one IM that asks has it; None when only its hash is known, after a restart.
        expires_at: monotonic seconds.
        opened_wall: wall clock, in seconds.
        expires_wall: wall clock, in seconds; counts across a restart.
    """

    __slots__ = (
        "approval_id",
        "by",
        "canonical",
        "effect",
        "expires_at",
        "expires_wall",
        "nonce",
        "nonce_hash",
        "opened_wall",
        "policy_version",
        "request",
        "rule",
        "state",
        "summary",
        "wrong_nonces",
    )

    def __init__(
        self,
        *,
        approval_id: ApprovalId,
        nonce: str | None,
        nonce_hash: bytes,
        request: ActionRequest,
        canonical: Canonical,
        effect: EffectKey,
        rule: str,
        summary: str,
        expires_at: float,
        opened_wall: float,
        expires_wall: float,
        policy_version: str,
        state: ApprovalState = APPROVAL.initial,
        wrong_nonces: int = 0,
        by: str = "",
    ) -> None:
        self.approval_id = approval_id
        self.nonce = nonce
        self.nonce_hash = nonce_hash
        self.request = request
        self.canonical = canonical
        self.effect = effect
        self.rule = rule
        self.summary = summary
        self.expires_at = expires_at
        self.opened_wall = opened_wall
        self.expires_wall = expires_wall
        self.policy_version = policy_version
        self.state = state
        self.wrong_nonces = wrong_nonces
        self.by = by
        """Key of whoever answered."""

    @property
    def nonce_locked(self) -> bool:
        """Whether too many wrong nonces were tried."""
        return self.wrong_nonces >= NONCE_ATTEMPTS_MAX

    def has_nonce(self, digest: bytes) -> bool:
        """Compare the hash of a nonce with that of the right one, in constant time."""
        return hmac.compare_digest(digest, self.nonce_hash)


class ApprovalView(msgspec.Struct, frozen=True, kw_only=True):
    """A waiting approval as status shows it; never its nonce."""

    approval_id: ApprovalId
    action: str
    principal: str
    summary: str
    rule: str
    cause: str
    expires_at: float
    """Monotonic seconds."""
    allowed: bool = False
    """Somebody said yes before a restart, and nothing was done about it yet: it can be claimed."""


class ApprovalBook:
    """All approvals of one avatar.

    Bounds: `APPROVAL_RECORDS_MAX` records, the oldest ended one goes first; waiting ones never go, one
    more is refused.
    """

    __slots__ = ("_by_effect", "_ended", "_waiting", "_waiting_of")

    def __init__(self) -> None:
        # In the order in which they expire: those from before a restart, sorted, then each new one.
        self._waiting: OrderedDict[ApprovalId, Approval] = OrderedDict()
        self._ended: OrderedDict[ApprovalId, Approval] = OrderedDict()
        self._by_effect: dict[EffectKey, Approval] = {}
        self._waiting_of: dict[str, int] = {}

    def room_for(self, principal: str) -> Denied | None:
        """Say whether one more request of a principal can wait."""
        if len(self._waiting) >= APPROVAL_RECORDS_MAX:
            return _FULL
        return _FULL if self._waiting_of.get(principal, 0) >= APPROVALS_PER_PRINCIPAL_MAX else None

    def park(self, approval: Approval) -> None:
        """Let a request wait; there must be room for it.

        Raises:
            InternalError: its id is in use, which a source of ids must never let happen.
        """
        if approval.approval_id in self._waiting or approval.approval_id in self._ended:
            raise InternalError("two approvals were given one id")
        self._make_room()
        self._waiting[approval.approval_id] = approval
        self._by_effect[approval.effect] = approval
        who = approval.request.principal.key
        self._waiting_of[who] = self._waiting_of.get(who, 0) + 1

    def recall(self, approval: Approval) -> None:
        """Take in one that ended before a restart."""
        self._make_room()
        self._ended[approval.approval_id] = approval
        self._by_effect[approval.effect] = approval

    def _make_room(self) -> None:
        if len(self._waiting) + len(self._ended) >= APPROVAL_RECORDS_MAX:
            _, oldest = self._ended.popitem(last=False)
            if self._by_effect.get(oldest.effect) is oldest:
                del self._by_effect[oldest.effect]

    def find(self, approval_id: ApprovalId) -> Approval | None:
        """Return an approval, waiting or ended, as far as is remembered."""
        return self._waiting.get(approval_id) or self._ended.get(approval_id)

    def asked_before(self, effect: EffectKey) -> Approval | Denied | None:
        """Say what became of an earlier request for this very effect: still waiting, or turned down."""
        earlier = self._by_effect.get(effect)
        if earlier is None:
            return None
        return earlier if earlier.state in _STILL_OPEN else _ASKED_AGAIN.get(earlier.state)

    def move(self, approval: Approval, given: ApprovalInput) -> None:
        """Move an approval along its table.

        Raises:
            IllegalTransition: it has ended.
        """
        approval.state = APPROVAL.step(approval.state, given)
        if approval.state in APPROVAL.terminal:
            del self._waiting[approval.approval_id]
            self._ended[approval.approval_id] = approval
            who = approval.request.principal.key
            self._waiting_of[who] -= 1
            if not self._waiting_of[who]:
                del self._waiting_of[who]

    def waiting(self) -> tuple[Approval, ...]:
        """Return the waiting approvals, the first to expire first."""
        return tuple(self._waiting.values())

    def all(self) -> tuple[Approval, ...]:
        """Return every approval that is remembered, ended ones first."""
        return (*self._ended.values(), *self._waiting.values())

    def first_to_expire(self) -> Approval | None:
        """Return the approval that expires next."""
        return next(iter(self._waiting.values()), None)

    def views(self) -> tuple[ApprovalView, ...]:
        """Return the waiting approvals as status shows them."""
        return tuple(
            ApprovalView(
                approval_id=approval.approval_id,
                action=approval.canonical.verb.name,
                principal=approval.request.principal.key,
                summary=approval.summary,
                rule=approval.rule,
                cause=approval.request.cause,
                expires_at=approval.expires_at,
                allowed=approval.state is ApprovalState.ALLOWED,
            )
            for approval in self._waiting.values()
        )
