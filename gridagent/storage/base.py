"""The port between sessions and their storage: what every store gives and takes.

Owns the protocol, the states of storage and its errors; knows no database. Sessions and the service
depend on this and on `gridagent.storage.records`; `gridagent.storage.store` and
`gridagent.storage.memory` implement it, and one set of tests runs against both.

Its invariant: what `Store.commit` has answered survives any crash; what it has not may or may not
(Spec: EFX-2, EFX-4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

import msgspec

from gridagent.conversation.changes import StoredEntry
from gridagent.errors import GridAgentError, OperatorError
from gridagent.ids import AvatarId, AvatarKey
from gridagent.memory.facts import Fact, Reader
from gridagent.memory.recall import RecallQuestion
from gridagent.storage.records import AuditQuery, HeldAbout, Readable, Record, Recovered, StoredAudit

__all__ = (
    "LedgerInUse",
    "LedgerRefused",
    "SafeMode",
    "StorageFailed",
    "StorageFault",
    "StorageStatus",
    "Store",
    "Watcher",
)


class StorageFault(StrEnum):
    """What went wrong with storage; the code an operator sees."""

    DISK_FULL = "disk_full"
    IO_ERROR = "io_error"
    """A read, a write or an fsync failed. A failed fsync is never taken for done by trying again."""
    CORRUPT = "corrupt"
    STUCK = "stuck"
    """A commit did not end within its bound; it may still take effect."""
    BACKLOG = "backlog"
    """More records wait than may wait: the disk doesn't keep up."""
    UNUSABLE = "unusable"
    """SQLite refused for another reason; the log has it."""


class StorageFailed(GridAgentError):
    """Storage could not keep what it was given; whether it did is not known."""

    code = "storage_failed"

    def __init__(self, fault: StorageFault, detail: str = "") -> None:
        self.fault = fault
        self.detail = detail
        super().__init__(f"storage failed: {fault.value}" + (f" ({detail})" if detail else ""))


class LedgerRefused(OperatorError):
    """The database cannot be used as it is; the sentence says what, where and how to mend it."""

    code = "ledger_refused"

    def __init__(self, message: str, *, start_mends: bool = False) -> None:
        super().__init__(message)
        self.start_mends = start_mends
        """The next start begins or upgrades it by itself; nothing is lost."""


class LedgerInUse(LedgerRefused):
    """Another process has the database open; the sentence names it."""

    code = "ledger_in_use"


class SafeMode(msgspec.Struct, frozen=True, kw_only=True):
    """Storage failed: nothing that costs anything is done any more; talking goes on (Spec: EFX-4)."""

    fault: StorageFault
    since: float
    """Wall clock, in seconds."""


class StorageStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator may want to know of storage."""

    safe_mode: SafeMode | None
    waiting: int
    """Records that wait for a commit."""
    commits: int
    """Transactions since it was opened."""
    records: int
    """Records in them."""
    lost: int
    """Records that were dropped in safe mode because too many waited."""


Watcher: TypeAlias = Callable[[SafeMode | None], None]
"""Told when safe mode begins, and with None when it ends; must not block or raise."""


class Store(Protocol):
    """Where records are kept."""

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set from the first failure on; leaves only by `leave_safe_mode` or a restart."""
        ...

    def submit(self, *records: Record, urgent: bool = False) -> None:
        """Have records written in order, in one transaction, without waiting.

        Args:
            records: all of them or none survive a crash.
            urgent: begin at once; otherwise they wait a moment for company.

        Bounds: at the limit of waiting records storage goes into safe mode; there, what no longer fits is
            dropped and counted.
        """
        ...

    async def commit(self, *records: Record) -> tuple[bool, ...]:
        """Write records in one transaction and return once they survive a power cut.

        Everything submitted before survives as well. Without records, this only waits for that.

        Returns:
            Of each record whether it applied; see the records for what may stand in the way.

        Raises:
            StorageFailed: storage is in safe mode, or went into it now; whether they survive isn't known.
            OutcomeUnknown: the commit did not end within its bound.
            ResourceClosed: the store is closed.

        Bounds: waits while too many records wait.

        Cancellation: before the commit begins: safe, they are not written. After: shielded until it ended
            (at most the blocking port's bound), and its result is returned.
        """
        ...

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell ``watcher`` when safe mode begins and ends; call what is returned to stop that."""
        ...

    async def open_avatar(self, avatar: AvatarKey) -> Recovered:
        """Begin a run of an avatar, and return what must not be forgotten of its earlier ones.

        The number of the run survives before this returns. No session of the avatar may live.

        Raises:
            StorageFailed: as for `commit`.

        Cancellation: as for `commit`; opening it again is harmless.
        """
        ...

    async def audit(self, query: AuditQuery) -> tuple[StoredAudit, ...]:
        """Return one page of the audit trail, after everything submitted before."""
        ...

    async def leave_safe_mode(self) -> None:
        """Try storage anew on an operator's word; what waited is then written.

        Raises:
            StorageFailed: it still fails; safe mode goes on.
            LedgerRefused: the database cannot be opened again.
        """
        ...

    def status(self) -> StorageStatus:
        """Return what an operator may want to know."""
        ...

    # What an avatar learnt; each answer knows of everything submitted before.

    async def conversations(self, avatar: AvatarKey) -> tuple[int, ...]:
        """Return the numbers of the conversations kept, the least recently used first."""
        ...

    async def entries(self, avatar: AvatarKey, numbers: Sequence[int]) -> tuple[StoredEntry, ...]:
        """Return the entries of some conversations, one after the other, each the oldest first."""
        ...

    async def recall(self, avatar: AvatarKey, question: RecallQuestion) -> tuple[Fact, ...]:
        """Return the facts that fit best, of those that the reading conversation sees (Spec: MEM-4, MEM-7)."""
        ...

    async def readable(self, avatar: AvatarKey, reader: Reader) -> Readable:
        """Return all that one conversation may be asked about in SQL (Spec: MEM-6, MEM-7)."""
        ...

    async def held_about(self, avatar: AvatarKey, person: AvatarId) -> HeldAbout:
        """Return all that forgetting a person would delete (Spec: MEM-5)."""
        ...
