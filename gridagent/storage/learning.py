"""What an avatar heard, said, looked up and remembers: how each change is applied, and what may be asked.

Owns the table change → function and the questions that join conversations and facts; each family owns its SQL
(`gridagent.storage.conversations`, `gridagent.storage.facts`). Called inside transactions, by
`gridagent.storage.transactions` and by the commands that read a stopped service's database.

Invariant: forgetting is one transaction: no power cut leaves a part of what was held about a person (Spec: MEM-5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from gridagent.conversation.changes import ConversationsDropped, EntriesCompacted, EntryAdded, PersonForgotten
from gridagent.ids import AvatarId, AvatarKey
from gridagent.memory.facts import FactKept, Reader
from gridagent.storage import conversations, facts
from gridagent.storage.records import HeldAbout, Learnt, Readable
from gridagent.storage.settings import DAY_S, StorageSettings

__all__ = ("LEARN", "drop_old", "forgets", "held_about", "learn", "readable")


def _forget(connection: apsw.Connection, avatar: AvatarKey, change: PersonForgotten) -> bool:
    gone = facts.forget_person(connection, avatar, change.person)
    return gone + conversations.forget_person(connection, avatar, change) > 0


LEARN: Final[dict[type, Callable[..., bool]]] = {
    EntryAdded: conversations.add,
    EntriesCompacted: conversations.compact,
    ConversationsDropped: conversations.drop,
    PersonForgotten: _forget,
    FactKept: facts.keep,
}
"""How each change is applied; a test holds it total."""


def learn(connection: apsw.Connection, learnt: Learnt) -> bool:
    """Apply one change; tell whether it did anything."""
    return LEARN[type(learnt.change)](connection, learnt.avatar, learnt.change)


def forgets(learnt: Learnt) -> bool:
    """Tell whether the write-ahead log has to be emptied after it, since it still holds what goes."""
    return isinstance(learnt.change, PersonForgotten)


def readable(connection: apsw.Connection, avatar: AvatarKey, reader: Reader) -> Readable:
    """Return all that one conversation may be asked about: its own entries, and the facts it sees."""
    return Readable(
        entries=conversations.of_scope(connection, avatar, reader.scope),
        facts=facts.seen_by(connection, avatar, reader),
    )


def held_about(connection: apsw.Connection, avatar: AvatarKey, person: AvatarId) -> HeldAbout:
    """Return all that forgetting a person would delete."""
    return HeldAbout(
        entries=conversations.of_person(connection, avatar, person),
        evidence=conversations.evidence_about(connection, avatar, person),
        facts=facts.about(connection, avatar, person),
    )


def drop_old(connection: apsw.Connection, at: float, keep: StorageSettings, *, most: int) -> int:
    """Let conversations and facts go that are older than they are kept."""
    return conversations.drop_old(
        connection, before=at - keep.conversations_keep_days * DAY_S, most=most
    ) + facts.drop_old(connection, before=at - keep.facts_keep_days * DAY_S, most=most)
