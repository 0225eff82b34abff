"""The bounds of the control endpoint."""

from __future__ import annotations

from gridagent.fronts.control.limits import ControlLimits
from gridagent.limits import MESSAGE_MAX_BYTES


def test_a_frame_is_no_larger_than_a_message_may_be() -> None:
    """The default frame is the hard ceiling of a message. Spec: BND-7."""
    assert ControlLimits().frame_max_bytes == MESSAGE_MAX_BYTES


def test_watching_leaves_room_for_the_kill_switch() -> None:
    """Streams can never take all connections. Spec: POL-12."""
    limits = ControlLimits()
    assert limits.streams_max < limits.connections_max
