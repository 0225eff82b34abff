"""What budgets have counted, as it is stored: a crash never gives back what may have been spent (Spec: POL-6).

Owns the SQL of the table ``budget`` and the tracker that tells which windows changed. Knows no limit: the
book of budgets counts, this keeps. Called inside the very transaction that reserves an effect. Invariants:
clocks only go forward; a row goes only when its window can hold nothing any more.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import apsw
import msgspec

from gridagent.config.policy import BudgetScope, Meter
from gridagent.ids import AvatarKey
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.windows import BUCKETS, MICROSECONDS
from gridagent.storage.records import BudgetSaved
from gridagent.storage.rows import each, one

__all__ = ("BudgetTracker", "drop_empty", "empty_after_us", "load", "save")

Buckets: TypeAlias = tuple[tuple[int, int], ...]
RowKey: TypeAlias = tuple[Meter, BudgetScope, int, str]

_encode: Final = msgspec.json.Encoder().encode
_decode: Final[msgspec.json.Decoder[Buckets]] = msgspec.json.Decoder(Buckets)


def empty_after_us(row: BudgetRow) -> int:
    """Return from which moment on the budget clock a window holds nothing of what a row says."""
    last = row.buckets[-1][0] if row.buckets else 0
    return last + row.window_s * MICROSECONDS + BUCKETS


def save(connection: apsw.Connection, record: BudgetSaved) -> bool:
    """Take in what the budgets of an avatar hold; False, changing nothing, when it is older than what is stored."""
    connection.execute(
        "INSERT INTO avatar VALUES (?1, 0, 0, ?2, ?3, 0, 0) ON CONFLICT DO UPDATE"
        " SET clock_us = ?2, wall_high_us = max(coalesce(wall_high_us, 0), ?3)"
        " WHERE clock_us IS NULL OR clock_us <= ?2",
        (record.avatar, record.clock_us, record.wall_high_us),
    )
    if not connection.changes():
        return False
    connection.executemany(
        "INSERT INTO budget VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET buckets = excluded.buckets, empty_after_us = excluded.empty_after_us",
        [
            (
                record.avatar,
                row.meter.value,
                row.per.value,
                row.window_s,
                row.key,
                _encode(row.buckets).decode(),
                empty_after_us(row),
            )
            for row in record.rows
        ],
    )
    return True


def load(connection: apsw.Connection, avatar: AvatarKey) -> BudgetSnapshot | None:
    """Return what the budgets of an avatar held; None when it was never charged."""
    found = one(
        connection,
        tuple[int, int],
        "SELECT clock_us, wall_high_us FROM avatar WHERE avatar = ? AND clock_us IS NOT NULL",
        (avatar,),
    )
    if found is None:
        return None
    clock_us, wall_high_us = found
    rows = each(
        connection,
        tuple[str, str, int, str, str],
        "SELECT meter, per, window_s, key, buckets FROM budget WHERE avatar = ? AND empty_after_us > ?"
        " ORDER BY meter, per, window_s, key",
        (avatar, clock_us),
    )
    return BudgetSnapshot(
        clock_us=clock_us,
        wall_high_us=wall_high_us,
        rows=tuple(
            BudgetRow(
                meter=Meter(meter), per=BudgetScope(per), window_s=window_s, key=key, buckets=_decode.decode(held)
            )
            for meter, per, window_s, key, held in rows
        ),
    )


def drop_empty(connection: apsw.Connection, most: int) -> int:
    """Let rows go whose windows can hold nothing any more; at most ``most``."""
    connection.execute(
        "DELETE FROM budget WHERE (avatar, meter, per, window_s, key) IN ("
        " SELECT b.avatar, meter, per, window_s, key FROM budget b JOIN avatar a ON a.avatar = b.avatar"
        " WHERE empty_after_us <= a.clock_us LIMIT ?)",
        (most,),
    )
    return connection.changes()


class BudgetTracker:
    """Tells which rows of a snapshot are not stored yet.

    Bounds: one entry a row of the snapshot, which is bounded by the book; rows that vanish from it are let go.
    """

    __slots__ = ("_avatar", "_told")

    def __init__(self, avatar: AvatarKey, stored: BudgetSnapshot | None = None) -> None:
        self._avatar = avatar
        self._told: dict[RowKey, Buckets] = {}
        if stored is not None:
            self._told = {_key(row): row.buckets for row in stored.rows}

    def changes(self, now: BudgetSnapshot) -> BudgetSaved:
        """Return what has to be written so that storage holds at least what ``now`` does."""
        held = {_key(row): row for row in now.rows}
        changed = tuple(row for key, row in held.items() if self._told.get(key) != row.buckets)
        self._told = {key: row.buckets for key, row in held.items()}
        return BudgetSaved(avatar=self._avatar, clock_us=now.clock_us, wall_high_us=now.wall_high_us, rows=changed)


def _key(row: BudgetRow) -> RowKey:
    return row.meter, row.per, row.window_s, row.key
