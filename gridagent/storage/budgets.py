"""What budgets have counted, as it is stored: a crash never gives back what may have been spent (Spec: POL-6).

Owns the SQL of the table ``budget`` and of the budget clock. Knows no limit: the book of budgets counts, this keeps.
Called inside the very transaction that takes in what was charged for. Invariants: clocks only go forward; a row goes
only when its window can hold nothing any more, or when the gateway says what all windows are.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import apsw
import msgspec

from gridagent.config.policy import BudgetScope, Meter
from gridagent.ids import AvatarKey
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.changes import BudgetsReplaced
from gridagent.policy.windows import BUCKETS, MICROSECONDS
from gridagent.storage.records import Kept
from gridagent.storage.rows import each, one

__all__ = ("drop_empty", "empty_after_us", "lay", "load", "replace")

Buckets: TypeAlias = tuple[tuple[int, int], ...]

_encode: Final = msgspec.json.Encoder().encode
_decode: Final[msgspec.json.Decoder[Buckets]] = msgspec.json.Decoder(Buckets)


def empty_after_us(row: BudgetRow) -> int:
    """Return from which moment on the budget clock a window holds nothing of what a row says."""
    if not row.buckets:
        return 0
    width = -(-row.window_s * MICROSECONDS // BUCKETS)
    return row.buckets[-1][0] + BUCKETS * width + 1


def lay(connection: apsw.Connection, avatar: AvatarKey, held: BudgetSnapshot, number: int) -> None:
    """Take in what some windows hold now; others stay as they were."""
    connection.execute(
        "INSERT INTO avatar (avatar, clock_us, wall_high_us) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
        " SET clock_us = max(coalesce(clock_us, 0), ?2), wall_high_us = max(coalesce(wall_high_us, 0), ?3)",
        (avatar, held.clock_us, held.wall_high_us),
    )
    connection.executemany(
        "INSERT INTO budget VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET buckets = excluded.buckets, empty_after_us = excluded.empty_after_us, number = excluded.number",
        [
            (
                avatar,
                row.meter.value,
                row.per.value,
                row.window_s,
                row.key,
                _encode(row.buckets).decode(),
                empty_after_us(row),
                number,
            )
            for row in held.rows
        ],
    )


def replace(connection: apsw.Connection, kept: Kept, change: BudgetsReplaced, number: int) -> bool:
    """Take in what all windows hold, in place of what was known."""
    connection.execute("DELETE FROM budget WHERE avatar = ?", (kept.avatar,))
    lay(connection, kept.avatar, change.budgets, number)
    return True


def load(connection: apsw.Connection, avatar: AvatarKey) -> BudgetSnapshot | None:
    """Return what the budgets of an avatar held; None when nothing was ever charged."""
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
        tuple[Meter, BudgetScope, int, str, str],
        "SELECT meter, per, window_s, key, buckets FROM budget WHERE avatar = ? AND empty_after_us > ?"
        " ORDER BY number, meter, per, window_s, key",
        (avatar, clock_us),
    )
    return BudgetSnapshot(
        clock_us=clock_us,
        wall_high_us=wall_high_us,
        rows=tuple(
            BudgetRow(meter=meter, per=per, window_s=window_s, key=key, buckets=_decode.decode(held))
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
