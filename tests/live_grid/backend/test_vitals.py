"""What of a connection's figures a session knows."""

from __future__ import annotations

from gridagent.events import PartHealth
from live_grid.backend.vitals import vitals_of
from live_grid.io import Health

QUIET = dict.fromkeys(
    (
        *("packets_in", "packets_out", "resent", "lost", "duplicates", "malformed", "shed", "foreign", "unacked"),
        *("events_waiting", "links", "refused_regions", "unsent", "web_requests", "web_failures"),
    ),
    0,
)


def test_what_was_not_measured_is_left_out() -> None:
    """A connection that has said nothing yet has no ping and no loss. Spec: LIV-12."""
    found = vitals_of(Health(round_trip_s=None, silent_s=None, queue_silent_s=None, **QUIET))
    assert len(found) <= 16
    assert not [each for each in found if each.figure in {"ping_s", "silent_s"}]
    assert PartHealth(part="wire", figure="loss_ratio", value=0.0) in found


def test_the_share_of_what_was_sent_again_is_the_loss() -> None:
    """Of all that was sent, and never more than all. Spec: LIV-12."""
    figures = QUIET | {"packets_out": 200, "resent": 5}
    found = vitals_of(Health(round_trip_s=0.08, silent_s=2.0, queue_silent_s=30.0, **figures))
    assert PartHealth(part="circuit", figure="ping_s", value=0.08) in found
    assert PartHealth(part="wire", figure="loss_ratio", value=0.025) in found
    assert PartHealth(part="event_queue", figure="silent_s", value=30.0) in found
    most = vitals_of(Health(round_trip_s=None, silent_s=None, queue_silent_s=None, **(QUIET | {"resent": 9})))
    assert PartHealth(part="wire", figure="loss_ratio", value=1.0) in most
