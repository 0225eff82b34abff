"""What happens to what is kept of conversations: each change as a value that storage writes down.

Owns the words between the store in memory, which decides, and storage, which keeps. Pure.

Invariant: applying changes in order twice does what applying them once did; numbers of entries count up over all
conversations of an avatar, through every restart, so that no change ever means another entry than it did.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.conversation.entries import Entry, Summary
from gridagent.conversation.keys import ConversationKey, Scope
from gridagent.ids import AvatarId, AvatarKey

__all__ = (
    "DROPS_PER_CHANGE_MAX",
    "ConversationChange",
    "ConversationsDropped",
    "EntriesCompacted",
    "EntryAdded",
    "PersonForgotten",
    "StoredEntry",
)

DROPS_PER_CHANGE_MAX: Final = 64
Number: TypeAlias = Annotated[int, Meta(ge=1, le=2**62)]


class EntryAdded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One more entry."""

    key: ConversationKey
    number: Number
    entry: Entry


class EntriesCompacted(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything of a conversation up to a number goes, and a summary stands at that number instead."""

    key: ConversationKey
    through: Number
    summary: Summary


class ConversationsDropped(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Of each conversation everything up to a number goes: it expired, or made room."""

    avatar: AvatarKey
    through: Annotated[tuple[tuple[Scope, Number], ...], Meta(max_length=DROPS_PER_CHANGE_MAX)]


class PersonForgotten(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything kept about a person goes: conversations, summaries, facts, and evidence about them (Spec: MEM-5)."""

    avatar: AvatarKey
    person: AvatarId


class StoredEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One entry as storage hands it back; nothing of it was looked at."""

    number: int
    key: bytes
    """JSON."""
    body: bytes
    """Msgpack."""


ConversationChange: TypeAlias = EntryAdded | EntriesCompacted | ConversationsDropped | PersonForgotten
