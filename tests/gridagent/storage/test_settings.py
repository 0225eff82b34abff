"""Every bound has a ceiling, and configuration cannot raise it."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.storage.settings import QUEUE_RECORDS_MAX, ROWS_PER_COMMIT_MAX, StorageSettings


def test_defaults_are_within_their_own_bounds() -> None:
    """What is used without a word passes what is checked of a word. Spec: BND-16."""
    defaults = StorageSettings()
    assert msgspec.convert(msgspec.to_builtins(defaults), StorageSettings) == defaults
    assert QUEUE_RECORDS_MAX <= 4 * ROWS_PER_COMMIT_MAX


@pytest.mark.parametrize(
    "over",
    [{"queue_records_max": 4_097}, {"linger_s": 2.0}, {"audit_keep_days": 0}, {"effects_keep_rows": 10}, {"x": 1}],
)
def test_values_out_of_bounds_are_refused(over) -> None:
    """Too much, too little and unknown keys."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(over, StorageSettings)
