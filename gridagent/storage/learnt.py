"""What an avatar learnt, kept without a disk: for tests, and where nothing need survive the process.

Owns the same changes and questions as `gridagent.storage.learning`, over plain dictionaries; recall counts words
instead of ranking by BM25. Held by `gridagent.storage.memory`, one for each avatar; the same tests run against both.

Invariant: bounded as the store of conversations and the facts are; no SQLite is loaded for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from gridagent.conversation.changes import (
    ConversationsDropped,
    EntriesCompacted,
    EntryAdded,
    PersonForgotten,
    StoredEntry,
)
from gridagent.conversation.entries import Entry, Used
from gridagent.conversation.keys import ConversationKey, PersonKey
from gridagent.ids import AvatarId
from gridagent.limits import FACTS_MAX, FACTS_PER_SCOPE_MAX
from gridagent.memory.facts import Fact, Reader
from gridagent.memory.recall import RecallQuestion, matches, terms_of
from gridagent.storage.records import HeldAbout, Learning, Readable

__all__ = ("LearntInMemory",)

_encode_key: Final = msgspec.json.Encoder(order="deterministic").encode
_encode: Final = msgspec.msgpack.Encoder().encode


class _Conversation:
    """One conversation."""

    __slots__ = ("entries", "key", "last", "number")

    def __init__(self, number: int, key: ConversationKey) -> None:
        self.number = number
        self.key = key
        self.last = 0
        self.entries: dict[int, Entry] = {}  # bounded by whoever compacts

    def is_with(self, person: AvatarId) -> bool:
        """Tell whether it is a person's."""
        return isinstance(self.key, PersonKey) and self.key.peer == person


class LearntInMemory:
    """Conversations and facts of one avatar."""

    __slots__ = ("_conversations", "_facts", "_next")

    def __init__(self) -> None:
        self._conversations: dict[str, _Conversation] = {}  # by scope; bounded by whoever expires
        self._facts: dict[str, Fact] = {}  # by id, the oldest first; at most FACTS_MAX
        self._next = 1

    def learn(self, change: Learning) -> bool:
        """Apply one change; tell whether it did anything."""
        match change:
            case EntryAdded():
                return self._add(change)
            case EntriesCompacted():
                found = self._conversations.get(change.key.scope)
                if found is None or not self._drop(found, change.through):
                    return False
                found.entries[change.through] = change.summary
                return True
            case ConversationsDropped():
                gone = [self._drop_all(scope, through) for scope, through in change.through]
                return any(gone)
            case PersonForgotten():
                return self._forget(change.person)
            case _:
                return self._keep(change.fact)

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the conversations, the least recently used first."""
        return tuple(each.number for each in self._in_order())

    def entries_of(self, conversations: Sequence[int]) -> tuple[StoredEntry, ...]:
        """Return the entries of some conversations."""
        by_number = {each.number: each for each in self._conversations.values()}
        return self._stored(by_number[number] for number in conversations if number in by_number)

    def recall(self, question: RecallQuestion) -> tuple[Fact, ...]:
        """Return the facts that fit best: most words, then the newest."""
        terms = terms_of(question.words)
        ranked = [
            (matches(fact, terms), number, fact)
            for number, fact in enumerate(self._facts.values())
            if fact.seen_by(question.reader)
        ]
        ranked.sort(key=lambda each: each[:2], reverse=True)
        return tuple(fact for score, _, fact in ranked[: question.limit] if score)

    def readable(self, reader: Reader) -> Readable:
        """Return all that one conversation may be asked about."""
        found = self._conversations.get(reader.scope)
        return Readable(
            entries=() if found is None else self._stored((found,)),
            facts=tuple(fact for fact in self._facts.values() if fact.seen_by(reader)),
        )

    def held_about(self, person: AvatarId) -> HeldAbout:
        """Return all that forgetting a person would delete."""
        ordered = self._in_order()
        return HeldAbout(
            entries=self._stored(each for each in ordered if each.is_with(person)),
            evidence=tuple(
                StoredEntry(number=number, key=_encode_key(each.key), body=_encode(entry))
                for each in ordered
                if not each.is_with(person)
                for number, entry in sorted(each.entries.items())
                if isinstance(entry, Used) and entry.concerns(person)
            ),
            facts=tuple(fact for fact in self._facts.values() if fact.concerns(person)),
        )

    # --- inside -----------------------------------------------------------------------------------

    def _in_order(self) -> list[_Conversation]:
        return sorted(self._conversations.values(), key=lambda each: each.last)

    def _stored(self, conversations: Iterable[_Conversation]) -> tuple[StoredEntry, ...]:
        return tuple(
            StoredEntry(number=number, key=_encode_key(each.key), body=_encode(entry))
            for each in conversations
            for number, entry in sorted(each.entries.items())
        )

    def _add(self, change: EntryAdded) -> bool:
        scope = change.key.scope
        found = self._conversations.get(scope)
        if found is None:
            found = self._conversations[scope] = _Conversation(self._next, change.key)
            self._next += 1
        found.last = max(found.last, change.number)
        return found.entries.setdefault(change.number, change.entry) is change.entry

    def _drop(self, found: _Conversation, through: int) -> int:
        gone = [number for number in found.entries if number <= through]
        for number in gone:
            del found.entries[number]
        return len(gone)

    def _drop_all(self, scope: str, through: int) -> bool:
        found = self._conversations.get(scope)
        if found is None:
            return False
        gone = self._drop(found, through)
        if found.last <= through:
            del self._conversations[scope]
        return gone > 0

    def _forget(self, person: AvatarId) -> bool:
        gone = 0
        for scope, each in list(self._conversations.items()):
            if each.is_with(person):
                gone += len(each.entries)
                del self._conversations[scope]
                continue
            for number, entry in list(each.entries.items()):
                if isinstance(entry, Used) and entry.concerns(person):
                    gone += 1
                    del each.entries[number]
        for fact_id, fact in list(self._facts.items()):
            if fact.concerns(person):
                gone += 1
                del self._facts[fact_id]
        return gone > 0

    def _keep(self, fact: Fact) -> bool:
        if fact.fact_id in self._facts:
            return False
        self._facts[fact.fact_id] = fact
        of_scope = [each.fact_id for each in self._facts.values() if each.scope == fact.scope]
        for fact_id in of_scope[: max(0, len(of_scope) - FACTS_PER_SCOPE_MAX)]:
            del self._facts[fact_id]
        for fact_id in list(self._facts)[: max(0, len(self._facts) - FACTS_MAX)]:
            del self._facts[fact_id]
        return True
