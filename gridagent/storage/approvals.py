"""Requests that wait for a person's yes, as they are stored (Spec: POL-7).

Owns the SQL of the table ``approval``. Decides nothing: an approval moves along
`gridagent.policy.approvals.APPROVAL`. Called inside transactions, together with what an answer leads to or
what cancelled it. Invariants: an answer counts once; nonces are stored as hashes; what waits never goes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import apsw
import msgspec

from gridagent.authority import ActionRequest
from gridagent.ids import ApprovalId, AvatarKey, EffectKey
from gridagent.policy.approvals import APPROVAL, ApprovalInput, ApprovalState
from gridagent.storage.records import ApprovalMoved, ApprovalOpened, ApprovalRow, ApprovalTried
from gridagent.storage.rows import each, one, select

__all__ = ("after_steps", "drop_ended", "expire", "find", "hash_nonce", "move", "open_", "tried", "waiting")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_request: Final = msgspec.json.Decoder(ActionRequest).decode

_COLUMNS: Final = (
    "approval_id, avatar, state, effect, nonce_hash, wrong_nonces, canonical, request, rule, summary,"
    " policy_version, opened_at, expires_at, moved_at, answered_by"
)


def hash_nonce(nonce: str) -> bytes:
    """Return what is stored of a nonce. Nonces are random, so nothing more than a hash hides them."""
    return sha256(nonce.encode(errors="replace")).digest()


def after_steps(state: ApprovalState, steps: tuple[ApprovalInput, ...]) -> ApprovalState | None:
    """Return where steps lead; None when the table does not list one of them."""
    for step in steps:
        if not APPROVAL.allows(state, step):
            return None
        state = APPROVAL.step(state, step)
    return state


def open_(connection: apsw.Connection, record: ApprovalOpened) -> bool:
    """Let a request wait; False when its id is known."""
    connection.execute(
        f"INSERT INTO approval ({_COLUMNS}) VALUES (?, ?, 'pending', ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, NULL, '')"  # noqa: S608 - our own
        " ON CONFLICT DO NOTHING",
        (
            record.approval_id,
            record.avatar,
            record.effect,
            record.nonce_hash,
            record.canonical,
            _encode(record.request),
            record.rule,
            record.summary,
            record.policy_version,
            record.at,
            record.expires_at,
        ),
    )
    return connection.changes() > 0


def move(connection: apsw.Connection, record: ApprovalMoved) -> bool:
    """Move an approval; False when it is unknown or its table does not allow it, and then nothing changed."""
    found = one(connection, tuple[str], "SELECT state FROM approval WHERE approval_id = ?", (record.approval_id,))
    target = None if found is None else after_steps(ApprovalState(found[0]), record.steps)
    if target is None:
        return False
    connection.execute(
        "UPDATE approval SET state = ?, moved_at = ?, answered_by = ? WHERE approval_id = ?",
        (target.value, record.at, record.by, record.approval_id),
    )
    return True


def tried(connection: apsw.Connection, record: ApprovalTried) -> bool:
    """Note how many wrong nonces were tried."""
    connection.execute(
        "UPDATE approval SET wrong_nonces = ?1 WHERE approval_id = ?2 AND wrong_nonces < ?1",
        (record.wrong_nonces, record.approval_id),
    )
    return connection.changes() > 0


def expire(connection: apsw.Connection, avatar: AvatarKey, at: float) -> tuple[ApprovalId, ...]:
    """End what ran out of time; return which."""
    rows = select(
        connection,
        tuple[ApprovalId],
        "UPDATE approval SET state = ?1, moved_at = ?2 WHERE state IN ('pending', 'allowed') AND avatar = ?3"
        " AND expires_at <= ?2 RETURNING approval_id",
        (ApprovalState.EXPIRED.value, at, avatar),
    )
    return tuple(sorted(approval_id for (approval_id,) in rows))


def find(connection: apsw.Connection, approval_id: ApprovalId) -> ApprovalRow | None:
    """Return one approval."""
    return next(iter(_rows(connection, "approval_id = ?", approval_id)), None)


def waiting(connection: apsw.Connection, avatar: AvatarKey) -> tuple[ApprovalRow, ...]:
    """Return what still waits, the first to expire first."""
    return _rows(connection, "state IN ('pending', 'allowed') AND avatar = ? ORDER BY expires_at, approval_id", avatar)


def drop_ended(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let approvals go that ended before a moment; at most ``most``."""
    connection.execute(
        "DELETE FROM approval WHERE approval_id IN (SELECT approval_id FROM approval"
        " WHERE state NOT IN ('pending', 'allowed') AND moved_at < ? ORDER BY moved_at LIMIT ?)",
        (before, most),
    )
    return connection.changes()


def _rows(connection: apsw.Connection, where: str, bound: str) -> tuple[ApprovalRow, ...]:
    found = each(connection, _Row, f"SELECT {_COLUMNS} FROM approval WHERE {where}", (bound,))  # noqa: S608 - our own
    return tuple(row.value() for row in found)


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row in the order of `_COLUMNS`."""

    approval_id: str
    avatar: str
    state: str
    effect: str
    nonce_hash: bytes
    wrong_nonces: int
    canonical: bytes
    request: bytes
    rule: str
    summary: str
    policy_version: str
    opened_at: float
    expires_at: float
    moved_at: float | None
    answered_by: str

    def value(self) -> ApprovalRow:
        """Return it as it is handed out."""
        return ApprovalRow(
            opened=ApprovalOpened(
                approval_id=ApprovalId(self.approval_id),
                avatar=AvatarKey(self.avatar),
                effect=EffectKey(self.effect),
                nonce_hash=self.nonce_hash,
                canonical=self.canonical,
                request=_request(self.request),
                rule=self.rule,
                summary=self.summary,
                policy_version=self.policy_version,
                at=self.opened_at,
                expires_at=self.expires_at,
            ),
            state=ApprovalState(self.state),
            wrong_nonces=self.wrong_nonces,
            moved_at=self.moved_at,
            by=self.answered_by,
        )
