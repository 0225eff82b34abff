"""The audit trail as it is stored: rows in segments whose digests are chained (Spec: POL-10).

Owns the SQL of ``audit`` and of the open segment, and the running digest. Judging, dropping and exporting whole
segments is `gridagent.storage.audit_chain`. Called inside transactions.

Invariants: every row is part of a digest that is stored in the same transaction, so a row that was changed,
removed or cut off shows; a row number is used once; a row is taken once, by its run and number in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import apsw
import msgspec

from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarKey
from gridagent.policy.audit import AuditRecord
from gridagent.storage.records import AuditAppended, AuditQuery, StoredAudit
from gridagent.storage.rows import each, one, select
from gridagent.storage.settings import DAY_S, StorageSettings

if TYPE_CHECKING:
    from hashlib import _Hash

__all__ = ("AuditBatch", "AuditTail", "RawRow", "TailDamaged", "fold", "genesis", "load_tail", "query")

QUERY_STEPS_MAX: Final = 20_000_000
"""Steps of SQLite's machine that one page may take: about a second, while commits wait."""

_HEAD: Final = struct.Struct(">QqdII")
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(AuditRecord).decode


class _Slim(AuditRecord, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A record written without what says nothing; read back as an `AuditRecord`."""


class RawRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row as it is stored."""

    row: int
    avatar: str
    run: int
    at: float
    kind: str
    body: bytes


class TailDamaged(Exception):
    """The open segment isn't what its digest says; the sentence tells what shows."""


def genesis(ledger: str) -> bytes:
    """Return what the first segment of a ledger is chained to."""
    return sha256(b"gridagent audit\n" + ledger.encode()).digest()


def fold(digest: _Hash, row: RawRow) -> None:
    """Take one row into a running digest."""
    tail = f"{row.avatar}\n{row.kind}\n".encode()
    digest.update(_HEAD.pack(row.row, row.run, row.at, len(tail), len(row.body)) + tail + row.body)


class AuditTail:
    """The open segment as the last transaction left it."""

    __slots__ = ("digest", "first_at", "first_row", "last_at", "marks", "number", "previous", "rows")

    def __init__(self, *, number: int, first_row: int, previous: bytes) -> None:
        self.number = number
        self.first_row = first_row
        self.previous = previous
        self.digest = sha256(previous)
        self.rows = 0
        self.first_at: float | None = None
        self.last_at: float | None = None
        self.marks: dict[str, tuple[int, int]] = {}
        """Run and number of the last row of each avatar; one entry an avatar."""

    @property
    def next_row(self) -> int:
        """The number of the row that comes next."""
        return self.first_row + self.rows

    def take(self, row: RawRow) -> None:
        """Add the next row."""
        fold(self.digest, row)
        self.rows += 1
        self.first_at = row.at if self.first_at is None else min(self.first_at, row.at)
        self.last_at = row.at if self.last_at is None else max(self.last_at, row.at)

    def copy(self) -> AuditTail:
        """Return a tail that can be thrown away."""
        other = AuditTail(number=self.number, first_row=self.first_row, previous=self.previous)
        other.digest = self.digest.copy()
        other.rows, other.first_at, other.last_at = self.rows, self.first_at, self.last_at
        other.marks = self.marks
        return other

    def following(self) -> AuditTail:
        """Return the empty segment behind this one."""
        other = AuditTail(number=self.number + 1, first_row=self.next_row, previous=self.digest.digest())
        other.marks = self.marks
        return other

    def values(self, *, sealed: bool) -> tuple[apsw.SQLiteValue, ...]:
        """Return the row of the table ``segment``."""
        return (
            self.number,
            sealed,
            self.first_row,
            self.rows,
            self.first_at,
            self.last_at,
            self.previous,
            self.digest.digest(),
        )


def load_tail(connection: apsw.Connection, ledger: str) -> AuditTail:
    """Return the open segment, its rows checked against its digest; begin the first where there is none.

    Raises:
        TailDamaged: rows were changed, removed or cut off.

    Bounds: reads one segment.
    """
    found = one(
        connection,
        tuple[int, int, int, int, bytes, bytes],
        "SELECT number, sealed, first_row, rows, previous, digest FROM segment ORDER BY number DESC LIMIT 1",
    )
    if found is None:
        if one(connection, tuple[int], "SELECT row FROM audit LIMIT 1"):
            raise TailDamaged("there are rows, but no segment")
        return AuditTail(number=1, first_row=1, previous=genesis(ledger))
    number, sealed, first_row, rows, previous, digest = found
    if sealed:
        raise TailDamaged(f"the open segment behind segment {number} is missing")
    tail = AuditTail(number=number, first_row=first_row, previous=previous)
    for row in rows_from(connection, first_row):
        if row.row != tail.next_row:
            raise TailDamaged(f"row {tail.next_row} is missing")
        tail.take(row)
    if tail.rows != rows:
        raise TailDamaged(f"{tail.rows} of {rows} rows are left in the open segment")
    if tail.digest.digest() != digest:
        raise TailDamaged(f"a row of the open segment {number} was changed")
    for avatar, run, seq in each(connection, tuple[str, int, int], "SELECT avatar, audit_run, audit_seq FROM avatar"):
        tail.marks[avatar] = (run, seq)
    return tail


def rows_from(connection: apsw.Connection, first_row: int, until_row: int | None = None) -> Iterator[RawRow]:
    """Return rows in order, from one number to before another."""
    end = 2**62 if until_row is None else until_row
    return each(
        connection,
        RawRow,
        "SELECT row, avatar, run, at, kind, body FROM audit WHERE row >= ? AND row < ? ORDER BY row",
        (first_row, end),
    )


class AuditBatch:
    """What one transaction adds.

    Args:
        tail: where it goes on; not changed.
        settings: when a segment is sealed.

    Bounds: the rows of one transaction.
    """

    __slots__ = ("_rows", "_sealed", "_settings", "_tail", "marks")

    def __init__(self, tail: AuditTail, settings: StorageSettings) -> None:
        self._tail = tail.copy()
        self._settings = settings
        self._rows: list[RawRow] = []
        self._sealed: list[AuditTail] = []
        self.marks: dict[str, tuple[int, int]] = {}
        """Run and number of the last row that each avatar adds; written with what else changes of an avatar."""

    def append(self, record: AuditAppended) -> bool:
        """Add a row; False when it was taken before."""
        mark = (record.run, record.record.seq)
        avatar = record.avatar
        if mark <= self.marks.get(avatar, self._tail.marks.get(avatar, (0, 0))):
            return False
        self.marks[avatar] = mark
        self._seal_if_due(record.record.at)
        row = RawRow(
            self._tail.next_row,
            avatar,
            record.run,
            record.record.at,
            record.record.kind.value,
            _encode(msgspec.convert(record.record, _Slim, from_attributes=True)),
        )
        self._tail.take(row)
        self._rows.append(row)
        return True

    def _seal_if_due(self, at: float) -> None:
        tail = self._tail
        old = tail.first_at is not None and at - tail.first_at >= self._settings.audit_segment_days * DAY_S
        if tail.rows >= self._settings.audit_segment_rows or old:
            self._sealed.append(tail)
            self._tail = tail.following()

    def write(self, connection: apsw.Connection) -> None:
        """Write the rows that were added."""
        if not self._rows:
            return
        connection.executemany(
            "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?)",
            [(row.row, row.avatar, row.run, row.at, row.kind, row.body) for row in self._rows],
        )
        connection.executemany(
            "INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET sealed = excluded.sealed,"
            " rows = excluded.rows, first_at = excluded.first_at, last_at = excluded.last_at, digest = excluded.digest",
            [*(tail.values(sealed=True) for tail in self._sealed), self._tail.values(sealed=False)],
        )

    def adopt(self) -> AuditTail:
        """Return the tail after the transaction is durable."""
        self._tail.marks.update(self.marks)
        return self._tail


def query(connection: apsw.Connection, wanted: AuditQuery) -> tuple[StoredAudit, ...]:
    """Return one page.

    Raises:
        LimitExceeded: it takes too long to find; ask for an avatar or a shorter time.
    """
    sql, bound = _by_avatar(wanted) if wanted.avatar is not None else _by_row(connection, wanted)
    if wanted.kind is not None:
        sql += " AND kind = ?"
        bound.append(wanted.kind.value)
    order = "at, row" if wanted.avatar is not None else "row"
    connection.set_progress_handler(_too_long, QUERY_STEPS_MAX)
    try:
        rows = select(
            connection,
            tuple[int, AvatarKey, int, bytes],
            f"{sql} ORDER BY {order} LIMIT ?",
            (*bound, wanted.limit),
        )
    except apsw.InterruptError:
        raise LimitExceeded(
            "steps of an audit query (name an avatar or a shorter time)", allowed=QUERY_STEPS_MAX
        ) from None
    finally:
        connection.set_progress_handler(None)
    return tuple(StoredAudit(row=row, avatar=avatar, run=run, record=_decode(body)) for row, avatar, run, body in rows)


_SELECT: Final = "SELECT row, avatar, run, body FROM audit WHERE "


def _too_long() -> bool:
    return True


def _by_avatar(wanted: AuditQuery) -> tuple[str, list[apsw.SQLiteValue]]:
    since, until = _times(wanted)
    after = wanted.after or (since, -1)
    sql = f"{_SELECT}avatar = ? AND at >= ? AND at < ? AND (at, row) > (?, ?)"
    return sql, [wanted.avatar, max(since, after[0]), until, *after]


def _by_row(connection: apsw.Connection, wanted: AuditQuery) -> tuple[str, list[apsw.SQLiteValue]]:
    """Let the segments tell where to look: few rows, and each knows its earliest and latest moment."""
    since, until = _times(wanted)
    first, end = one(
        connection,
        tuple[int | None, int | None],
        "SELECT min(first_row), max(first_row + rows) FROM segment WHERE last_at >= ? AND first_at < ?",
        (since, until),
    ) or (None, None)
    after = wanted.after[1] if wanted.after is not None else 0
    sql = f"{_SELECT}row >= ? AND row < ? AND at >= ? AND at < ?"
    return sql, [max(first or 0, after + 1), end or 0, since, until]


def _times(wanted: AuditQuery) -> tuple[float, float]:
    since = 0.0 if wanted.since is None else wanted.since
    return since, 2.0**62 if wanted.until is None else wanted.until
