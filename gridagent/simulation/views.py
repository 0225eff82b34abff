"""What the oracle and the counters read of audit rows and observations: JSON, decoded by their own words.

Owns views of a few fields and no code of what writes them: rows and observations reach this room as JSON
text, as an operator would get them from a file, so that a bug in a type of theirs cannot hide itself
here. Fields that are not named are skipped. Used by `gridagent.simulation.oracle` and
`gridagent.simulation.counters`.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ("AuditView", "BodyView", "EventView", "ObservationView", "decode_observation", "decode_row")


class AuditView(msgspec.Struct, kw_only=True, gc=False):
    """One audit row."""

    seq: int
    at: float
    kind: str
    code: str
    rule: str = ""
    who: str = ""
    origin: str | None = None
    generation: int = 0
    action: str = ""
    digest: str = ""
    tainted: bool = False
    effect: str | None = None
    approval_id: str | None = None
    cause: str = ""
    ordinal: int = 0
    policy: str = ""
    settled_by: str | None = None


class EventView(msgspec.Struct, kw_only=True, gc=False):
    """One event of the grid, as an observation carries it."""

    event: str
    text: str = ""
    kind: str = ""
    """Class of what was shed."""
    count: int = 0


class OutcomeView(msgspec.Struct, kw_only=True, gc=False):
    """How an action ended."""

    outcome: str


class BodyView(msgspec.Struct, kw_only=True, gc=False):
    """What an observation says; which fields are filled depends on ``kind``."""

    kind: str
    state: str = ""
    cause: str | None = None
    retry_in_s: float | None = None
    logged_out: bool = False
    event: EventView | None = None
    effect: str = ""
    outcome: OutcomeView | None = None
    approval_id: str = ""
    control: str = ""
    what: str = ""
    count: int = 1


class ObservationView(msgspec.Struct, kw_only=True, gc=False):
    """One observation."""

    seq: int
    generation: int
    at: float
    body: BodyView


decode_row: Final = msgspec.json.Decoder(AuditView).decode
"""Reads the JSON text of one audit row."""
decode_observation: Final = msgspec.json.Decoder(ObservationView).decode
"""Reads the JSON text of one observation."""
