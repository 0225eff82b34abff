"""Requests that wait for a person's yes, as they are stored (Spec: POL-7).

Owns the SQL of the table ``approval``. Decides nothing: an approval moves along
`gridagent.policy.approvals.APPROVAL`. Called inside transactions, together with what a yes leads to. Invariants: an
answer counts once; what waits never goes.
"""

from __future__ import annotations

from typing import Final

import apsw
import msgspec

from gridagent.ids import ApprovalId, AvatarKey
from gridagent.limits import APPROVAL_RECORDS_MAX
from gridagent.policy.approvals import APPROVAL, ApprovalInput, ApprovalState
from gridagent.policy.changes import ApprovalMoved, ApprovalOpened, ApprovalTried, StoredApproval
from gridagent.storage.records import Kept
from gridagent.storage.rows import each, one

__all__ = ("claim", "drop_ended", "load", "move", "open_", "tried")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_opened: Final = msgspec.json.Decoder(ApprovalOpened).decode


def open_(connection: apsw.Connection, kept: Kept, change: ApprovalOpened, number: int) -> bool:
    """Let a request wait; False when its id is known."""
    connection.execute(
        "INSERT INTO approval VALUES (?, ?, ?, NULL, ?, 0, '', NULL, ?) ON CONFLICT DO NOTHING",
        (kept.avatar, change.approval_id, number, APPROVAL.initial.value, _encode(change)),
    )
    return connection.changes() > 0


def move(connection: apsw.Connection, kept: Kept, change: ApprovalMoved, number: int) -> bool:
    """Move an approval; False when it is unknown or its table does not allow it, and then nothing changed."""
    return _move(connection, kept.avatar, change.approval_id, change.given, number, by=change.by, at=change.at)


def claim(connection: apsw.Connection, avatar: AvatarKey, approval_id: ApprovalId, number: int, at: float) -> bool:
    """Use a yes up; False when there is none."""
    return _move(connection, avatar, approval_id, (ApprovalInput.CLAIM,), number, by=None, at=at)


def _move(
    connection: apsw.Connection,
    avatar: AvatarKey,
    approval_id: ApprovalId,
    steps: tuple[ApprovalInput, ...],
    number: int,
    *,
    by: str | None,
    at: float,
) -> bool:
    found = one(
        connection,
        tuple[ApprovalState],
        "SELECT state FROM approval WHERE avatar = ? AND approval_id = ?",
        (avatar, approval_id),
    )
    if found is None:
        return False
    (state,) = found
    for step in steps:
        if not APPROVAL.allows(state, step):
            return False
        state = APPROVAL.step(state, step)
    connection.execute(
        "UPDATE approval SET state = ?, moved_at = ?, answered_by = coalesce(?, answered_by), ended = ?"
        " WHERE avatar = ? AND approval_id = ?",
        (state.value, at, by, number if state in APPROVAL.terminal else None, avatar, approval_id),
    )
    return True


def tried(connection: apsw.Connection, kept: Kept, change: ApprovalTried, number: int) -> bool:  # noqa: ARG001 - one shape
    """Note how many wrong nonces were tried."""
    connection.execute(
        "UPDATE approval SET wrong_nonces = ?1 WHERE avatar = ?2 AND approval_id = ?3 AND wrong_nonces < ?1",
        (change.wrong_nonces, kept.avatar, change.approval_id),
    )
    return connection.changes() > 0


def load(connection: apsw.Connection, avatar: AvatarKey) -> tuple[StoredApproval, ...]:
    """Return what still waits, behind as many ended ones as there is room for; each the oldest first."""
    waiting = _rows(connection, avatar, "ended IS NULL", "number", APPROVAL_RECORDS_MAX)
    ended = _rows(connection, avatar, "ended IS NOT NULL", "ended", APPROVAL_RECORDS_MAX - len(waiting))
    return (*ended, *waiting)


def drop_ended(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let approvals go that ended before a moment; at most ``most``."""
    connection.execute(
        "DELETE FROM approval WHERE (avatar, approval_id) IN (SELECT avatar, approval_id FROM approval"
        " WHERE ended IS NOT NULL AND moved_at < ? LIMIT ?)",
        (before, most),
    )
    return connection.changes()


def _rows(
    connection: apsw.Connection, avatar: AvatarKey, which: str, order: str, most: int
) -> tuple[StoredApproval, ...]:
    rows = list(
        each(
            connection,
            tuple[ApprovalState, int, str, bytes],
            f"SELECT state, wrong_nonces, answered_by, body FROM approval WHERE {which} AND avatar = ?"  # noqa: S608 - our own
            f" ORDER BY {order} DESC LIMIT ?",
            (avatar, most),
        )
    )
    return tuple(
        StoredApproval(opened=_opened(body), state=state, wrong_nonces=wrong, by=by)
        for state, wrong, by, body in reversed(rows)
    )
