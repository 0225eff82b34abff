"""What one session writes down, in its own words: policy's objects in, records out.

Owns the view of one avatar on a store. A session makes one with `AvatarStore.open` before its gateway, gives the
gateway `AvatarStore.audit` for a sink and calls the rest at the few places named in ``docs/reference/storage.md``.
Decides nothing.

Invariants (Spec: EFX-2, POL-6, POL-7): what costs anything may be sent only after `sending` returned None; what was
charged goes along with the very transaction that says it may be sent; a yes and what it leads to are one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gridagent.actions import EffectClass, InDoubt, Outcome, Refused, action_name
from gridagent.authority import ActionRequest, Origin, Role
from gridagent.errors import InternalError, OutcomeUnknown, ResourceClosed
from gridagent.ids import ApprovalId, AvatarKey, EffectKey, Generation, GrantId
from gridagent.policy.approvals import ApprovalInput
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.budgets import BudgetSnapshot
from gridagent.policy.canonical import Canonical, canonicalise, effect_key
from gridagent.policy.decisions import Authorized, Instant, NeedsApproval
from gridagent.policy.verbs import VERBS
from gridagent.storage.approvals import hash_nonce
from gridagent.storage.base import SafeMode, StorageFailed, Store
from gridagent.storage.budgets import BudgetTracker
from gridagent.storage.records import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    AuditAppended,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GenerationUsed,
    GrantUsed,
    Record,
    Recovered,
)

__all__ = ("AvatarStore",)

SAFE_MODE: Final = Refused(reason="safe_mode")
"""Storage cannot promise to remember it, so it isn't done."""
STORAGE_UNKNOWN: Final = Refused(reason="storage_unknown")
"""Storage did not say in time whether it will remember; nothing was sent."""
DUPLICATE: Final = Refused(reason="duplicate")
"""An earlier run knows this very effect."""

_RESENT_NEVER: Final = frozenset({Origin.GOAL, Origin.SCHEDULE})
"""Doors whose causes come again after a restart, so that their words and walks must be remembered too."""
_STEPS: Final[dict[str, tuple[ApprovalInput, ...]]] = {
    "allowed": (ApprovalInput.ALLOW, ApprovalInput.CLAIM),
    "refused": (ApprovalInput.ALLOW, ApprovalInput.REFUSE),
    "denied": (ApprovalInput.REFUSE,),
    "expired": (ApprovalInput.EXPIRE,),
    "cancelled": (ApprovalInput.CANCEL,),
    "superseded": (ApprovalInput.SUPERSEDE,),
}
"""Where the code of an approval's audit row leads; an answer that was turned away moves nothing."""
_WRONG_NONCE: Final = "wrong_nonce"


