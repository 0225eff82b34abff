"""What a database holds after a reboot: the examiner's own reading, by its own SQL, of a copy of the disk.

Owns the queries, the chain of digests worked out anew, and the values of `Found`. Shares no code with the room
that writes the database, and never opens it: it reads a twin of the disk, so that it recovers nothing for whoever
comes next. `gridagent.simulation.machine` asks after each end of the service; `gridagent.simulation.history` judges.

Invariant: what it returns is what a restart would find, no more and no less.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import apsw
import msgspec

from gridagent.simulation.views import AuditView, decode_row

__all__ = ("Found", "FoundAvatar", "broken_chain", "examine")

_HEAD: Final = struct.Struct(">QqdII")
_SETTLED_FOR_S: Final = 7_200.0
"""What ended longer ago is not looked at again: a run of a month would read its whole past at every reboot."""


class FoundAvatar(msgspec.Struct, kw_only=True):
    """What is kept of one avatar."""

    generation: int = 0
    held: bool = False
    effects: dict[str, str] = {}
    """State of each effect that costs something, is open, or ended lately."""
    approvals: dict[str, str] = {}
    """State of each approval."""
    charged: int = 0
    """Budget windows that hold something."""
    rows: list[AuditView] = []
    """Audit rows of the avatar's last run."""


class Found(msgspec.Struct, kw_only=True):
    """What is kept of everybody."""

    avatars: dict[str, FoundAvatar] = {}
    problem: str = ""
    """Why it cannot be read, or where its audit trail breaks."""

    def avatar(self, key: str) -> FoundAvatar:
        """Return what is kept of one; nothing, when it was never heard of."""
        return self.avatars.get(key) or FoundAvatar()


def examine(path: str, vfs: str, *, wall: float) -> Found:
    """Read a database.

    Args:
        path: of the database, on the disk that ``vfs`` names; it is changed by being read.
        vfs: of a twin of the disk.
        wall: now.
    """
    found = Found()
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        try:
            connection.pragma("locking_mode", "EXCLUSIVE")
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'segment'").fetchall():
                _read(connection, found, wall)
        finally:
            connection.close(True)
    except apsw.Error as error:
        found.problem = f"{type(error).__name__}: {error}"
    return found


def _read(connection: apsw.Connection, found: Found, wall: float) -> None:
    said = connection.execute("PRAGMA integrity_check").fetchall()
    if said != [("ok",)]:
        found.problem = f"integrity: {said[0][0]}"
        return
    for key, run, generation, held in connection.execute("SELECT avatar, run, generation, held FROM avatar").fetchall():
        whose = (key,)
        found.avatars[str(key)] = FoundAvatar(
            generation=_number(generation),
            held=held == 1,
            effects=_pairs(
                connection.execute(
                    "SELECT effect, state FROM effect WHERE avatar = ? AND (once OR ended IS NULL OR settled_at > ?)",
                    (key, wall - _SETTLED_FOR_S),
                )
            ),
            approvals=_pairs(connection.execute("SELECT approval_id, state FROM approval WHERE avatar = ?", whose)),
            charged=_number(connection.execute("SELECT count(*) FROM budget WHERE avatar = ?", whose).fetchall()[0][0]),
            rows=[
                decode_row(body)
                for (body,) in connection.execute(
                    "SELECT body FROM audit WHERE avatar = ? AND run = ? ORDER BY row", (key, run)
                )
                if isinstance(body, bytes)
            ],
        )
    found.problem = broken_chain(connection)


def _number(value: apsw.SQLiteValue) -> int:
    return value if isinstance(value, int) else 0


def _pairs(rows: Iterable[tuple[apsw.SQLiteValue, ...]]) -> dict[str, str]:
    return {str(name): str(state) for name, state in rows}


def broken_chain(connection: apsw.Connection) -> str:
    """Work the digests of the audit trail out anew; say which segment does not fit, or nothing."""
    before: bytes | None = None
    segments = connection.execute(
        "SELECT number, first_row, rows, previous, digest FROM segment ORDER BY number"
    ).fetchall()
    for number, first, count, previous, digest in segments:
        assert isinstance(previous, bytes)  # noqa: S101 - the schema is strict
        if before is not None and previous != before:
            return f"segment {number} does not follow the one before it"
        running, there = sha256(previous), 0
        rows = connection.execute(
            "SELECT row, avatar, run, at, kind, body FROM audit WHERE row >= ? AND row < ? + ? ORDER BY row",
            (first, first, count),
        )
        for row, avatar, run, at, kind, body in rows:
            words = f"{avatar}\n{kind}\n".encode()
            assert isinstance(body, bytes)  # noqa: S101 - the schema is strict
            running.update(_HEAD.pack(row, run, at, len(words), len(body)) + words + body)
            there += 1
        if there != count or running.digest() != digest:
            return f"segment {number} is not what its digest says"
        before = running.digest()
    last = segments[-1] if segments else None
    if last is not None:
        (beyond,) = connection.execute("SELECT count(*) FROM audit WHERE row >= ? + ?", (last[1], last[2])).fetchall()
        if beyond != (0,):
            return "there are rows beyond the last segment"
    return ""
