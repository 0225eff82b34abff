"""Every conversation of one avatar, in memory: what was said, what is kept of it, and for how long.

Owns the bounds of BND-9 and what happens at them: expiry, then compaction, then the least recently used goes. A
session's mind holds one; each of its verbs returns the changes that storage is to write down, and takes the time as
an argument. Pure: no clock, no disk, no model.

Invariants: whoever reads gives one exact key and gets that conversation and nothing else (Spec: MEM-1); no verb does
more work than a bounded number of conversations takes, so that the loop never waits (see `ConversationStore.tend`);
what comes back from storage is untrusted, and what cannot be read is dropped and counted (Spec: MEM-3).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from gridagent.conversation.changes import (
    DROPS_PER_CHANGE_MAX,
    ConversationChange,
    ConversationsDropped,
    EntriesCompacted,
    EntryAdded,
    PersonForgotten,
    StoredEntry,
)
from gridagent.conversation.compaction import CannotShrink, summarise
from gridagent.conversation.entries import Entry, Heard, Said, Used, restored, text_bytes
from gridagent.conversation.held import Held
from gridagent.conversation.keys import ConversationKey, PersonKey, Scope
from gridagent.conversation.settings import ConversationSettings
from gridagent.errors import InternalError
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import clip_bytes

__all__ = ("ConversationCounts", "ConversationStore", "Tended")

COMPACTIONS_AT_ONCE: Final = 32
"""Conversations that one verb compacts to make room; beyond it the least recently used go."""
SCRUBBED_A_STEP: Final = 8
"""Conversations that one step looks through for evidence about somebody who is forgotten."""
FORGETTING_MAX: Final = 64
"""People whose evidence is being looked for at the same time."""
_Dropped: TypeAlias = tuple[Scope, int]
_SOFT: Final = 7 / 8
_ENTRY_SHARE: Final = 4
_key: Final[msgspec.json.Decoder[ConversationKey]] = msgspec.json.Decoder(ConversationKey)
_entry: Final[msgspec.msgpack.Decoder[Entry]] = msgspec.msgpack.Decoder(Entry)


class Tended(msgspec.Struct, frozen=True, kw_only=True):
    """What one step of tending came to."""

    changes: tuple[ConversationChange, ...] = ()
    more: bool = False
    """There is more to do at once."""


class ConversationCounts(msgspec.Struct, kw_only=True):
    """What happened since the start; numbers only."""

    compactions: int = 0
    unshrinkable: int = 0
    """Compactions that would not have made anything smaller; the oldest entries went instead."""
    expired: int = 0
    evicted: int = 0
    clipped: int = 0
    """Entries too long for their conversation, of which the end was cut off."""
    orphans: int = 0
    """Evidence without the entry that it belongs to; dropped."""
    malformed: int = 0
    """Stored entries that could not be read; dropped."""
    restored: int = 0
    forgotten: int = 0
    """Conversations and evidence dropped because somebody is forgotten."""


class ConversationStore:
    """The conversations of one avatar.

    Args:
        avatar: whose they are; a key of another avatar is a bug.
        settings: bounds.
    """

    __slots__ = ("_avatar", "_forgetting", "_held", "_next", "_ready", "_ripe", "_settings", "_size", "_soft", "counts")

    def __init__(self, avatar: AvatarKey, settings: ConversationSettings | None = None) -> None:
        self._avatar = avatar
        self._settings = ConversationSettings() if settings is None else settings
        self._held: OrderedDict[ConversationKey, Held] = OrderedDict()  # at most conversations_max, oldest use first
        self._ready: OrderedDict[ConversationKey, None] = OrderedDict()  # those unpacked, at most ready_max
        self._ripe: OrderedDict[ConversationKey, None] = OrderedDict()  # those that compaction may shorten
        self._forgetting: OrderedDict[AvatarId, deque[ConversationKey]] = OrderedDict()  # at most FORGETTING_MAX
        self._size = 0
        self._soft = self._settings.text_max_bytes * _SOFT
        self._next = 1
        self.counts = ConversationCounts()

    def __len__(self) -> int:
        """How many conversations there are."""
        return len(self._held)

    @property
    def size(self) -> int:
        """All text, in bytes of UTF-8."""
        return self._size

    # --- what happens -----------------------------------------------------------------------------

    def hear(self, key: ConversationKey, heard: Heard, now: float) -> tuple[ConversationChange, ...]:
        """Take in what somebody said.

        Args:
            key: the conversation it was said in.
            heard: by its person and nobody else; in a client's thread, by no avatar.
            now: monotonic clock, in seconds.

        Raises:
            InternalError: it belongs to another avatar or another person.
        """
        if heard.avatar_id is not None and (not isinstance(key, PersonKey) or heard.avatar_id != key.peer):
            raise InternalError("words of one person were put into the conversation of another")
        return self._add(key, heard, now)

    def say(self, key: ConversationKey, said: Said, now: float) -> tuple[ConversationChange, ...]:
        """Take in what we answered; a silent turn says nothing and is not put here."""
        return self._add(key, said, now)

    def use(self, key: ConversationKey, used: Used, now: float) -> tuple[ConversationChange, ...]:
        """Take in what a turn looked up, behind what it answered or heard; without that it is dropped."""
        held = self._held.get(key)
        if held is None:
            self.counts.orphans += 1
            return ()
        return self._add(key, msgspec.structs.replace(used, after=held.last), now)

    def project(self, key: ConversationKey, now: float) -> tuple[Entry, ...]:
        """Return what is kept of one conversation, the oldest first; nothing of any other, and nothing expired."""
        held = self._held.get(key)
        if held is None or self._expired(held, now):
            return ()
        entries = held.entries()
        self._keep_ready(held)
        if self._forgetting and held.evidence:
            return tuple(entry for _, entry in entries if not self._about_forgotten(entry))
        return tuple([entry for _, entry in entries])

    # --- time and room ----------------------------------------------------------------------------

    def due(self) -> float | None:
        """Return when `tend` has something to do, on the monotonic clock; None while there is nothing."""
        if self._forgetting or (self._size > self._soft and self._ripe):
            return 0.0
        oldest = next(iter(self._held.values()), None)
        return None if oldest is None else oldest.used_at + self._settings.expire_after_s

    def tend(self, now: float) -> Tended:
        """Do one step of what is due: let go what expired, finish forgetting, compact ahead of need.

        Bounds: one step drops 64 conversations, or looks through 8, or compacts one.
        """
        changes = self._expire(now)
        if not changes and self._forgetting:
            self._scrub()
        elif not changes and self._size > self._soft and self._ripe:
            changes = self._compact(self._held[next(iter(self._ripe))], self._keep_full)
        due = self.due()
        return Tended(changes=tuple(changes), more=due is not None and due <= now)

    # --- people -----------------------------------------------------------------------------------

    def export(self, person: AvatarId) -> tuple[tuple[ConversationKey, tuple[Entry, ...]], ...]:
        """Return every conversation with a person, as they are kept."""
        return tuple((key, tuple(entry for _, entry in self._held[key].entries())) for key in self._keys_of(person))

    def forget(self, person: AvatarId) -> tuple[ConversationChange, ...]:
        """Drop all with a person at once, and evidence about them from others by and by; none is shown from now on."""
        for key in self._keys_of(person):
            self.counts.forgotten += 1
            self._drop(self._held[key])
        while len(self._forgetting) >= FORGETTING_MAX:
            self._scrub()
        with_evidence = [key for key, held in self._held.items() if held.evidence]
        if with_evidence:
            self._forgetting[person] = deque(with_evidence, maxlen=len(with_evidence))
        return (PersonForgotten(avatar=self._avatar, person=person),)

    # --- starting again ---------------------------------------------------------------------------

    def restore(self, rows: Iterable[StoredEntry], *, now: float, wall: float) -> tuple[ConversationChange, ...]:
        """Take in what storage kept, a page at a time: conversation after conversation, each the oldest first.

        Args:
            rows: as they were read.
            now: monotonic clock, in seconds.
            wall: wall clock, in seconds: how long ago something was said is all that it decides.

        Returns:
            What had to go because there is less room than there was.
        """
        changes: list[ConversationChange] = []
        keys: dict[bytes, ConversationKey] = {}  # of one page
        for row in rows:
            self._next = max(self._next, row.number + 1)
            try:
                key = keys.get(row.key) or keys.setdefault(row.key, _key.decode(row.key))
                entry = restored(_entry.decode(row.body))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                self.counts.malformed += 1
                continue
            held = self._held.get(key)
            if key.avatar != self._avatar or (held is not None and row.number <= held.last):
                self.counts.malformed += 1
            elif isinstance(entry, Used) and (held is None or held.last != entry.after):
                self.counts.orphans += 1
            else:
                self.counts.restored += 1
                changes += self._place(key, row.number, entry, now - max(0.0, wall - entry.at))
        return tuple(changes)

    # --- inside -----------------------------------------------------------------------------------

    def _add(self, key: ConversationKey, entry: Entry, now: float) -> tuple[ConversationChange, ...]:
        if key.avatar != self._avatar:
            raise InternalError("a key of another avatar")
        entry = self._fit(entry)
        number = self._next
        self._next += 1
        added = EntryAdded(key=key, number=number, entry=entry)
        return (added, *self._place(key, number, entry, now))

    def _place(self, key: ConversationKey, number: int, entry: Entry, used_at: float) -> list[ConversationChange]:
        """Put an entry where it belongs, and hold every bound again."""
        changes: list[ConversationChange] = []
        held = self._held.get(key)
        if held is not None and self._expired(held, used_at):
            self.counts.expired += 1
            changes += self._dropped([self._drop(held)])
            held = None
        if held is None:
            if len(self._held) >= self._settings.conversations_max:
                changes += self._expire(used_at) or self._dropped([self._evict()])
            held = self._held[key] = Held(key, used_at)
        held.used_at = max(held.used_at, used_at)
        self._held.move_to_end(key)
        before = held.size
        held.append(number, entry)
        self._size += held.size - before
        if held.count > self._keep_full:
            self._ripe[key] = None
            self._ripe.move_to_end(key)
        if held.count > self._settings.one_entries_max or held.size > self._settings.one_text_max_bytes:
            changes += self._compact(held, self._keep)
        self._keep_ready(held)
        changes += self._make_room(used_at)
        return changes

    @property
    def _keep(self) -> int:
        return min(self._settings.keep_entries, self._settings.one_entries_max // 2)

    @property
    def _keep_full(self) -> int:
        return min(self._settings.keep_entries_full, self._keep)

    def _fit(self, entry: Entry) -> Entry:
        """Return an entry that leaves three quarters of its conversation's room to the others."""
        room = self._settings.one_text_max_bytes // _ENTRY_SHARE
        if text_bytes(entry) <= room:
            return entry
        self.counts.clipped += 1
        if isinstance(entry, Used):
            kept: deque[int] = deque(maxlen=len(entry.evidence))
            for index in range(len(entry.evidence) - 1, -1, -1):
                room -= len(entry.evidence[index].arguments) + len(entry.evidence[index].data)
                if room >= 0:
                    kept.appendleft(index)
            return msgspec.structs.replace(entry, evidence=tuple(entry.evidence[index] for index in kept))
        beside = text_bytes(entry) - len(entry.text.encode("utf-8", "surrogatepass"))
        return msgspec.structs.replace(entry, text=clip_bytes(entry.text, room - beside))

    def _make_room(self, now: float) -> list[ConversationChange]:
        """Expire, then compact, then evict, until all text fits."""
        changes: list[ConversationChange] = []
        compactions = COMPACTIONS_AT_ONCE
        evicted: list[_Dropped] = []
        while self._size > self._settings.text_max_bytes:
            expired = self._expire(now)
            if expired:
                changes += expired
            elif self._ripe and compactions:
                compactions -= 1
                changes += self._compact(self._held[next(iter(self._ripe))], self._keep_full)
            else:
                evicted.append(self._evict())
        return changes + self._dropped(evicted)

    def _evict(self) -> _Dropped:
        """Let the least recently used conversation go."""
        self.counts.evicted += 1
        return self._drop(next(iter(self._held.values())))

    def _expired(self, held: Held, now: float) -> bool:
        return held.used_at + self._settings.expire_after_s <= now

    def _expire(self, now: float) -> list[ConversationChange]:
        """Let go what expired, as many as fit into one change."""
        gone: list[_Dropped] = []
        while self._held and len(gone) < DROPS_PER_CHANGE_MAX:
            oldest = next(iter(self._held.values()))
            if not self._expired(oldest, now):
                break
            gone.append(self._drop(oldest))
        self.counts.expired += len(gone)
        return self._dropped(gone)

    def _drop(self, held: Held) -> _Dropped:
        self._size -= held.size
        del self._held[held.key]
        self._ready.pop(held.key, None)
        self._ripe.pop(held.key, None)
        return held.key.scope, held.last

    def _dropped(self, gone: Sequence[_Dropped]) -> list[ConversationChange]:
        return [
            ConversationsDropped(avatar=self._avatar, through=tuple(gone[start : start + DROPS_PER_CHANGE_MAX]))
            for start in range(0, len(gone), DROPS_PER_CHANGE_MAX)
        ]

    def _compact(self, held: Held, keep: int) -> list[ConversationChange]:
        """Put a summary in place of the older part of a conversation; where there is none, the older part goes."""
        entries = held.entries()
        cut = self._cut(held, keep)
        if keep == self._keep_full:
            self._ripe.pop(held.key, None)
        if cut == 0:
            return []
        summary = summarise([entry for _, entry in entries[:cut]])
        through = entries[cut - 1][0]
        before = held.size
        change: ConversationChange
        if isinstance(summary, CannotShrink):
            self.counts.unshrinkable += 1
            held.replace_first(cut, ())
            (change,) = self._dropped([(held.key.scope, through)])
        else:
            self.counts.compactions += 1
            held.replace_first(cut, ((through, summary),))
            change = EntriesCompacted(key=held.key, through=through, summary=summary)
        self._size += held.size - before
        self._keep_ready(held)
        return [change]

    def _cut(self, held: Held, keep: int) -> int:
        """Return how many of a conversation's first entries are compacted; the last one stays, whatever it is."""
        entries = held.entries()
        room = self._settings.one_text_max_bytes // 2
        cut = len(entries)
        while cut and len(entries) - cut < keep:
            room -= text_bytes(entries[cut - 1][1])
            if room < 0:
                break
            cut -= 1
        while cut < len(entries) and isinstance(entries[cut][1], Used):
            cut += 1  # evidence goes with what it belongs to
        return min(cut, len(entries) - 1)

    def _keep_ready(self, held: Held) -> None:
        """Keep the conversations used last unpacked, and pack the others."""
        self._ready[held.key] = None
        self._ready.move_to_end(held.key)
        while len(self._ready) > self._settings.ready_max:
            key, _ = self._ready.popitem(last=False)
            self._held[key].pack()

    def _keys_of(self, person: AvatarId) -> list[ConversationKey]:
        return [key for key in self._held if isinstance(key, PersonKey) and key.peer == person]

    def _about_forgotten(self, entry: Entry) -> bool:
        return isinstance(entry, Used) and any(entry.concerns(person) for person in self._forgetting)

    def _scrub(self) -> None:
        """Look through some conversations for evidence about the one who is to be forgotten next."""
        person, keys = next(iter(self._forgetting.items()))
        for _ in range(min(SCRUBBED_A_STEP, len(keys))):
            held = self._held.get(keys.popleft())
            if held is None:
                continue
            packed, before = held.packed, held.size
            self.counts.forgotten += held.drop_where(lambda entry: isinstance(entry, Used) and entry.concerns(person))
            self._size += held.size - before
            if packed:
                held.pack()
        if not keys:
            del self._forgetting[person]
