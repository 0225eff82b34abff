"""What is written down, as values, and the rows that are read back.

Owns the shapes of this room; the changes themselves are policy's (`gridagent.policy.changes`). Knows no SQL and no
queue. Sessions make records through `gridagent.storage.avatar`, stores apply them.

Invariant: applying a record twice does what applying it once did, so that a batch whose outcome is not known may be
written again.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from gridagent.actions import Outcome
from gridagent.conversation.changes import ConversationChange, StoredEntry
from gridagent.ids import AvatarKey, EffectKey
from gridagent.memory.facts import Fact, FactKept
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.changes import Change, EffectReserved, GatewaySnapshot
from gridagent.policy.ledger import EffectState

__all__ = (
    "AUDIT_PAGE_MAX",
    "AuditAppended",
    "AuditQuery",
    "EffectRow",
    "HeldAbout",
    "Kept",
    "Learning",
    "Learnt",
    "Readable",
    "Record",
    "Recovered",
    "StoredAudit",
)

AUDIT_PAGE_MAX: Final = 1_000
Learning: TypeAlias = ConversationChange | FactKept


class Kept(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One change of an avatar's gateway.

    Applied unless its table does not allow it, or its key is known: then it was taken in before, or, of an effect, it
    is a re-run of a cause that an earlier run knows.
    """

    avatar: AvatarKey
    run: int
    """Which opening of the avatar it happened in."""
    change: Change


class AuditAppended(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row of the audit trail. Applied when its number is higher than the run's last."""

    avatar: AvatarKey
    run: int
    record: AuditRecord


class Learnt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One change of what an avatar heard, said, looked up and remembers.

    Applied unless it says what is known already.
    """

    avatar: AvatarKey
    change: Learning


Record: TypeAlias = Kept | AuditAppended | Learnt


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """All that a session must know of its avatar's earlier runs before it does anything."""

    run: int
    """Number of this run; higher than any before."""
    snapshot: GatewaySnapshot
    """What all changes of earlier runs come to; the new gateway goes on from it."""


class Readable(msgspec.Struct, frozen=True, kw_only=True):
    """All that one conversation may be asked about in SQL: its own entries, and the facts it sees (Spec: MEM-7)."""

    entries: tuple[StoredEntry, ...]
    facts: tuple[Fact, ...]


class HeldAbout(msgspec.Struct, frozen=True, kw_only=True):
    """All that is held about a person (Spec: MEM-5)."""

    entries: tuple[StoredEntry, ...]
    """Their conversations, one after the other."""
    evidence: tuple[StoredEntry, ...]
    """Evidence about them in the conversations of others."""
    facts: tuple[Fact, ...]
    """Told by them, about them, or learnt in an IM with them; the oldest first."""


class EffectRow(msgspec.Struct, frozen=True, kw_only=True):
    """An effect as an operator may look at it, also long after it ended."""

    avatar: AvatarKey
    run: int
    effect: EffectKey
    state: EffectState
    reserved: EffectReserved | None
    """How it was authorised; None of what costs nothing, once it ended: what was said is not kept here."""
    reserved_at: float
    sent_at: float | None = None
    settled_at: float | None = None
    """When it ended or came into doubt."""
    outcome: Outcome | None = None


class StoredAudit(msgspec.Struct, frozen=True, kw_only=True):
    """An audit row as it is stored."""

    row: int
    """Counts up over all avatars; never used twice."""
    avatar: AvatarKey
    run: int
    record: AuditRecord

    @property
    def cursor(self) -> tuple[float, int]:
        """What a query for the page behind this row goes on after."""
        return self.record.at, self.row


class AuditQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which audit rows are wanted, one page at a time: of one avatar by time, of all as they were written."""

    avatar: AvatarKey | None = None
    since: float | None = None
    """Wall clock, in seconds; this moment included."""
    until: float | None = None
    """This moment excluded."""
    kind: AuditKind | None = None
    after: tuple[float, int] | None = None
    """Go on behind this row: the `StoredAudit.cursor` of the last one of the page before."""
    limit: int = AUDIT_PAGE_MAX

    def __post_init__(self) -> None:
        """Hold the page to its size.

        Raises:
            ValueError: it is none or too long.
        """
        if not 1 <= self.limit <= AUDIT_PAGE_MAX:
            raise ValueError(f"a page of audit rows has 1 to {AUDIT_PAGE_MAX}, not {self.limit}")
