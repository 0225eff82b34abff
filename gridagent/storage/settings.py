"""How much storage keeps, for how long, and how it groups its commits (Spec: BND-16).

Owns the numbers of this room, each with its hard ceiling; configuration may lower them. The composition
root makes one `StorageSettings`; every other module of the room reads it. Invariant: no value is without
a bound, and nothing here can make an unsettled effect go.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

__all__ = ("QUEUE_RECORDS_MAX", "ROWS_PER_COMMIT_MAX", "StorageSettings")

QUEUE_RECORDS_MAX: Final = 4_096
"""Records that wait for a commit: what a busy service makes in some seconds."""
ROWS_PER_COMMIT_MAX: Final = 1_024
"""So that whatever waits is durable after four commits at the most."""
DAY_S: Final = 86_400.0

Days = Annotated[int, Meta(ge=1, le=3_660)]


class StorageSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds and habits of one database."""

    queue_records_max: Annotated[int, Meta(ge=16, le=QUEUE_RECORDS_MAX)] = QUEUE_RECORDS_MAX
    """Records that may wait; at the limit callers that wait go on waiting, and otherwise safe mode begins."""
    rows_per_commit_max: Annotated[int, Meta(ge=1, le=ROWS_PER_COMMIT_MAX)] = ROWS_PER_COMMIT_MAX
    """Records in one transaction."""
    linger_s: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.05
    """How long rows that nobody waits for may gather before they are committed."""
    flush_timeout_s: Annotated[float, Meta(ge=0.1, le=60.0)] = 10.0
    """Longest that leaving waits for what is still to be written."""
    wal_pages: Annotated[int, Meta(ge=16, le=65_536)] = 4_000
    """Pages in the write-ahead log before they are moved into the database."""
    audit_segment_rows: Annotated[int, Meta(ge=16, le=65_536)] = 4_096
    """Rows of a segment before it is sealed."""
    audit_segment_days: Days = 1
    """Age of a segment's first row at which it is sealed however few rows it has."""
    audit_keep_days: Days = 400
    """A sealed segment whose last row is older goes."""
    audit_keep_rows: Annotated[int, Meta(ge=4_096, le=100_000_000)] = 20_000_000
    """Beyond it the oldest sealed segments go, however young."""
    effects_keep_days: Days = 400
    """A settled effect older than this goes; an unsettled one never."""
    effects_light_keep_days: Days = 7
    """A settled effect that costs nothing (a goal's words, a walk) goes when it is older than this."""
    effects_keep_rows: Annotated[int, Meta(ge=1_024, le=1_000_000)] = 100_000
    """Beyond it the longest settled effects go."""
    approvals_keep_days: Days = 90
    """An ended approval older than this goes."""
    grants_keep_days: Days = 90
    """A grant that ended longer ago than this goes."""
    conversations_keep_days: Days = 400
    """A conversation in which nothing was said for so long goes, also of an avatar that no longer runs."""
    facts_keep_days: Days = 3_660
    """A fact learnt longer ago goes."""
    tend_every_s: Annotated[float, Meta(ge=1.0, le=86_400.0)] = 300.0
    """How often what is too old is looked for."""
