"""Spans of the day and time zones, as an operator writes them."""

from __future__ import annotations

from datetime import UTC

import pytest

from gridagent.config.load import parse_config
from gridagent.config.wall_time import minutes_of, zone_of
from gridagent.errors import ConfigError


@pytest.mark.parametrize(
    ("span", "minutes"),
    [
        ("23:00-07:00", (1_380, 420)),
        ("00:00-24:00", (0, 1_440)),
        ("12:30-12:31", (750, 751)),
        ("12:30-12:30", None),
        ("24:00-01:00", None),
        ("01:00-24:01", None),
        ("1:00-2:00", None),
        ("01:60-02:00", None),
        ("01:00", None),
        ("0\u0661:00-02:00", None),
    ],
)
def test_spans_are_read_strictly(span: str, minutes: tuple[int, int] | None) -> None:
    """Two digits each, an end that is no beginning, and nothing beyond a day. Spec: CFG-1."""
    assert minutes_of(span) == minutes


def test_zones_are_looked_up_and_utc_needs_nothing(monkeypatch) -> None:
    """A machine without a database still knows UTC. Spec: CFG-1."""
    assert zone_of("Europe/Zurich") is not None
    for unknown in ("Mars/Base", "Europe", "../etc/passwd"):
        assert zone_of(unknown) is None
    monkeypatch.setattr("gridagent.config.wall_time.ZoneInfo", lambda name: {}[name])
    assert zone_of("Europe/Zurich") is None
    assert zone_of("UTC") is UTC


@pytest.mark.parametrize(
    ("presence", "words"),
    [
        ('{"time_zone": "Mars/Base"}', "$.presence.time_zone: names a time zone that this machine does not know"),
        ('{"time_zone": "../etc/passwd"}', "$.presence.time_zone: must be the IANA name of a time zone"),
        ('{"quiet_hours": ["25:00-07:00"]}', "$.presence.quiet_hours[0]: must be a span of the day"),
        ('{"quiet_hours": ["23:00-07:00", "23:00-07:00"]}', "$.presence.quiet_hours[1]: is in this list already"),
    ],
)
def test_what_names_no_time_is_one_clear_sentence(presence: str, words: str) -> None:
    """Said before anything runs, with how to mend it. Spec: CFG-1, CFG-5."""
    with pytest.raises(ConfigError) as raised:
        parse_config(f'{{"presence": {presence}}}'.encode())
    assert words in str(raised.value)


def test_an_avatars_own_zone_is_looked_at_too() -> None:
    """By its own path. Spec: CFG-1."""
    with pytest.raises(ConfigError, match=r"\$\.avatars\.a\.presence\.time_zone: names a time zone"):
        parse_config(b'{"avatars": {"a": {"first_name": "A", "presence": {"time_zone": "Mars/Base"}}}}')
