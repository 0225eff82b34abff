"""The ceilings stand in a sensible relation to each other."""

from __future__ import annotations

import math

from live_grid import limits


def test_every_limit_is_finite_and_positive() -> None:
    """No ceiling is infinite or zero. Spec: LIV-3, BND-7."""
    for name in limits.__all__:
        value = getattr(limits, name)
        assert 0 < value < math.inf, name


def test_limits_that_depend_on_each_other_agree() -> None:
    """Shedding starts with chatter and ends with control; the window is a power of two; a full ack packet fits."""
    assert limits.EVENTS_CHATTER_MAX < limits.EVENTS_MAX < limits.EVENTS_CONTROL_MAX
    assert limits.DUPLICATE_WINDOW & (limits.DUPLICATE_WINDOW - 1) == 0
    assert 4 * limits.ACKS_APPENDED_MAX + 16 <= limits.DATAGRAM_OUT_MAX_BYTES
    assert limits.DATAGRAM_IN_MAX_BYTES <= limits.BODY_MAX_BYTES
    assert limits.HTTP_BODY_MAX_BYTES == 8 * 1024 * 1024
