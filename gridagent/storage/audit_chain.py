"""Whole segments of the audit trail: judged, dropped and exported (Spec: POL-10).

Owns what is done to segments after they were written; `gridagent.storage.audit` writes them. Verification
reads every row and trusts nothing but the ledger's id and the digest of the last segment that retention
dropped. Invariants: only whole sealed segments go, the oldest first; what is left still verifies, and so does
an export, anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import apsw
import msgspec

from gridagent.storage.audit import RawRow, fold, genesis, rows_from
from gridagent.storage.rows import each, one

__all__ = (
    "ChainReport",
    "SegmentHead",
    "check_export",
    "check_segment",
    "drop_segment",
    "export_segment",
    "segment_heads",
)


class SegmentHead(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of a segment beside its rows; the first line of its export."""

    segment: int
    sealed: bool
    first_row: int
    rows: int
    previous: str
    """Digest of the segment before it, in hex."""
    digest: str


class ChainReport(msgspec.Struct, kw_only=True):
    """What verification found, grown segment by segment."""

    segments: int = 0
    rows: int = 0
    missing: int = 0
    """Rows that were never stored: numbers left out within a run (in safe mode, or by a crash)."""
    head: str = ""
    """Digest of the newest segment, in hex: keep it elsewhere to prove later that nothing was rewritten."""
    problem: str = ""
    """What doesn't fit, and where; empty when all does."""
    last: dict[str, tuple[int, int]] = {}
    """Run and number of the last row of each avatar; one entry an avatar."""

    def follow(self, row: RawRow, seq: int) -> None:
        """Count numbers that are left out within the run of an avatar."""
        run, before = self.last.get(row.avatar, (row.run, seq - 1))
        if run == row.run and seq > before + 1:
            self.missing += seq - before - 1
        self.last[row.avatar] = (row.run, seq)


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """One row of an export."""

    row: int
    avatar: str
    run: int
    at: float
    kind: str
    record: msgspec.Raw


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """One row of the table, in the order of `_HEADS`."""

    number: int
    sealed: int
    first_row: int
    rows: int
    previous: bytes
    digest: bytes

    def head(self) -> SegmentHead:
        """Return it as it is handed out."""
        return SegmentHead(
            segment=self.number,
            sealed=bool(self.sealed),
            first_row=self.first_row,
            rows=self.rows,
            previous=self.previous.hex(),
            digest=self.digest.hex(),
        )


class _Numbered(msgspec.Struct, frozen=True, kw_only=True):
    """The one field of a record that the chain looks at."""

    seq: int


_encode: Final = msgspec.json.Encoder().encode
_line: Final = msgspec.json.Decoder(_Line).decode
_head: Final = msgspec.json.Decoder(SegmentHead).decode
_numbered: Final = msgspec.json.Decoder(_Numbered).decode
_HEADS: Final = "SELECT number, sealed, first_row, rows, previous, digest FROM segment"


def segment_heads(connection: apsw.Connection) -> tuple[SegmentHead, ...]:
    """Return every segment, the oldest first."""
    return tuple(row.head() for row in each(connection, _Head, f"{_HEADS} ORDER BY number"))


def check_segment(connection: apsw.Connection, ledger: str, after: int, report: ChainReport) -> int | None:
    """Check the segment behind number ``after`` and add to the report.

    Returns:
        Its number; None when there is none left, or a problem was found.
    """
    found = one(connection, _Head, f"{_HEADS} WHERE number > ? ORDER BY number LIMIT 1", (after,))
    if found is None:
        _check_end(connection, report)
        return None
    head = found.head()
    expected = report.head or _anchor(connection, ledger)
    if after and head.segment != after + 1:
        report.problem = f"segment {after + 1} is missing"
    elif head.previous != expected:
        report.problem = f"segment {head.segment} does not follow the one before it"
    else:
        rows = rows_from(connection, head.first_row, head.first_row + head.rows)
        report.problem = _fold_rows(head, rows, report)
    report.segments += 1
    return None if report.problem else head.segment


