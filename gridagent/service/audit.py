"""The audit trail of one process: every decision and outcome, bounded, in order.

Owns a ring of the newest records and the sinks that take each record as it is made. Records come by a
plain call, never through an observable, so that a slow watcher can lose none (Spec: BND-3, POL-10).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

from gridagent.ids import AvatarKey
from gridagent.limits import AUDIT_RECORDS_IN_MEMORY_MAX
from gridagent.policy import AuditRecord

__all__ = ("AuditTrail",)

AuditSink: TypeAlias = Callable[[AvatarKey, AuditRecord], None]


class AuditTrail:
    """The newest audit records, and an optional sink that takes all of them.

    Args:
        sink: called synchronously with every record; what it raises reaches the decision that made it.
        keep: how many records stay readable here; the oldest goes first.
    """

    __slots__ = ("_ring", "_sink", "total")

    def __init__(self, sink: AuditSink | None = None, *, keep: int = AUDIT_RECORDS_IN_MEMORY_MAX) -> None:
        self._sink = sink
        self._ring: deque[tuple[AvatarKey, AuditRecord]] = deque(maxlen=min(keep, AUDIT_RECORDS_IN_MEMORY_MAX))
        self.total = 0

    def record(self, avatar: AvatarKey, record: AuditRecord) -> None:
        """Take one record."""
        self.total += 1
        self._ring.append((avatar, record))
        if self._sink is not None:
            self._sink(avatar, record)

    def __iter__(self) -> Iterator[tuple[AvatarKey, AuditRecord]]:
        """Yield what is kept, oldest first."""
        return iter(tuple(self._ring))

    def __len__(self) -> int:
        return len(self._ring)
