"""Claims about when a session connects again."""

import pytest

from gridagent.cli.compose import prepare
from gridagent.config.model import Config
from gridagent.events import DisconnectCause
from gridagent.session.reconnect import RECONNECT, ReconnectDelays, Retry

C = DisconnectCause


@pytest.mark.parametrize(
    ("cause", "retry"),
    [
        (C.BAD_CREDENTIALS, Retry.NEVER),
        (C.TERMS_NOT_ACCEPTED, Retry.NEVER),
        (C.MFA_REQUIRED, Retry.NEVER),
        (C.BANNED, Retry.NEVER),
        (C.ALREADY_LOGGED_IN, Retry.SHORT_WAIT),
        (C.MAINTENANCE, Retry.LONG_WAIT),
        (C.KICKED, Retry.STAY_AWAY),
        (C.REGION_RESTART, Retry.BACK_OFF),
        (C.CIRCUIT_LOST, Retry.BACK_OFF),
        (C.LOGIN_FAILED, Retry.BACK_OFF),
        (C.GRID_CLOSED, Retry.BACK_OFF),
        (C.BACKEND_FAULT, Retry.FAULT),
        (C.REQUESTED, Retry.SHORT_WAIT),
    ],
)
def test_each_cause_has_its_plan(cause, retry):
    """Spec: SUP-6 — one row a cause: never again, soon, late, keep away, or back off."""
    assert RECONNECT[cause] is retry


def test_the_table_is_total():
    """Spec: SUP-6 — a new cause without a plan cannot be forgotten."""
    assert set(RECONNECT) == set(DisconnectCause)


def test_the_defaults_are_the_configurations():
    """One truth: who builds a session by hand waits as long as who configures one."""
    assert prepare(Config()).avatars[0].settings.delays == ReconnectDelays()


def test_fixed_waits_come_from_the_settings():
    """Waits are configured, and the jittered ones have none."""
    delays = ReconnectDelays(short_wait_s=1, long_wait_s=2, stay_away_s=3)
    assert [delays.fixed(r) for r in (Retry.SHORT_WAIT, Retry.LONG_WAIT, Retry.STAY_AWAY)] == [1, 2, 3]
    assert [delays.fixed(r) for r in (Retry.NEVER, Retry.BACK_OFF, Retry.FAULT)] == [None] * 3
