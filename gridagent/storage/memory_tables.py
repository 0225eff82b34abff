"""What every record does, told a second time: plain dictionaries instead of SQL.

Owns the state of a store in memory and shares nothing with `gridagent.storage.transactions` but the records, so
that one can be held against the other: the same history must leave both in the same state. Used by
`gridagent.storage.memory`. Invariant: everything is bounded, and what is unsettled or waits is never dropped to
keep a bound.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from gridagent.actions import Confirmed, EffectClass, InDoubt, Refused
from gridagent.ids import ApprovalId, AvatarKey, EffectKey, Generation, GrantId
from gridagent.limits import (
    APPROVAL_RECORDS_MAX,
    AUDIT_RECORDS_IN_MEMORY_MAX,
    SCHEDULE_GRANTS_MAX,
    SETTLED_EFFECTS_MAX,
)
from gridagent.policy.approvals import APPROVAL, ApprovalState
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.ledger import EFFECT, EffectInput, EffectState
from gridagent.policy.windows import BUCKETS, MICROSECONDS
from gridagent.storage.records import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalRow,
    ApprovalTried,
    AuditAppended,
    AuditQuery,
    BudgetSaved,
    EffectReserved,
    EffectRow,
    EffectSent,
    EffectSettled,
    GenerationUsed,
    GrantGiven,
    GrantRevoked,
    GrantRow,
    GrantUsed,
    Record,
    Recovered,
    StoredAudit,
)

__all__ = ("Tables",)

_WAITING: Final = frozenset({ApprovalState.PENDING, ApprovalState.ALLOWED})
_ENDED: Final = frozenset({EffectState.CONFIRMED, EffectState.REFUSED})


class _Avatar:
    """What there is exactly one of for an avatar."""

    __slots__ = ("audited", "budgets", "clock_us", "generation", "run", "wall_high_us")

    def __init__(self) -> None:
        self.run = 0
        self.generation = 0
        self.audited = (0, 0)
        self.clock_us: int | None = None
        self.wall_high_us = 0
        self.budgets: dict[tuple[str, str, int, str], BudgetRow] = {}  # bounded by the book of budgets


class Tables:
    """The state of a store in memory.

    Bounds: `SETTLED_EFFECTS_MAX` ended effects, `APPROVAL_RECORDS_MAX` ended approvals, `SCHEDULE_GRANTS_MAX` grants
        that are over and `AUDIT_RECORDS_IN_MEMORY_MAX` audit rows; the oldest go first.
    """

    def __init__(self) -> None:
        self.effects: dict[EffectKey, EffectRow] = {}
        self._avatars: dict[AvatarKey, _Avatar] = {}  # one entry an avatar
        self._approvals: dict[ApprovalId, ApprovalRow] = {}
        self._grants: dict[GrantId, GrantRow] = {}
        self._audit: deque[StoredAudit] = deque(maxlen=AUDIT_RECORDS_IN_MEMORY_MAX)
        self._rows = 0

    def apply(self, record: Record) -> bool:  # noqa: C901, PLR0911 - one branch a record
        """Apply one record; tell whether it applied."""
        match record:
            case EffectReserved():
                return self._reserve(record)
            case EffectSent():
                return self._send(record)
            case EffectSettled():
                return self._settle(record)
            case BudgetSaved():
                return self._save(record)
            case GenerationUsed(avatar=avatar, number=number):
                mine = self._avatar(avatar)
                newer = number > mine.generation
                mine.generation = max(mine.generation, number)
                return newer
            case ApprovalOpened():
                return self._open_approval(record)
            case ApprovalMoved():
                return self._move(record)
            case ApprovalTried():
                return self._tried(record)
            case GrantGiven():
                return self._give(record)
            case GrantUsed():
                return self._use(record)
            case GrantRevoked():
                return self._revoke(record)
            case AuditAppended():
                return self._append(record)

    def _avatar(self, avatar: AvatarKey) -> _Avatar:
        return self._avatars.setdefault(avatar, _Avatar())

    def _reserve(self, record: EffectReserved) -> bool:
        known = self.effects.get(record.effect)
        if known is None:
            self.effects[record.effect] = EffectRow(reserved=record, state=EFFECT.initial)
            return True
        return (known.reserved.run, known.reserved.at) == (record.run, record.at)

    def _send(self, record: EffectSent) -> bool:
        row = self.effects.get(record.effect)
        if row is None or row.reserved.run != record.run:
            return False
        if row.state is EffectState.RESERVED:
            state = EFFECT.step(row.state, EffectInput.SEND)
            self.effects[record.effect] = msgspec.structs.replace(row, state=state, sent_at=record.at)
            return True
        return row.state is EffectState.SENT

    def _settle(self, record: EffectSettled) -> bool:
        row = self.effects.get(record.effect)
        given = {Confirmed: EffectInput.CONFIRM, Refused: EffectInput.REFUSE, InDoubt: EffectInput.DOUBT}[
            type(record.outcome)
        ]
        if row is None or not EFFECT.allows(row.state, given):
            return False
        own = record.run == row.reserved.run
        if not own and (record.run is not None or row.state is not EffectState.IN_DOUBT):
            return False
        self.effects[record.effect] = msgspec.structs.replace(
            row, state=EFFECT.step(row.state, given), settled_at=record.at, outcome=record.outcome
        )
        ended = [key for key, each in self.effects.items() if each.state in _ENDED]
        if len(ended) > SETTLED_EFFECTS_MAX:
            light = [key for key in ended if self.effects[key].reserved.effect_class is not EffectClass.ONCE]
            del self.effects[(light or ended)[0]]
        return True

    def _save(self, record: BudgetSaved) -> bool:
        mine = self._avatar(record.avatar)
        if mine.clock_us is not None and record.clock_us < mine.clock_us:
            return False
        mine.clock_us = record.clock_us
        mine.wall_high_us = max(mine.wall_high_us, record.wall_high_us)
        for row in record.rows:
            mine.budgets[row.meter.value, row.per.value, row.window_s, row.key] = row
        return True

    def _open_approval(self, record: ApprovalOpened) -> bool:
        if record.approval_id in self._approvals:
            return False
        self._approvals[record.approval_id] = ApprovalRow(opened=record, state=APPROVAL.initial)
        ended = [key for key, row in self._approvals.items() if row.state not in _WAITING]
        if len(ended) > APPROVAL_RECORDS_MAX:
            del self._approvals[ended[0]]
        return True

    def _move(self, record: ApprovalMoved) -> bool:
        row = self._approvals.get(record.approval_id)
        if row is None:
            return False
        state = row.state
        for step in record.steps:
            if not APPROVAL.allows(state, step):
                return False
            state = APPROVAL.step(state, step)
        self._approvals[record.approval_id] = msgspec.structs.replace(
            row, state=state, moved_at=record.at, by=record.by
        )
        return True

    def _tried(self, record: ApprovalTried) -> bool:
        row = self._approvals.get(record.approval_id)
        if row is None or record.wrong_nonces <= row.wrong_nonces:
            return False
        self._approvals[record.approval_id] = msgspec.structs.replace(row, wrong_nonces=record.wrong_nonces)
        return True

    def _give(self, record: GrantGiven) -> bool:
        if record.grant_id in self._grants or len(self._usable(record.avatar, record.at)) >= SCHEDULE_GRANTS_MAX:
            return False
        over = [key for key, row in self._grants.items() if row.over(record.at)]
        if len(over) > SCHEDULE_GRANTS_MAX:
            del self._grants[over[0]]
        self._grants[record.grant_id] = GrantRow(given=record)
        return True

    def _use(self, record: GrantUsed) -> bool:
        row = self._grants.get(record.grant_id)
        if row is None or row.last_effect == record.effect:
            return row is not None
        if not row.admits(record.at):
            return False
        self._grants[record.grant_id] = msgspec.structs.replace(
            row, used=row.used + 1, last_used_at=record.at, last_effect=record.effect
        )
        return True

    def _revoke(self, record: GrantRevoked) -> bool:
        row = self._grants.get(record.grant_id)
        if row is None or row.revoked_at is not None:
            return False
        self._grants[record.grant_id] = msgspec.structs.replace(row, revoked_at=record.at, revoked_by=record.by)
        return True

    def _append(self, record: AuditAppended) -> bool:
        mine = self._avatar(record.avatar)
        mark = (record.run, record.record.seq)
        if mark <= mine.audited:
            return False
        mine.audited = mark
        self._rows += 1
        self._audit.append(StoredAudit(row=self._rows, avatar=record.avatar, run=record.run, record=record.record))
        return True

    # --- recovering -------------------------------------------------------------------------------

    def open_avatar(self, avatar: AvatarKey, now: float) -> Recovered:
        """Begin a run; see `gridagent.storage.base.Store.open_avatar`."""
        mine = self._avatar(avatar)
        mine.run += 1
        not_sent = self._close_open(avatar, now)
        return Recovered(
            run=mine.run,
            generation=Generation(mine.generation),
            budgets=_snapshot(mine),
            not_sent=not_sent,
            in_doubt=self.doubtful(avatar),
            settled=self._known_ends(avatar),
            expired=self._expire(avatar, now),
            approvals=self._waiting(avatar),
            grants=self._usable(avatar, now),
        )

    def audit(self, query: AuditQuery) -> tuple[StoredAudit, ...]:
        """Return one page of the newest rows."""
        found = [row for row in self._audit if _wanted(row, query)]
        if query.avatar is not None:
            found.sort(key=lambda row: row.cursor)
        return tuple(found[: query.limit])

    def _close_open(self, avatar: AvatarKey, now: float) -> tuple[EffectRow, ...]:
        not_sent = []
        for key, row in sorted(self.effects.items()):
            if row.reserved.avatar == avatar and row.state is EffectState.SENT:
                self.effects[key] = msgspec.structs.replace(
                    row, state=EffectState.IN_DOUBT, settled_at=now, outcome=InDoubt(reason="crashed")
                )
            elif row.reserved.avatar == avatar and row.state is EffectState.RESERVED:
                ended = msgspec.structs.replace(
                    row, state=EffectState.REFUSED, settled_at=now, outcome=Refused(reason="not_sent")
                )
                self.effects[key] = ended
                not_sent.append(ended)
        return tuple(not_sent)

    def doubtful(self, avatar: AvatarKey | None) -> tuple[EffectRow, ...]:
        """Return every effect in doubt, the oldest first."""
        rows = [
            row
            for row in self.effects.values()
            if row.state is EffectState.IN_DOUBT and avatar in {None, row.reserved.avatar}
        ]
        return tuple(sorted(rows, key=lambda row: (row.settled_at or 0.0, row.effect)))

    def _known_ends(self, avatar: AvatarKey) -> tuple[EffectKey, ...]:
        rows = [row for row in self.effects.values() if row.state in _ENDED and row.reserved.avatar == avatar]
        rows.sort(key=lambda row: (-(row.settled_at or 0.0), row.effect))
        return tuple(row.effect for row in rows)

    def _expire(self, avatar: AvatarKey, now: float) -> tuple[ApprovalId, ...]:
        due = [row for row in self._waiting(avatar) if row.opened.expires_at <= now]
        for row in due:
            self._approvals[row.approval_id] = msgspec.structs.replace(row, state=ApprovalState.EXPIRED, moved_at=now)
        return tuple(sorted(row.approval_id for row in due))

    def _waiting(self, avatar: AvatarKey) -> tuple[ApprovalRow, ...]:
        rows = [row for row in self._approvals.values() if row.state in _WAITING and row.opened.avatar == avatar]
        return tuple(sorted(rows, key=lambda row: (row.opened.expires_at, row.approval_id)))

    def _usable(self, avatar: AvatarKey, now: float) -> tuple[GrantRow, ...]:
        rows = [row for row in self._grants.values() if row.given.avatar == avatar and not row.over(now)]
        return tuple(sorted(rows, key=lambda row: (row.given.at, row.grant_id)))


def _snapshot(mine: _Avatar) -> BudgetSnapshot | None:
    clock_us = mine.clock_us
    if clock_us is None:
        return None
    rows = tuple(row for _, row in sorted(mine.budgets.items()) if _may_hold(row, clock_us))
    return BudgetSnapshot(clock_us=clock_us, wall_high_us=mine.wall_high_us, rows=rows)


def _may_hold(row: BudgetRow, clock_us: int) -> bool:
    last = row.buckets[-1][0] if row.buckets else 0
    return last + row.window_s * MICROSECONDS + BUCKETS > clock_us


def _wanted(row: StoredAudit, query: AuditQuery) -> bool:
    at = row.record.at
    after = query.after is None or (row.row > query.after[1] if query.avatar is None else row.cursor > query.after)
    return (
        after
        and query.avatar in {None, row.avatar}
        and (query.since is None or at >= query.since)
        and (query.until is None or at < query.until)
        and query.kind in {None, row.record.kind}
    )
