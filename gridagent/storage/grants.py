"""Schedule grants as they are stored: what may recur without asking again, and how often it did (Spec: POL-8).

Owns the SQL of the table ``schedule_grant``. Called inside transactions, together with the reservation of the
effect that a use leads to. Invariants: a use is counted before its effect may be sent, and once an effect; at most
`SCHEDULE_GRANTS_MAX` grants of an avatar can still be used (Spec: BND-12).
"""

from __future__ import annotations

from typing import Final

import apsw
import msgspec

from gridagent.authority import Principal
from gridagent.ids import AvatarKey, EffectKey, GrantId
from gridagent.limits import SCHEDULE_GRANTS_MAX
from gridagent.storage.records import GrantGiven, GrantRevoked, GrantRow, GrantUsed
from gridagent.storage.rows import each, one

__all__ = ("drop_over", "find", "give", "revoke", "usable", "use")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_principal: Final = msgspec.json.Decoder(Principal).decode

_COLUMNS: Final = (
    "grant_id, avatar, principal, canonical, summary, policy_version, given_by, given_at, valid_from, valid_until,"
    " every_s, uses_max, used, last_used_at, last_effect, revoked_at, revoked_by"
)
_OVER: Final = "(revoked_at IS NOT NULL OR used >= uses_max OR valid_until <= ?)"


def give(connection: apsw.Connection, record: GrantGiven) -> bool:
    """Take a grant in; False when its id is known or the avatar has as many as it may."""
    (count,) = one(
        connection,
        tuple[int],
        f"SELECT count(*) FROM schedule_grant WHERE avatar = ? AND NOT {_OVER}",  # noqa: S608 - names of our own
        (record.avatar, record.at),
    ) or (0,)
    if count >= SCHEDULE_GRANTS_MAX:
        return False
    connection.execute(
        f"INSERT INTO schedule_grant ({_COLUMNS})"  # noqa: S608 - names of our own
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL, '') ON CONFLICT DO NOTHING",
        (
            record.grant_id,
            record.avatar,
            _encode(record.principal),
            record.canonical,
            record.summary,
            record.policy_version,
            record.given_by,
            record.at,
            record.valid_from,
            record.valid_until,
            record.every_s,
            record.uses_max,
        ),
    )
    return connection.changes() > 0


def use(connection: apsw.Connection, record: GrantUsed) -> bool:
    """Count one use; False when the grant does not admit it. The same effect counts once."""
    row = find(connection, record.grant_id)
    if row is None:
        return False
    if row.last_effect == record.effect:
        return True
    if not row.admits(record.at):
        return False
    connection.execute(
        "UPDATE schedule_grant SET used = used + 1, last_used_at = ?, last_effect = ? WHERE grant_id = ?",
        (record.at, record.effect, record.grant_id),
    )
    return True


def revoke(connection: apsw.Connection, record: GrantRevoked) -> bool:
    """Take a grant back; False when it is unknown or was taken back before."""
    connection.execute(
        "UPDATE schedule_grant SET revoked_at = ?, revoked_by = ? WHERE grant_id = ? AND revoked_at IS NULL",
        (record.at, record.by, record.grant_id),
    )
    return connection.changes() > 0


def find(connection: apsw.Connection, grant_id: GrantId) -> GrantRow | None:
    """Return one grant."""
    return next(iter(_rows(connection, "grant_id = ?", (grant_id,))), None)


def usable(connection: apsw.Connection, avatar: AvatarKey, at: float) -> tuple[GrantRow, ...]:
    """Return every grant that may still be used, the oldest first."""
    return _rows(connection, f"avatar = ? AND NOT {_OVER} ORDER BY given_at, grant_id", (avatar, at))


def drop_over(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let grants go that were over before a moment; at most ``most``."""
    connection.execute(
        "DELETE FROM schedule_grant WHERE grant_id IN (SELECT grant_id FROM schedule_grant"
        " WHERE min(coalesce(revoked_at, valid_until), valid_until) < ? LIMIT ?)",
        (before, most),
    )
    return connection.changes()


def _rows(connection: apsw.Connection, where: str, bound: tuple[apsw.SQLiteValue, ...]) -> tuple[GrantRow, ...]:
    found = each(connection, _Row, f"SELECT {_COLUMNS} FROM schedule_grant WHERE {where}", bound)  # noqa: S608 - our own
    return tuple(row.value() for row in found)


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row in the order of `_COLUMNS`."""

    grant_id: str
    avatar: str
    principal: bytes
    canonical: bytes
    summary: str
    policy_version: str
    given_by: str
    given_at: float
    valid_from: float
    valid_until: float
    every_s: float
    uses_max: int
    used: int
    last_used_at: float | None
    last_effect: str | None
    revoked_at: float | None
    revoked_by: str

    def value(self) -> GrantRow:
        """Return it as it is handed out."""
        return GrantRow(
            given=GrantGiven(
                grant_id=GrantId(self.grant_id),
                avatar=AvatarKey(self.avatar),
                principal=_principal(self.principal),
                canonical=self.canonical,
                summary=self.summary,
                policy_version=self.policy_version,
                given_by=self.given_by,
                at=self.given_at,
                valid_from=self.valid_from,
                valid_until=self.valid_until,
                every_s=self.every_s,
                uses_max=self.uses_max,
            ),
            used=self.used,
            last_used_at=self.last_used_at,
            last_effect=None if self.last_effect is None else EffectKey(self.last_effect),
            revoked_at=self.revoked_at,
            revoked_by=self.revoked_by,
        )
