"""The fold of a gateway's changes into what they come to: what a restart begins with.

Owns the fold; reads no disk and decides nothing. Whoever keeps changes (storage, a simulation, a test) folds
them back into a `GatewaySnapshot`, from which `Gateway.restore` goes on.

Its invariants hold for a history cut between any two changes (Spec: EFX-2, POL-6, POL-7): it says what the
gateway's own snapshot would have said at that point, and taking in the last of it twice says nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeAlias, TypeVar

import msgspec

from gridagent.actions import EffectClass
from gridagent.ids import ApprovalId, EffectKey, GrantId
from gridagent.limits import APPROVAL_RECORDS_MAX, SCHEDULE_GRANTS_MAX, SETTLED_EFFECTS_MAX
from gridagent.policy.approvals import APPROVAL, ApprovalInput
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    BudgetsReplaced,
    Change,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GatewaySnapshot,
    GenerationOpened,
    GrantEnded,
    GrantGiven,
    HoldChanged,
    StoredApproval,
    StoredEffect,
    StoredGrant,
)
from gridagent.policy.grants import GRANT, GrantUse
from gridagent.policy.ledger import EFFECT, END_INPUTS, EffectInput, EffectState
from gridagent.policy.windows import BUCKETS, MICROSECONDS

__all__ = ("History",)

K = TypeVar("K")
V = TypeVar("V")

_RowKey: TypeAlias = tuple[object, object, int, str]


class _Shelf(Generic[K, V]):
    """Records of one kind; at the limit the oldest one that is over goes."""

    __slots__ = ("_limit", "_open", "_over", "_over_ones")

    def __init__(self, limit: int, is_over: Callable[[V], bool]) -> None:
        self._limit = limit
        self._over = is_over
        self._open: OrderedDict[K, V] = OrderedDict()
        self._over_ones: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        return self._open.get(key) or self._over_ones.get(key)

    def put(self, key: K, record: V) -> None:
        if self._over(record):
            self._open.pop(key, None)
            self._over_ones[key] = record
        else:
            self._open[key] = record
        if self._over_ones and len(self._open) + len(self._over_ones) > self._limit:
            self._over_ones.popitem(last=False)

    def all(self) -> tuple[V, ...]:
        return (*self._over_ones.values(), *self._open.values())


class History:
    """What a sequence of changes comes to; applying the last so many of them again changes nothing.

    Args:
        since: the snapshot that the changes follow.

    Bounds: those of the gateway whose changes they are; windows that hold nothing go with the next snapshot.
    """

    __slots__ = ("_approvals", "_budgets", "_effects", "_ends", "_generation", "_grants", "_held", "_rows")

    def __init__(self, since: GatewaySnapshot | None = None) -> None:
        start = GatewaySnapshot() if since is None else since
        self._generation = start.generation
        self._held = start.held
        self._budgets: BudgetSnapshot | None = None
        self._rows: dict[_RowKey, BudgetRow] = {}  # in the order of their last charge
        self._effects: dict[EffectKey, StoredEffect] = {each.effect: each for each in start.open_effects}
        self._ends = {True: OrderedDict.fromkeys(start.ended_once), False: OrderedDict.fromkeys(start.ended_light)}
        self._approvals: _Shelf[ApprovalId, StoredApproval] = _Shelf(
            APPROVAL_RECORDS_MAX, lambda each: each.state in APPROVAL.terminal
        )
        for approval in start.approvals:
            self._approvals.put(approval.opened.approval_id, approval)
        self._grants: _Shelf[GrantId, StoredGrant] = _Shelf(
            SCHEDULE_GRANTS_MAX, lambda each: each.state in GRANT.terminal
        )
        for grant in start.grants:
            self._grants.put(grant.grant.grant_id, grant)
        if start.budgets is not None:
            self._lay(start.budgets)

    def apply(self, change: Change) -> None:
        """Take the next change in; one that its table does not allow was taken in before."""
        _FOLD[type(change)](self, change)

    def snapshot(self) -> GatewaySnapshot:
        """Return what all of them come to."""
        return GatewaySnapshot(
            generation=self._generation,
            held=self._held,
            budgets=self._budgets_now(),
            open_effects=tuple(self._effects.values()),
            ended_once=tuple(self._ends[True]),
            ended_light=tuple(self._ends[False]),
            approvals=self._approvals.all(),
            grants=self._grants.all(),
        )

    # --- budgets ----------------------------------------------------------------------------------

    def _lay(self, budgets: BudgetSnapshot) -> None:
        """Lay newer windows over older ones."""
        self._budgets = budgets
        for row in budgets.rows:
            key = (row.meter, row.per, row.window_s, row.key)
            self._rows.pop(key, None)
            self._rows[key] = row

    def _replace_budgets(self, change: BudgetsReplaced) -> None:
        self._rows.clear()
        self._lay(change.budgets)

    def _budgets_now(self) -> BudgetSnapshot | None:
        if self._budgets is None:
            return None
        self._rows = {key: row for key, row in self._rows.items() if _counts(row, self._budgets.clock_us)}
        return msgspec.structs.replace(self._budgets, rows=tuple(self._rows.values()))

    # --- effects ----------------------------------------------------------------------------------

    def _reserve(self, change: EffectReserved) -> None:
        effect = change.effect
        self._lay(change.budgets)  # also of one that is known: what was laid over it is taken in again behind it
        if effect in self._effects or effect in self._ends[True] or effect in self._ends[False]:
            return
        self._effects[effect] = StoredEffect(
            effect=effect,
            effect_class=change.effect_class,
            canonical=change.canonical,
            request=change.request,
            generation=change.generation,
            role=change.role,
            rule=change.rule,
            at=change.at,
            state=EFFECT.initial,
        )
        if change.approval_id is not None:
            self._move_approval(change.approval_id, (ApprovalInput.CLAIM,))
        if change.grant is not None:
            self._use_grant(change.grant)

    def _send(self, change: EffectSent) -> None:
        self._move_effect(change.effect, EffectInput.SEND)

    def _settle(self, change: EffectSettled) -> None:
        self._move_effect(change.effect, END_INPUTS[type(change.outcome)])

    def _move_effect(self, effect: EffectKey, given: EffectInput) -> None:
        known = self._effects.get(effect)
        if known is None or not EFFECT.allows(known.state, given):
            return
        state, once = EFFECT.step(known.state, given), known.effect_class is EffectClass.ONCE
        if state is EffectState.SENT or (state is EffectState.IN_DOUBT and once):
            self._effects[effect] = msgspec.structs.replace(known, state=state)
            return
        del self._effects[effect]
        self._ends[once][effect] = None
        if len(self._ends[once]) > SETTLED_EFFECTS_MAX // 2:
            self._ends[once].popitem(last=False)

    # --- approvals and grants ---------------------------------------------------------------------

    def _open_approval(self, change: ApprovalOpened) -> None:
        if self._approvals.get(change.approval_id) is None:
            self._approvals.put(change.approval_id, StoredApproval(opened=change, state=APPROVAL.initial))

    def _moved(self, change: ApprovalMoved) -> None:
        self._move_approval(change.approval_id, change.given, change.by)

    def _move_approval(self, approval_id: ApprovalId, given: Iterable[ApprovalInput], by: str | None = None) -> None:
        known = self._approvals.get(approval_id)
        if known is None:
            return
        state = known.state
        for each in given:
            if not APPROVAL.allows(state, each):
                return
            state = APPROVAL.step(state, each)
        self._approvals.put(approval_id, msgspec.structs.replace(known, state=state, by=known.by if by is None else by))

    def _tried(self, change: ApprovalTried) -> None:
        known = self._approvals.get(change.approval_id)
        if known is not None:
            count = max(known.wrong_nonces, change.wrong_nonces)
            self._approvals.put(change.approval_id, msgspec.structs.replace(known, wrong_nonces=count))

    def _give(self, change: GrantGiven) -> None:
        if self._grants.get(change.grant.grant_id) is None:
            self._grants.put(change.grant.grant_id, StoredGrant(grant=change.grant, state=GRANT.initial))

    def _use_grant(self, use: GrantUse) -> None:
        known = self._grants.get(use.grant_id)
        if known is not None:
            self._grants.put(use.grant_id, msgspec.structs.replace(known, use=use))

    def _end_grant(self, change: GrantEnded) -> None:
        known = self._grants.get(change.grant_id)
        if known is not None:
            self._grants.put(change.grant_id, msgspec.structs.replace(known, state=change.state))

    # --- the rest ---------------------------------------------------------------------------------

    def _open_generation(self, change: GenerationOpened) -> None:
        self._generation = max(self._generation, change.generation)

    def _hold(self, change: HoldChanged) -> None:
        self._held = change.held


_FOLD: Final[dict[type, Callable[..., None]]] = {
    EffectReserved: History._reserve,  # noqa: SLF001 - the table belongs to the class
    EffectSent: History._send,  # noqa: SLF001
    EffectSettled: History._settle,  # noqa: SLF001
    ApprovalOpened: History._open_approval,  # noqa: SLF001
    ApprovalMoved: History._moved,  # noqa: SLF001
    ApprovalTried: History._tried,  # noqa: SLF001
    GrantGiven: History._give,  # noqa: SLF001
    GrantEnded: History._end_grant,  # noqa: SLF001
    BudgetsReplaced: History._replace_budgets,  # noqa: SLF001
    GenerationOpened: History._open_generation,  # noqa: SLF001
    HoldChanged: History._hold,  # noqa: SLF001
}
"""One row a change; a test holds it total."""


def _counts(row: BudgetRow, clock_us: int) -> bool:
    """Tell whether a window still holds anything at a moment of the budget clock."""
    width = -(-row.window_s * MICROSECONDS // BUCKETS)
    return bool(row.buckets) and row.buckets[-1][0] + BUCKETS * width >= clock_us
