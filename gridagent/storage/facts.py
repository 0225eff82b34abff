"""Facts as they are stored, and the search for them (Spec: MEM-4, MEM-7).

Owns the SQL of the tables ``fact`` and ``fact_text``; the second holds the words, ranked by BM25. Called inside
transactions. Decides nothing but how many there may be.

Invariants: no query returns a fact that the reading conversation may not see, since its scopes stand in every one of
them; a fact that goes takes its words with it in the same transaction.
"""

from __future__ import annotations

from typing import Final

import apsw
import msgspec

from gridagent.authority import TextSource
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import FACTS_MAX, FACTS_PER_SCOPE_MAX
from gridagent.memory.facts import Fact, FactKept, Reader
from gridagent.memory.recall import RecallQuestion, terms_of
from gridagent.storage.rows import each, one, select

__all__ = ("about", "drop_old", "forget_person", "keep", "recall", "seen_by")

_COLUMNS: Final = "f.fact_id, t.text, f.scope, f.source, f.told_by, f.about, f.region, f.at, f.tainted"
_FROM: Final = f"SELECT {_COLUMNS} FROM fact f JOIN fact_text t ON t.rowid = f.number WHERE"  # noqa: S608 - our own
_PREFIX_LEAST: Final = 4
"""Shorter words are looked for whole."""


def keep(connection: apsw.Connection, avatar: AvatarKey, change: FactKept) -> bool:
    """Keep a fact, and let the oldest go where there are too many; False when it is known."""
    fact = change.fact
    connection.execute(
        "INSERT INTO fact (avatar, fact_id, scope, source, told_by, about, region, at, tainted)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (avatar, fact_id) DO NOTHING",
        (
            avatar,
            fact.fact_id,
            fact.scope,
            fact.source.value,
            fact.told_by,
            fact.about,
            fact.region,
            fact.at,
            fact.tainted,
        ),
    )
    if not connection.changes():
        return False
    connection.execute("INSERT INTO fact_text (rowid, text) VALUES (?, ?)", (connection.last_insert_rowid(), fact.text))
    _hold(connection, "avatar = ? AND scope = ?", (avatar, fact.scope), FACTS_PER_SCOPE_MAX)
    _hold(connection, "avatar = ?", (avatar,), FACTS_MAX)
    return True


def forget_person(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> int:
    """Delete what a person told, what is about them, and what was learnt in an IM with them."""
    return _drop(connection, _about(connection, avatar, person))


def drop_old(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let facts go that were learnt before a moment; at most ``most``."""
    rows = select(connection, tuple[int], "SELECT number FROM fact WHERE at < ? LIMIT ?", (before, most))
    return _drop(connection, [number for (number,) in rows])


# --- reading --------------------------------------------------------------------------------------


def recall(connection: apsw.Connection, avatar: AvatarKey, question: RecallQuestion) -> tuple[Fact, ...]:
    """Return the facts that fit best, of those that the reading conversation sees."""
    terms = terms_of(question.words)
    if not terms:
        return ()
    wanted = " OR ".join(f'"{term}"*' if len(term) >= _PREFIX_LEAST else f'"{term}"' for term in terms)
    return _facts(
        connection,
        f"{_FROM} fact_text MATCH ? AND f.avatar = ? AND f.scope IN (?, ?)"
        " ORDER BY bm25(fact_text), f.number DESC LIMIT ?",
        (wanted, avatar, *_scopes(question.reader), question.limit),
    )


def seen_by(connection: apsw.Connection, avatar: AvatarKey, reader: Reader) -> tuple[Fact, ...]:
    """Return every fact that a conversation sees, the oldest first."""
    return _facts(
        connection, f"{_FROM} f.avatar = ? AND f.scope IN (?, ?) ORDER BY f.number", (avatar, *_scopes(reader))
    )


def about(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> tuple[Fact, ...]:
    """Return all that `forget_person` would delete, the oldest first."""
    found: list[Fact] = []
    for number in _about(connection, avatar, person):
        found += _facts(connection, f"{_FROM} f.number = ?", (number,))
    return tuple(found)


# --- inside ---------------------------------------------------------------------------------------


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row in the order of `_COLUMNS`."""

    fact_id: str
    text: str
    scope: str
    source: TextSource
    told_by: AvatarId | None
    about: AvatarId | None
    region: str
    at: float
    tainted: int


def _facts(connection: apsw.Connection, sql: str, bound: tuple[apsw.SQLiteValue, ...]) -> tuple[Fact, ...]:
    return tuple(
        Fact(**{**msgspec.structs.asdict(row), "tainted": bool(row.tainted)})
        for row in each(connection, _Row, sql, bound)
    )


def _scopes(reader: Reader) -> tuple[str, str]:
    sees = reader.sees
    return sees[0], sees[-1]


def _about(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> list[int]:
    rows = select(
        connection,
        tuple[int],
        "SELECT f.number FROM fact f JOIN fact_text t ON t.rowid = f.number WHERE f.avatar = ?1"
        " AND (f.told_by = ?2 OR f.about = ?2 OR instr(f.scope, ':' || ?2 || '@') OR instr(t.text, ?2))"
        " ORDER BY f.number",
        (avatar, person),
    )
    return [number for (number,) in rows]


def _hold(connection: apsw.Connection, where: str, bound: tuple[apsw.SQLiteValue, ...], most: int) -> None:
    (count,) = one(connection, tuple[int], f"SELECT count(*) FROM fact WHERE {where}", bound) or (0,)  # noqa: S608 - our own
    if count > most:
        rows = select(
            connection,
            tuple[int],
            f"SELECT number FROM fact WHERE {where} ORDER BY number LIMIT ?",  # noqa: S608 - our own
            (*bound, count - most),
        )
        _drop(connection, [number for (number,) in rows])


def _drop(connection: apsw.Connection, numbers: list[int]) -> int:
    for number in numbers:
        connection.execute("DELETE FROM fact_text WHERE rowid = ?", (number,))
        connection.execute("DELETE FROM fact WHERE number = ?", (number,))
    return len(numbers)
