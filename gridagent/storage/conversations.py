"""Conversations as they are stored: one row a conversation, one an entry (Spec: MEM-3).

Owns the SQL of the tables ``conversation`` and ``entry``. Decides nothing: what is compacted, expires or makes room is
the store's in memory (`gridagent.conversation.store`). Called inside transactions.

Invariants: an entry's number means one entry for ever; a body is handed back as it is stored, so that what cannot be
read is dropped and counted by whoever reads it, and never keeps an avatar from starting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import apsw
import msgspec

from gridagent.conversation.changes import (
    ConversationsDropped,
    EntriesCompacted,
    EntryAdded,
    PersonForgotten,
    StoredEntry,
)
from gridagent.conversation.entries import Entry
from gridagent.conversation.keys import ConversationKey, PersonKey
from gridagent.ids import AvatarId, AvatarKey
from gridagent.storage.rows import each, one, select

__all__ = (
    "add",
    "compact",
    "drop",
    "drop_old",
    "entries_of",
    "evidence_about",
    "forget_person",
    "numbers",
    "of_person",
    "of_scope",
)

_encode_key: Final = msgspec.json.Encoder(order="deterministic").encode
_encode: Final = msgspec.msgpack.Encoder().encode


def add(connection: apsw.Connection, avatar: AvatarKey, change: EntryAdded) -> bool:
    """Take one more entry in; False when its number is known."""
    conversation = _conversation(connection, avatar, change.key, change.number, change.entry.at)
    connection.execute(
        "INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (conversation, change.number, _kind(change.entry), _encode(change.entry)),
    )
    return connection.changes() > 0


def compact(connection: apsw.Connection, avatar: AvatarKey, change: EntriesCompacted) -> bool:
    """Put a summary in place of the older entries of a conversation; False when there is none of them."""
    found = _find(connection, avatar, change.key.scope)
    if found is None:
        return False
    connection.execute("DELETE FROM entry WHERE conversation = ? AND number <= ?", (found, change.through))
    if not connection.changes():
        return False
    connection.execute(
        "INSERT INTO entry VALUES (?, ?, ?, ?)",
        (found, change.through, _kind(change.summary), _encode(change.summary)),
    )
    return True


def drop(connection: apsw.Connection, avatar: AvatarKey, change: ConversationsDropped) -> bool:
    """Let older entries go, and conversations of which nothing is left; False when there was nothing."""
    gone = 0
    for scope, through in change.through:
        found = _find(connection, avatar, scope)
        if found is None:
            continue
        connection.execute("DELETE FROM entry WHERE conversation = ? AND number <= ?", (found, through))
        gone += connection.changes()
        connection.execute("DELETE FROM conversation WHERE number = ? AND last <= ?", (found, through))
    return gone > 0


def forget_person(connection: apsw.Connection, avatar: AvatarKey, change: PersonForgotten) -> int:
    """Delete a person's conversations, and evidence about them in those of others; return how many entries went."""
    whose = (avatar, change.person)
    connection.execute(
        "DELETE FROM entry WHERE conversation IN (SELECT number FROM conversation WHERE avatar = ? AND person = ?)",
        whose,
    )
    gone = connection.changes()
    connection.execute("DELETE FROM conversation WHERE avatar = ? AND person = ?", whose)
    connection.execute(
        "DELETE FROM entry WHERE kind = 'used' AND conversation IN (SELECT number FROM conversation WHERE avatar = ?)"
        " AND instr(body, CAST(? AS BLOB))",
        whose,
    )
    return gone + connection.changes()


def drop_old(connection: apsw.Connection, *, before: float, most: int) -> int:
    """Let conversations go in which nothing was said since a moment: those of avatars that no longer run."""
    old = select(connection, tuple[int], "SELECT number FROM conversation WHERE last_at < ? LIMIT ?", (before, most))
    gone = 0
    for (number,) in old[: max(1, most // 256)]:
        connection.execute("DELETE FROM entry WHERE conversation = ?", (number,))
        gone += connection.changes()
        connection.execute("DELETE FROM conversation WHERE number = ?", (number,))
    return gone


# --- reading --------------------------------------------------------------------------------------


def numbers(connection: apsw.Connection, avatar: AvatarKey) -> tuple[int, ...]:
    """Return the rows of an avatar's conversations, the least recently used first."""
    rows = each(connection, tuple[int], "SELECT number FROM conversation WHERE avatar = ? ORDER BY last", (avatar,))
    return tuple(number for (number,) in rows)


def entries_of(connection: apsw.Connection, avatar: AvatarKey, conversations: Sequence[int]) -> tuple[StoredEntry, ...]:
    """Return the entries of some conversations of an avatar, one after the other, each the oldest first."""
    found: list[StoredEntry] = []
    for number in conversations:
        found += _entries(connection, "c.avatar = ? AND c.number = ?", (avatar, number))
    return tuple(found)


def of_scope(connection: apsw.Connection, avatar: AvatarKey, scope: str) -> tuple[StoredEntry, ...]:
    """Return the entries of one conversation."""
    return _entries(connection, "c.avatar = ? AND c.scope = ?", (avatar, scope))


def of_person(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> tuple[StoredEntry, ...]:
    """Return the entries of every conversation with a person."""
    return _entries(connection, "c.avatar = ? AND c.person = ?", (avatar, person))


def evidence_about(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> tuple[StoredEntry, ...]:
    """Return evidence about a person in the conversations of others."""
    return _entries(
        connection,
        "e.kind = 'used' AND c.avatar = ? AND c.person IS NOT ?2 AND instr(e.body, CAST(?2 AS BLOB))",
        (avatar, person),
    )


# --- inside ---------------------------------------------------------------------------------------


def _entries(connection: apsw.Connection, where: str, bound: tuple[apsw.SQLiteValue, ...]) -> tuple[StoredEntry, ...]:
    rows = each(
        connection,
        tuple[int, bytes, bytes],
        "SELECT e.number, c.key, e.body FROM conversation c JOIN entry e ON e.conversation = c.number"  # noqa: S608 - our own
        f" WHERE {where} ORDER BY c.last, e.number",
        bound,
    )
    return tuple(StoredEntry(number=number, key=key, body=body) for number, key, body in rows)


def _find(connection: apsw.Connection, avatar: AvatarKey, scope: str) -> int | None:
    found = one(
        connection, tuple[int], "SELECT number FROM conversation WHERE avatar = ? AND scope = ?", (avatar, scope)
    )
    return None if found is None else found[0]


def _conversation(
    connection: apsw.Connection, avatar: AvatarKey, key: ConversationKey, last: int, last_at: float
) -> int:
    person = key.peer if isinstance(key, PersonKey) else None
    ((number,),) = select(
        connection,
        tuple[int],
        "INSERT INTO conversation (avatar, scope, person, key, last, last_at) VALUES (?, ?, ?, ?, ?5, ?6)"
        " ON CONFLICT (avatar, scope) DO UPDATE SET last = max(last, ?5), last_at = max(last_at, ?6)"
        " RETURNING number",
        (avatar, key.scope, person, _encode_key(key), last, last_at),
    )
    return number


def _kind(entry: Entry) -> str:
    return str(type(entry).__struct_config__.tag)
