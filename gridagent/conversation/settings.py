"""How much of conversations is kept in memory, and for how long (Spec: BND-9).

Owns the numbers of the store, each with its hard ceiling; configuration may lower them. Invariant: no value is
without a bound, and one conversation can never take all the room there is.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from gridagent.config.conversation import ConversationSection
from gridagent.limits import (
    CONVERSATION_ENTRIES_MAX,
    CONVERSATION_ONE_TEXT_MAX_BYTES,
    CONVERSATION_TEXT_MAX_BYTES,
    CONVERSATIONS_MAX,
    KIB,
    Bounded,
)

__all__ = ("ConversationSettings", "settings_of")

DAY_S: Final = 86_400.0


class ConversationSettings(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds and habits of the conversations of one avatar."""

    conversations_max: Annotated[int, Meta(ge=1, le=CONVERSATIONS_MAX)] = CONVERSATIONS_MAX
    text_max_bytes: Annotated[int, Meta(ge=8 * KIB, le=CONVERSATION_TEXT_MAX_BYTES)] = CONVERSATION_TEXT_MAX_BYTES
    """UTF-8 bytes of all conversations; from seven eighths on, the least recently used are compacted ahead of need."""
    one_text_max_bytes: Annotated[int, Meta(ge=8 * KIB, le=CONVERSATION_ONE_TEXT_MAX_BYTES)] = 256 * KIB
    """UTF-8 bytes of one conversation before its older part is compacted; one entry takes a quarter at most."""
    one_entries_max: Annotated[int, Meta(ge=8, le=CONVERSATION_ENTRIES_MAX)] = 128
    """Entries of one conversation before its older part is compacted."""
    keep_entries: Annotated[int, Meta(ge=1, le=CONVERSATION_ENTRIES_MAX // 2)] = 24
    """The latest entries of a conversation, which compaction leaves as they are while they fit."""
    keep_entries_full: Annotated[int, Meta(ge=1, le=CONVERSATION_ENTRIES_MAX // 2)] = 8
    """The same while the room of all is running out."""
    expire_after_s: Annotated[float, Meta(ge=60.0, le=3_660 * DAY_S)] = 30 * DAY_S
    """A conversation in which nothing was said for so long goes; on the monotonic clock while running."""
    ready_max: Annotated[int, Meta(ge=1, le=CONVERSATIONS_MAX)] = 256
    """The most recently used conversations, which stay unpacked."""

    def __post_init__(self) -> None:
        """Hold one conversation to the room that there is for all.

        Raises:
            ValueError: ``one_text_max_bytes`` is over ``text_max_bytes``.
        """
        super().__post_init__()
        if self.one_text_max_bytes > self.text_max_bytes:
            raise ValueError("one_text_max_bytes is at most text_max_bytes")


def settings_of(section: ConversationSection) -> ConversationSettings:
    """Return what the configuration says, with one conversation held to the room there is for all."""
    defaults = ConversationSettings()
    return ConversationSettings(
        conversations_max=section.conversations_max,
        text_max_bytes=section.text_max_bytes,
        one_text_max_bytes=min(defaults.one_text_max_bytes, section.text_max_bytes),
        expire_after_s=section.expire_after_days * DAY_S,
    )
