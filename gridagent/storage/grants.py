"""Schedule grants as they are stored: what may recur without asking again, and how often it did (Spec: POL-8).

Owns the SQL of the table ``schedule_grant``. Called inside transactions; a use is taken in together with the effect
that it leads to. Invariants: what ended stays ended; a grant that may be used never goes.
"""

from __future__ import annotations

from typing import Final

import apsw
import msgspec

from gridagent.ids import AvatarKey
from gridagent.limits import SCHEDULE_GRANTS_MAX
from gridagent.policy.changes import GrantEnded, GrantGiven, StoredGrant
from gridagent.policy.grants import GRANT, GrantRecord, GrantState, GrantUse
from gridagent.storage.records import Kept
from gridagent.storage.rows import each

__all__ = ("drop_ended", "end", "give", "load", "use")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_record: Final = msgspec.json.Decoder(GrantRecord).decode
_use: Final = msgspec.json.Decoder(GrantUse).decode


def give(connection: apsw.Connection, kept: Kept, change: GrantGiven, number: int) -> bool:
    """Take a grant in; False when its id is known."""
    connection.execute(
        "INSERT INTO schedule_grant VALUES (?, ?, ?, NULL, ?, '', NULL, NULL, ?) ON CONFLICT DO NOTHING",
        (kept.avatar, change.grant.grant_id, number, GRANT.initial.value, _encode(change.grant)),
    )
    return connection.changes() > 0


def use(connection: apsw.Connection, avatar: AvatarKey, used: GrantUse) -> None:
    """Take in how a grant stands with one more use."""
    connection.execute(
        "UPDATE schedule_grant SET use = ? WHERE avatar = ? AND grant_id = ?", (_encode(used), avatar, used.grant_id)
    )


def end(connection: apsw.Connection, kept: Kept, change: GrantEnded, number: int) -> bool:
    """End a grant; False when it is unknown or has ended."""
    connection.execute(
        "UPDATE schedule_grant SET state = ?, ended = ?, ended_by = ?, ended_at = ?"
        " WHERE avatar = ? AND grant_id = ? AND ended IS NULL",
        (change.state.value, number, change.by, change.at, kept.avatar, change.grant_id),
    )
    return connection.changes() > 0


def load(connection: apsw.Connection, avatar: AvatarKey) -> tuple[StoredGrant, ...]:
    """Return what may be used, behind as many ended ones as there is room for; each the oldest first."""
    usable = _rows(connection, avatar, "ended IS NULL", "number", SCHEDULE_GRANTS_MAX)
    ended = _rows(connection, avatar, "ended IS NOT NULL", "ended", SCHEDULE_GRANTS_MAX - len(usable))
    return (*ended, *usable)


def drop_ended(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let grants go that ended before a moment; at most ``most``."""
    connection.execute(
        "DELETE FROM schedule_grant WHERE (avatar, grant_id) IN (SELECT avatar, grant_id FROM schedule_grant"
        " WHERE ended IS NOT NULL AND ended_at < ? LIMIT ?)",
        (before, most),
    )
    return connection.changes()


def _rows(connection: apsw.Connection, avatar: AvatarKey, which: str, order: str, most: int) -> tuple[StoredGrant, ...]:
    rows = list(
        each(
            connection,
            tuple[GrantState, bytes | None, bytes],
            f"SELECT state, use, body FROM schedule_grant WHERE {which} AND avatar = ? ORDER BY {order} DESC LIMIT ?",  # noqa: S608 - our own
            (avatar, most),
        )
    )
    return tuple(
        StoredGrant(grant=_record(body), state=state, use=None if used is None else _use(used))
        for state, used, body in reversed(rows)
    )
