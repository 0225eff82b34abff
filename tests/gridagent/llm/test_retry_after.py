"""How long a provider asks to stay away, in every way it is written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.llm.retry_after import retry_after_s

NOW = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "1e9"}, 1e9),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": NOW}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:30 GMT", "date": NOW}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 -0000", "date": NOW}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon", "date": NOW}, None),
        ({"retry-after": "9" * 400}, None),
    ],
)
def test_each_way_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates by the server's own clock; nonsense is no wish. Spec: MND-2. Fault: 21."""
    assert retry_after_s(lambda name: headers.get(name, "")) == seconds


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_header_is_a_finite_wish_or_none(said: str, date: str) -> None:
    """No header raises."""
    found = retry_after_s(lambda name: {"retry-after": said, "date": date}.get(name, ""))
    assert found is None or (math.isfinite(found) and found >= 0)
