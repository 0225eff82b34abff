"""Claims about reading rows and observations as JSON."""

from __future__ import annotations

import msgspec

from gridagent.events import AlertShown
from gridagent.observations import EventSeen, Observation
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.simulation.views import decode_observation, decode_row


def test_a_row_is_read_by_its_own_words() -> None:
    """Fields that are not named are skipped; what is missing has a default."""
    row = decode_row(msgspec.json.encode(AuditRecord(seq=1, at=2.0, kind=AuditKind.HOLD, code="held")))
    assert (row.seq, row.kind, row.code, row.effect, row.origin) == (1, "hold", "held", None, None)


def test_an_observation_is_read_by_its_own_words() -> None:
    """Events are nested as they are written."""
    body = EventSeen(event=AlertShown(text="hello"))
    seen = decode_observation(msgspec.json.encode(Observation(seq=3, avatar="a", generation=2, at=1.5, body=body)))
    assert (seen.seq, seen.generation, seen.at, seen.body.kind) == (3, 2, 1.5, "event")
    assert seen.body.event is not None
    assert (seen.body.event.event, seen.body.event.text) == ("alert_shown", "hello")