def _anchor(connection: apsw.Connection, ledger: str) -> str:
    """Return what the oldest segment must be chained to."""
    dropped = one(connection, tuple[bytes], "SELECT value FROM meta WHERE name = 'audit_dropped'")
    return (genesis(ledger) if dropped is None else dropped[0]).hex()


def _check_end(connection: apsw.Connection, report: ChainReport) -> None:
    last = one(connection, _Head, f"{_HEADS} ORDER BY number DESC LIMIT 1")
    (highest,) = one(connection, tuple[int], "SELECT row FROM audit ORDER BY row DESC LIMIT 1") or (0,)
    end = 1 if last is None else last.first_row + last.rows
    if highest >= end:
        report.problem = f"rows from {end} on belong to no segment"
    elif last is not None and last.sealed:
        report.problem = "the open segment is missing"


def _fold_rows(head: SegmentHead, rows: Iterable[RawRow], report: ChainReport) -> str:
    """Fold a segment's rows; return what doesn't fit."""
    digest, expected = sha256(bytes.fromhex(head.previous)), head.first_row
    for row in rows:
        if row.row != expected:
            return f"row {expected} of segment {head.segment} is missing"
        expected += 1
        fold(digest, row)
        report.rows += 1
        try:
            report.follow(row, _numbered(row.body).seq)
        except msgspec.MsgspecError:
            return f"row {row.row} of segment {head.segment} cannot be read"
    if expected != head.first_row + head.rows:
        return f"segment {head.segment} has {expected - head.first_row} of {head.rows} rows"
    if digest.hexdigest() != head.digest:
        return f"a row of segment {head.segment} was changed"
    report.head = head.digest
    return ""


def drop_segment(connection: apsw.Connection, *, before: float, keep_rows: int) -> int:
    """Let the oldest segment go if it is sealed, and older than a moment or beyond ``keep_rows`` rows.

    Returns:
        How many rows went. One segment a call, so that a transaction stays short.
    """
    found = one(
        connection,
        tuple[int, int, int, float, bytes, int],
        "SELECT number, first_row, rows, last_at, digest, (SELECT max(first_row + rows) FROM segment)"
        " FROM segment WHERE sealed ORDER BY number LIMIT 1",
    )
    if found is None:
        return 0
    number, first_row, rows, last_at, digest, end = found
    if last_at >= before and end - first_row <= keep_rows:
        return 0
    connection.execute("DELETE FROM audit WHERE row >= ? AND row < ?", (first_row, first_row + rows))
    connection.execute("DELETE FROM segment WHERE number = ?", (number,))
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('audit_dropped', ?)", (digest,))
    return rows


def export_segment(connection: apsw.Connection, number: int) -> bytes:
    """Return one segment as lines of JSON: its head, then its rows.

    Raises:
        KeyError: there is no such segment.

    Bounds: one segment.
    """
    found = one(connection, _Head, f"{_HEADS} WHERE number = ?", (number,))
    if found is None:
        raise KeyError(number)
    head = found.head()
    lines = [_encode(head)]
    lines.extend(
        _encode(
            _Line(row=row.row, avatar=row.avatar, run=row.run, at=row.at, kind=row.kind, record=msgspec.Raw(row.body))
        )
        for row in rows_from(connection, head.first_row, head.first_row + head.rows)
    )
    return b"\n".join(lines) + b"\n"


def check_export(text: bytes, report: ChainReport) -> None:
    """Check one exported segment and add to the report; give segments in order to have the chain checked too."""
    lines = text.splitlines()
    try:
        head = _head(lines[0] if lines else b"")
        rows = [_line(line) for line in lines[1:]]
    except msgspec.MsgspecError as error:
        report.problem = f"this is no exported segment: {error}"
        return
    if report.head and head.previous != report.head:
        report.problem = f"segment {head.segment} does not follow the one before it"
        return
    raw = (RawRow(row.row, row.avatar, row.run, row.at, row.kind, bytes(row.record)) for row in rows)
    report.problem = _fold_rows(head, raw, report)
    report.segments += 1
