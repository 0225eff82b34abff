"""The hand-over to the simulation."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seeds", "0"), "--seeds is at least 1"),
        (("--hours", "0"), "--hours is above 0"),
        (("--hours", "nan"), "--hours is above 0"),
        (("--hours", "inf"), "--hours is above 0"),
        (("--hours", "1e9"), "--hours is above 0"),
    ],
)
def test_no_seed_or_no_time_is_a_usage_error(gridagent, words, sentence) -> None:
    """What cannot be simulated is refused before anything is loaded. Spec: OPS-1."""
    done = gridagent("simulate", *words)
    assert done.code == 2
    assert sentence in done.err