class AvatarStore:
    """One avatar's view of a store; made by `open` only.

    Bounds: one entry an open effect and a waiting approval.
    """

    __slots__ = (
        "_avatar",
        "_charged",
        "_claim",
        "_clock",
        "_leave",
        "_open",
        "_snapshot",
        "_store",
        "_tracker",
        "_wrong",
        "recovered",
    )

    def __init__(self, store: Store, avatar: AvatarKey, recovered: Recovered) -> None:
        self._store = store
        self._avatar = avatar
        self.recovered = recovered
        """What must not be forgotten of earlier runs."""
        self._tracker = BudgetTracker(avatar, recovered.budgets)
        self._snapshot: Callable[[], BudgetSnapshot] | None = None
        self._charged = False
        self._claim: tuple[EffectKey | None, ApprovalMoved] | None = None
        self._open: set[EffectKey] = set()
        self._wrong = {row.approval_id: row.wrong_nonces for row in recovered.approvals}
        self._leave = store.ride(self._along)

    @classmethod
    async def open(cls, store: Store, avatar: AvatarKey) -> AvatarStore:
        """Begin a run of an avatar: see `gridagent.storage.base.Store.open_avatar`.

        Raises:
            StorageFailed: storage failed; the avatar must not be run on this store.

        Cancellation: opening it again is harmless.
        """
        return cls(store, avatar, await store.open_avatar(avatar))

    def close(self) -> None:
        """Say nothing more; idempotent. What was submitted is still written."""
        self._leave()

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set while nothing that costs anything may be done."""
        return self._store.safe_mode

    # --- audit and budgets ------------------------------------------------------------------------

    def audit(self, record: AuditRecord) -> None:
        """Take one row of the gateway; with it whatever it says about an approval and a charge.

        Never raises: a decision must not depend on a disk. In safe mode rows that find no room are counted as
        lost, and show as missing numbers.
        """
        row = AuditAppended(avatar=self._avatar, run=self.recovered.run, record=record)
        self._charged |= bool(record.budgets)
        if record.kind is not AuditKind.APPROVAL or record.approval_id is None:
            self._store.submit(row)
            return
        self._store.submit(row, *self._approval_moved(record.approval_id, record), urgent=True)

    def _approval_moved(self, approval_id: ApprovalId, record: AuditRecord) -> tuple[Record, ...]:
        if record.code == _WRONG_NONCE:
            tried = self._wrong[approval_id] = self._wrong.get(approval_id, 0) + 1
            return (ApprovalTried(approval_id=approval_id, wrong_nonces=tried),)
        steps = _STEPS.get(record.code)
        if steps is None:
            return ()
        self._wrong.pop(approval_id, None)
        moved = ApprovalMoved(approval_id=approval_id, steps=steps, at=record.at, by=record.who)
        if ApprovalInput.CLAIM in steps:
            # What it allows is reserved next, without an await between: both go into one record of the queue.
            self._claim = (record.effect, moved)
            return ()
        return (moved,)

    def watch_budgets(self, snapshot: Callable[[], BudgetSnapshot]) -> None:
        """Have what was charged written along with every transaction; ``snapshot`` is the gateway's."""
        self._snapshot = snapshot

    def _along(self) -> Sequence[Record]:
        """Ride in every transaction of the store."""
        records: list[Record] = []
        if self._claim is not None:  # of a dry run: nothing was reserved for it
            records.append(self._claim[1])
            self._claim = None
        if self._charged and self._snapshot is not None:
            self._charged = False
            records.append(self._tracker.changes(self._snapshot()))
        return records

    # --- effects ----------------------------------------------------------------------------------

    def reserved(
        self,
        authorized: Authorized,
        request: ActionRequest,
        *,
        role: Role,
        now: Instant,
        grant: GrantId | None = None,
    ) -> None:
        """Note that an effect was authorised and will be tried; call it where the work is taken up.

        Args:
            authorized: the gateway's answer; not of a dry run.
            request: what was asked for.
            role: the principal's.
            now: both clocks.
            grant: the schedule grant that it uses up a use of.
        """
        canonical = _canonical(request)
        effect = authorized.effect
        records: list[Record] = []
        if self._claim is not None and self._claim[0] == effect:
            records.append(self._claim[1])
            self._claim = None
        if grant is not None:
            records.append(GrantUsed(grant_id=grant, effect=effect, at=now.wall))
        spec = authorized.action.spec
        if spec.effect is EffectClass.ONCE or request.origin in _RESENT_NEVER:
            self._open.add(effect)
            records.append(
                EffectReserved(
                    effect=effect,
                    avatar=self._avatar,
                    run=self.recovered.run,
                    action=action_name(authorized.action),
                    capability=spec.capability,
                    effect_class=spec.effect,
                    canonical=canonical.raw,
                    request=request,
                    role=role,
                    rule=authorized.rule,
                    charge=VERBS[type(authorized.action)].charges(authorized.action, request.travel_m),
                    at=now.wall,
                )
            )
        if records:
            self._store.submit(*records)

    async def sending(self, authorized: Authorized, wall: float) -> Refused | None:
        """Ask before an effect is sent; what costs nothing is let through at once.

        Args:
            authorized: what is about to be redeemed.
            wall: wall clock, in seconds.

        Returns:
            None: go on, and redeem without another await in between. Else nothing may be sent, and this is how
            the effect ends.

        Cancellation: nothing was sent; whether storage knows that it was to be is settled by `settled`.
        """
        effect = authorized.effect
        if authorized.action.spec.effect is not EffectClass.ONCE:
            return None
        try:
            (known,) = await self._store.commit(EffectSent(effect=effect, run=self.recovered.run, at=wall))
        except (StorageFailed, ResourceClosed):
            return SAFE_MODE
        except OutcomeUnknown:
            return STORAGE_UNKNOWN
        return None if known else DUPLICATE

    def sent(self, effect: EffectKey, wall: float) -> None:
        """Note that a handle was redeemed: matters for what nobody waited for in `sending`."""
        if effect in self._open:
            self._store.submit(EffectSent(effect=effect, run=self.recovered.run, at=wall))

    def settled(self, effect: EffectKey, outcome: Outcome, wall: float) -> None:
        """Note how an effect of this run ended, or that it is in doubt."""
        if effect in self._open:
            self._open.discard(effect)
            run = self.recovered.run
            self._store.submit(EffectSettled(effect=effect, outcome=outcome, at=wall, run=run))

    def settled_late(self, effect: EffectKey, outcome: Outcome, wall: float) -> None:
        """Note how an effect in doubt ended after all: by evidence, or by hand.

        Raises:
            InternalError: it is still in doubt; that is no end.
        """
        if isinstance(outcome, InDoubt):
            raise InternalError("late evidence cannot leave an effect in doubt")
        self._store.submit(EffectSettled(effect=effect, outcome=outcome, at=wall), urgent=True)

    # --- connections ------------------------------------------------------------------------------

    async def open_generation(self, number: Generation) -> None:
        """Remember a connection's number before it is used.

        In safe mode it isn't remembered, and the connection is opened all the same: what could be mistaken for a
        later one's (what costs anything) is refused then.

        Cancellation: the connection is then not opened.
        """
        try:
            await self._store.commit(GenerationUsed(avatar=self._avatar, number=number))
        except (StorageFailed, OutcomeUnknown, ResourceClosed):
            return

    # --- approvals --------------------------------------------------------------------------------

    def approval_opened(
        self, needs: NeedsApproval, request: ActionRequest, *, nonce: str, policy_version: str, now: Instant
    ) -> None:
        """Note that a request waits for a person; what becomes of it comes with the audit rows."""
        canonical = _canonical(request)
        self._store.submit(
            ApprovalOpened(
                approval_id=needs.approval_id,
                avatar=self._avatar,
                effect=effect_key(request, canonical),
                nonce_hash=hash_nonce(nonce),
                canonical=canonical.raw,
                request=request,
                rule=needs.rule,
                summary=needs.summary,
                policy_version=policy_version,
                at=now.wall,
                expires_at=now.wall + (needs.expires_at - now.monotonic),
            ),
            urgent=True,
        )

    async def durable(self) -> bool:
        """Wait until everything said so far survives a power cut.

        Returns:
            False when storage cannot promise that.

        Cancellation: safe.
        """
        try:
            await self._store.commit()
        except (StorageFailed, OutcomeUnknown, ResourceClosed):
            return False
        return True


def _canonical(request: ActionRequest) -> Canonical:
    canonical = canonicalise(request.action)
    if not isinstance(canonical, Canonical):
        raise InternalError("the gateway let an action pass that has no canonical form")
    return canonical
