"""Claims about a session's settings."""

import pytest

from gridagent.session.settings import SessionSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid_events_max": 0},
        {"grid_events_max": 8193},
        {"controls_max": 257},
        {"observables_max": 8193},
        {"workers_max": 257},
        {"shutdown_timeout_s": 0.0},
        {"shutdown_timeout_s": float("nan")},
        {"shutdown_timeout_s": 2.0, "logout_timeout_s": 3.0},
        {"doubts_settle_s": 0.5},
        {"doubts_settle_s": 3_601.0},
        {"start_after_s": -1.0},
        {"start_after_s": float("inf")},
    ],
)
def test_a_bound_outside_its_range_is_refused(wrong):
    """Spec: BND-1, BND-2, BND-3, BND-4, SUP-3 — settings lower a ceiling, never raise it, and time-outs are finite."""
    with pytest.raises(ValueError, match="is from"):
        SessionSettings(key="robin", **wrong)


def test_the_defaults_are_within_every_range():
    """A session can be made from its name alone."""
    assert SessionSettings(key="robin").workers_max == 16
