"""The bounds of the health endpoint."""

from __future__ import annotations

from gridagent.fronts.health.limits import HealthLimits
from gridagent.fronts.health.server import _CHUNK_BYTES


def test_a_head_is_bounded_by_more_than_one_read() -> None:
    """What is held of one connection is its head and one read more. Spec: BND-1, BND-7."""
    limits = HealthLimits()
    assert _CHUNK_BYTES <= limits.head_max_bytes <= 16 * 1024
    assert limits.connections_max * (limits.head_max_bytes + _CHUNK_BYTES) < 1024 * 1024


def test_a_request_has_less_time_than_a_pause() -> None:
    """A head that drips is gone long before a collector's connection is. Fault: 34."""
    limits = HealthLimits()
    assert limits.request_timeout_s < limits.idle_timeout_s
    assert limits.idle_timeout_s > 60.0
