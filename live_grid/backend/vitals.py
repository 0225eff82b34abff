"""From a connection's figures to those that a session knows: by part and name, and without what was not measured.

Owns the choice. Called by `live_grid.backend.backend` (Spec: LIV-12).
"""

from __future__ import annotations

from gridagent.events import PartHealth
from live_grid.io import Health

__all__ = ("vitals_of",)


def vitals_of(health: Health) -> tuple[PartHealth, ...]:
    """Return at most 16 figures; a ratio of nothing is nought."""
    sent = max(1, health.packets_out)
    found: tuple[tuple[str, str, float | None], ...] = (
        ("circuit", "ping_s", health.round_trip_s),
        ("circuit", "silent_s", health.silent_s),
        ("circuit", "unacked", float(health.unacked)),
        ("circuit", "shed", float(health.shed)),
        ("wire", "loss_ratio", min(1.0, health.resent / sent)),
        ("wire", "lost", float(health.lost)),
        ("wire", "malformed", float(health.malformed)),
        ("event_queue", "silent_s", health.queue_silent_s),
        ("web", "failures", float(health.web_failures)),
    )
    return tuple(
        PartHealth(part=part, figure=figure, value=value) for part, figure, value in found if value is not None
    )
