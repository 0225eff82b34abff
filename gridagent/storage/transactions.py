"""One batch of records, one transaction: the only code that changes the database while a service runs.

Owns the table record → function and the tail of the audit trail; each record family owns its SQL. Blocks, so it
runs inside the blocking port, called by the writer through the store. Invariant: of a batch either everything
is durable when `Ledger.write` returns, or the database and the tail are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias, TypeVar

import apsw

from gridagent.ids import AvatarKey, EffectKey
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    BudgetsReplaced,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GenerationOpened,
    GrantEnded,
    GrantGiven,
    HoldChanged,
)
from gridagent.storage import approvals, avatars, budgets, effects, grants
from gridagent.storage.audit import AuditBatch, TailDamaged, load_tail
from gridagent.storage.audit_chain import drop_segment
from gridagent.storage.database import Database, damaged, refused_when_damaged, storage_errors
from gridagent.storage.learning import drop_old, forgets, learn
from gridagent.storage.records import Kept, Learnt, Record, Recovered
from gridagent.storage.rows import one
from gridagent.storage.settings import DAY_S, StorageSettings

__all__ = ("APPLY", "Ledger")

T = TypeVar("T")

DROPS_A_TURN: Final = 1_024
"""Rows of a table that one round of tending lets go, so that commits wait for milliseconds only."""


def _reserve(connection: apsw.Connection, kept: Kept, change: EffectReserved, number: int) -> bool:
    """Take a reservation in with all that is one step with it: the charge, the claim and the use of a grant.

    The charge also of one that is known: when a batch is written again, whatever was laid over it is as well.
    """
    budgets.lay(connection, kept.avatar, change.budgets, number)
    known = effects.reserve(connection, kept, change, number)
    if known is not None:
        return known
    if change.approval_id is not None:
        approvals.claim(connection, kept.avatar, change.approval_id, number, change.at)
    if change.grant is not None:
        grants.use(connection, kept.avatar, change.grant)
    return True


APPLY: Final[dict[type, Callable[..., bool]]] = {
    EffectReserved: _reserve,
    EffectSent: effects.send,
    EffectSettled: effects.settle,
    ApprovalOpened: approvals.open_,
    ApprovalMoved: approvals.move,
    ApprovalTried: approvals.tried,
    GrantGiven: grants.give,
    GrantEnded: grants.end,
    BudgetsReplaced: budgets.replace,
    GenerationOpened: avatars.open_generation,
    HoldChanged: avatars.hold,
}
"""How each change is applied; audit rows go into the batch of their transaction. A test holds it total."""


_Whose: TypeAlias = tuple[AvatarKey, int, EffectKey]


def _apply(connection: apsw.Connection, record: Kept, number: int, sent: dict[_Whose, bool]) -> bool:
    """Apply one change.

    Args:
        connection: in a transaction.
        record: the change.
        number: its own.
        sent: what came of each intent in this transaction: the gateway tells of it, then the session asks.
    """
    change = record.change
    if isinstance(change, EffectSent | EffectSettled):
        whose = (record.avatar, record.run, change.effect)
        if isinstance(change, EffectSent):
            if whose not in sent:
                sent[whose] = APPLY[EffectSent](connection, record, change, number)
            return sent[whose]
        sent.pop(whose, None)
    return APPLY[type(change)](connection, record, change, number)


class Ledger:
    """An open database that batches are written to.

    Args:
        database: open and checked.
        settings: bounds.

    Raises:
        LedgerRefused: the unsealed tail of the audit trail isn't what it was.
        StorageFailed: the disk failed.
    """

    __slots__ = ("_changes", "_settings", "_tail", "database")

    def __init__(self, database: Database, settings: StorageSettings) -> None:
        self.database = database
        self._settings = settings
        try:
            with storage_errors(), refused_when_damaged(database.path):
                self._tail = load_tail(database.connection, database.ledger)
                (last,) = one(database.connection, tuple[int | None], "SELECT max(changes) FROM avatar") or (None,)
                self._changes = last or 0
        except TailDamaged as error:
            raise damaged(database.path, f"audit trail: {error}") from error

    def write(self, batch: Sequence[Sequence[Record]]) -> list[tuple[bool, ...]]:
        """Apply records in order, all in one transaction.

        Returns:
            Of each record whether it applied.

        Raises:
            StorageFailed: it is not known whether they survive.
        """
        added = AuditBatch(self._tail, self._settings)
        changes = self._changes
        numbers: dict[str, int] = {}
        sent: dict[_Whose, bool] = {}
        results = []
        forgotten = False
        with self._transaction() as connection:
            for records in batch:
                applied = []
                for record in records:
                    if isinstance(record, Kept):
                        changes += 1
                        numbers[record.avatar] = changes
                        applied.append(_apply(connection, record, changes, sent))
                    elif isinstance(record, Learnt):
                        forgotten |= forgets(record)
                        applied.append(learn(connection, record))
                    else:
                        applied.append(added.append(record))
                results.append(tuple(applied))
            added.write(connection)
            connection.executemany(
                "INSERT INTO avatar (avatar, changes, audit_run, audit_seq) VALUES (?1, ifnull(?2, 0), ifnull(?3, 0),"
                " ifnull(?4, 0)) ON CONFLICT DO UPDATE SET changes = ifnull(?2, changes),"
                " audit_run = ifnull(?3, audit_run), audit_seq = ifnull(?4, audit_seq)",
                [
                    (avatar, numbers.get(avatar), *added.marks.get(avatar, (None, None)))
                    for avatar in {**added.marks, **numbers}
                ],
            )
        self._tail, self._changes = added.adopt(), changes
        if forgotten:
            self._empty_log()
        return results

    def _empty_log(self) -> None:
        """Move the write-ahead log into the database and cut it to nothing: it still held what was deleted.

        Raises:
            StorageFailed: the disk failed; the deletion itself is durable.
        """
        with storage_errors():
            self.database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def probe(self) -> None:
        """Write something: a disk that cannot be written to is found out now and not by the next payment.

        Raises:
            StorageFailed: it cannot be written to.
        """
        with self._transaction() as connection:
            connection.execute("INSERT INTO meta VALUES ('opened', 1) ON CONFLICT DO UPDATE SET value = value + 1")

    def open_avatar(self, avatar: AvatarKey) -> Recovered:
        """Begin a run and read what must not be forgotten.

        Raises:
            StorageFailed: it is not known whether it survives; opening the avatar again is harmless.
        """
        with self._transaction() as connection:
            return Recovered(run=avatars.begin_run(connection, avatar), snapshot=avatars.snapshot(connection, avatar))

    def read(self, question: Callable[[apsw.Connection], T]) -> T:
        """Ask something that changes nothing.

        Raises:
            StorageFailed: the disk failed.
        """
        with storage_errors():
            return question(self.database.connection)

    def tend(self, at: float) -> int:
        """Let go what is older than it is kept; unsettled effects and waiting approvals never go (Spec: BND-16).

        Returns:
            How many rows went; there may be more.
        """
        keep = self._settings
        with self._transaction() as connection:
            return (
                effects.drop_ended(
                    connection,
                    before=at - keep.effects_keep_days * DAY_S,
                    light_before=at - keep.effects_light_keep_days * DAY_S,
                    keep=keep.effects_keep_rows,
                    most=DROPS_A_TURN,
                )
                + approvals.drop_ended(connection, before=at - keep.approvals_keep_days * DAY_S, most=DROPS_A_TURN)
                + grants.drop_ended(connection, before=at - keep.grants_keep_days * DAY_S, most=DROPS_A_TURN)
                + budgets.drop_empty(connection, DROPS_A_TURN)
                + drop_old(connection, at, keep, most=DROPS_A_TURN)
                + drop_segment(connection, before=at - keep.audit_keep_days * DAY_S, keep_rows=keep.audit_keep_rows)
            )

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        connection = self.database.connection
        with storage_errors():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
