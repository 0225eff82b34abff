"""One batch of records, one transaction: the only code that changes the database while a service runs.

Owns the table record → function and the tail of the audit trail; each record family owns its SQL. Blocks, so it
runs inside the blocking port, called by the writer through the store. Invariant: of a batch either everything
is durable when `Ledger.write` returns, or the database and the tail are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

import apsw

from gridagent.ids import AvatarKey
from gridagent.storage import approvals, budgets, effects, generations, grants
from gridagent.storage.audit import AuditBatch, TailDamaged, load_tail
from gridagent.storage.audit_chain import drop_segment
from gridagent.storage.database import Database, damaged, refused_when_damaged, storage_errors
from gridagent.storage.records import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    AuditAppended,
    BudgetSaved,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GenerationUsed,
    GrantGiven,
    GrantRevoked,
    GrantUsed,
    Record,
    Recovered,
)
from gridagent.storage.settings import DAY_S, StorageSettings

__all__ = ("APPLY", "Ledger")

T = TypeVar("T")

DROPS_A_TURN: Final = 1_024
"""Rows of a table that one round of tending lets go, so that commits wait for milliseconds only."""

APPLY: Final[dict[type, Callable[..., bool]]] = {
    EffectReserved: effects.reserve,
    EffectSent: effects.send,
    EffectSettled: effects.settle,
    BudgetSaved: budgets.save,
    GenerationUsed: generations.use,
    ApprovalOpened: approvals.open_,
    ApprovalMoved: approvals.move,
    ApprovalTried: approvals.tried,
    GrantGiven: grants.give,
    GrantUsed: grants.use,
    GrantRevoked: grants.revoke,
}
"""How each record is applied; `AuditAppended` goes into the batch of its transaction. A test holds it total."""


class Ledger:
    """An open database that batches are written to.

    Args:
        database: open and checked.
        settings: bounds.

    Raises:
        LedgerRefused: the unsealed tail of the audit trail isn't what it was.
        StorageFailed: the disk failed.
    """

    __slots__ = ("_settings", "_tail", "database")

    def __init__(self, database: Database, settings: StorageSettings) -> None:
        self.database = database
        self._settings = settings
        try:
            with storage_errors(), refused_when_damaged(database.path):
                self._tail = load_tail(database.connection, database.ledger)
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
        with self._transaction() as connection:
            results = [tuple([_apply(connection, added, record) for record in records]) for records in batch]
            added.write(connection)
        self._tail = added.adopt()
        return results

    def open_avatar(self, avatar: AvatarKey, at: float) -> Recovered:
        """Begin a run: close what the last one left open and read what must not be forgotten, in one transaction.

        Raises:
            StorageFailed: it is not known whether it survives; opening the avatar again is harmless.
        """
        with self._transaction() as connection:
            run, generation = generations.begin_run(connection, avatar)
            not_sent = effects.close_open(connection, avatar, at)
            expired = approvals.expire(connection, avatar, at)
            return Recovered(
                run=run,
                generation=generation,
                budgets=budgets.load(connection, avatar),
                not_sent=not_sent,
                in_doubt=effects.doubtful(connection, avatar),
                settled=effects.known_ends(connection, avatar),
                approvals=approvals.waiting(connection, avatar),
                expired=expired,
                grants=grants.usable(connection, avatar, at),
            )

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
                effects.drop_settled(
                    connection,
                    before=at - keep.effects_keep_days * DAY_S,
                    light_before=at - keep.effects_light_keep_days * DAY_S,
                    keep=keep.effects_keep_rows,
                    most=DROPS_A_TURN,
                )
                + approvals.drop_ended(connection, before=at - keep.approvals_keep_days * DAY_S, most=DROPS_A_TURN)
                + grants.drop_over(connection, before=at - keep.grants_keep_days * DAY_S, most=DROPS_A_TURN)
                + budgets.drop_empty(connection, DROPS_A_TURN)
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


def _apply(connection: apsw.Connection, added: AuditBatch, record: Record) -> bool:
    if isinstance(record, AuditAppended):
        return added.append(record)
    return APPLY[type(record)](connection, record)
