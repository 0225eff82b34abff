"""Which conversation something belongs to: one exact key, and no way to name another.

Owns the two shapes of a key and their short texts. Keys are made where something is heard (a session, a front)
and only compared from there on. A group has no shape here, on purpose: what is said in one is counted and never
conversed with. Pure; imports L0 only.

Invariant: what was said in public and in an IM never shares a key, and a front's client can name no thread of
another one's, since its own principal is part of the key (Spec: MEM-1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.errors import RemoteProtocolError
from gridagent.ids import AvatarId, AvatarKey, is_canonical_uuid
from gridagent.limits import Bounded, Label

__all__ = ("Channel", "ConversationKey", "EmptyThread", "PersonKey", "Scope", "ThreadKey", "thread_key")

Scope: TypeAlias = Annotated[str, Meta(min_length=1, max_length=128)]
"""One conversation of an avatar as one text; see `PersonKey.scope`."""
ThreadName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]

_DIGEST_CHARACTERS: Final = 40
_OWN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")


class Channel(StrEnum):
    """How a person and the avatar talk."""

    PUBLIC = "public"
    """Everybody near may listen."""
    IM = "im"
    """Between the two of them."""


class EmptyThread(RemoteProtocolError, ValueError):
    """A client named a thread without a name; a missing one is minted, an empty one is a mistake of the client's."""

    code = "empty_thread"

    def __init__(self) -> None:
        super().__init__("a thread has a name of 1 to 64 characters; leave it out to begin a new one")


class PersonKey(Bounded, frozen=True, kw_only=True, tag_field="key", tag="person", forbid_unknown_fields=True):
    """What one avatar of ours and one other avatar said to each other, in public or in IMs.

    Raises:
        ValueError: the peer is no canonical UUID or nil: nobody is talked to by name.
    """

    avatar: AvatarKey
    grid: Label
    """Name of the grid; the same UUID on another grid is another person."""
    peer: AvatarId
    channel: Channel

    def __post_init__(self) -> None:
        """Hold the peer to its one form, whoever builds the key."""
        super().__post_init__()
        if not is_canonical_uuid(self.peer):
            raise ValueError("PersonKey.peer is a lower-case hyphenated UUID and not nil")
        _hold_own_name(self.avatar)

    @property
    def text(self) -> str:
        """Short text for requests and audit rows: ``im:<uuid>`` or ``public:<uuid>``."""
        return f"{self.channel.value}:{self.peer}"

    @property
    def scope(self) -> str:
        """Text that no other conversation of the same avatar has: `text`, and the grid behind it."""
        return f"{self.channel.value}:{self.peer}@{self.grid}"

    @property
    def private(self) -> bool:
        """Whether what is said stays between the two."""
        return self.channel is Channel.IM


class ThreadKey(Bounded, frozen=True, kw_only=True, tag_field="key", tag="thread", forbid_unknown_fields=True):
    """One thread of one client of a front; AG-UI and A2A share it."""

    avatar: AvatarKey
    principal: Annotated[Label, Meta(min_length=1)]
    """Who showed the token, as the front knows it; never what the client says of itself."""
    thread: ThreadName

    def __post_init__(self) -> None:
        """Refuse what has no name.

        Raises:
            EmptyThread: the thread's name is empty.
            ValueError: the principal's is.
        """
        super().__post_init__()
        if not self.thread:
            raise EmptyThread
        if not self.principal:
            raise ValueError("ThreadKey.principal is not empty")
        _hold_own_name(self.avatar)

    @property
    def text(self) -> str:
        """Short text for requests and audit rows: a digest, so that no client's words get into the audit trail."""
        said = f"{len(self.principal)}:{self.principal}{self.thread}".encode("utf-8", "surrogatepass")
        return f"thread:{hashlib.sha256(said).hexdigest()[:_DIGEST_CHARACTERS]}"

    @property
    def scope(self) -> str:
        """Text that no other conversation of the same avatar has."""
        return self.text

    @property
    def private(self) -> bool:
        """Always: a thread is its client's own."""
        return True


ConversationKey: TypeAlias = PersonKey | ThreadKey


def thread_key(
    *, avatar: AvatarKey, principal: str, thread: str | None, mint: Callable[[], str]
) -> tuple[ThreadKey, bool]:
    """Return the key of a client's thread, and whether it was minted because none was named.

    Args:
        avatar: ours.
        principal: who showed the token.
        thread: what the client sent; None where it sent nothing.
        mint: makes a new name.

    Raises:
        EmptyThread: it sent an empty name.
        LimitExceeded: it sent one of more than 64 characters.
    """
    minted = thread is None
    name = mint() if thread is None else thread
    return ThreadKey(avatar=avatar, principal=principal, thread=name), minted


def _hold_own_name(avatar: str) -> None:
    if _OWN_NAME.match(avatar) is None:
        raise ValueError("the avatar is named by its key of the configuration")
