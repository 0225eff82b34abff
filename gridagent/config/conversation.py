"""The configuration section ``conversation``: how much of what was said is kept, and for how long (Spec: BND-9).

Owns the keys with their bounds; decides nothing: `gridagent.conversation` reads a section. May import only L0. Its
invariant: every key has a hard ceiling of `gridagent.limits`, and a conversation that nobody goes on with ends.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from gridagent.limits import CONVERSATION_TEXT_MAX_BYTES, CONVERSATIONS_MAX, KIB, Bounded

__all__ = ("ConversationSection",)


class ConversationSection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of what was said each avatar keeps, and for how long."""

    expire_after_days: Annotated[int, Meta(ge=1, le=3_660)] = 30
    """A conversation in which nothing was said for so long goes."""
    conversations_max: Annotated[int, Meta(ge=1, le=CONVERSATIONS_MAX)] = CONVERSATIONS_MAX
    """Conversations of one avatar; the least recently used goes first."""
    text_max_bytes: Annotated[int, Meta(ge=64 * KIB, le=CONVERSATION_TEXT_MAX_BYTES)] = CONVERSATION_TEXT_MAX_BYTES
    """Text of all conversations of one avatar, in bytes of UTF-8; older parts are shortened, then the least recently
    used goes."""
