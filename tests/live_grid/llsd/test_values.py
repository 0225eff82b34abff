"""Scalars of LLSD as text, and the budget of a document."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import values


def test_empty_scalars_have_a_value() -> None:
    """An element without text is zero, the nil id or the epoch."""
    assert values.integer_of_text("") == 0
    assert values.real_of_text("") == 0.0
    assert values.uuid_of_text("") == UUID(int=0)
    assert values.date_of_text("") == values.EPOCH


@pytest.mark.parametrize("text", ["2147483648", "-2147483649", "9" * 5000, "1.0", "0x1", "\uff11", "1_0", " 1"])
def test_integers_are_signed_32_bits(text: str) -> None:
    """Over the range, 5,000 digits or another spelling: refused. Fault: 12."""
    assert values.integer_of_text("-2147483648") == -(2**31)
    assert values.integer_of_text("+2147483647") == 2**31 - 1
    with pytest.raises(RemoteProtocolError):
        values.integer_of_text(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999", "1" * 65, "1__0", ".", "e5", "\uff11"])
def test_reals_are_finite(text: str) -> None:
    """NaN, infinities and what Python alone would take are refused. Fault: 12."""
    assert values.real_of_text("-1.5e3") == -1500.0
    assert values.real_of_text(".5") == 0.5
    with pytest.raises(RemoteProtocolError):
        values.real_of_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "{6f1c2b30-0000-4000-8000-000000000001}",
        "urn:uuid:6f1c2b30-0000-4000-8000-000000000001",
        "6f1c2b30000040008000000000000001",
        "6f1c2b3000004000-8000-0000-000000000001",
        "\uff16f1c2b30-0000-4000-8000-000000000001",
    ],
)
def test_uuids_have_one_spelling(text: str) -> None:
    """Braces, URNs, missing or moved hyphens and full-width digits are refused. Fault: 12."""
    assert str(values.uuid_of_text("6F1C2B30-0000-4000-8000-000000000001")) == "6f1c2b30-0000-4000-8000-000000000001"
    with pytest.raises(RemoteProtocolError):
        values.uuid_of_text(text)


@pytest.mark.parametrize("text", ["2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "0000-01-01T00:00:00Z"])
def test_dates_are_dates_of_utc(text: str) -> None:
    """A month 13, a date without time or zone, and the year 0 are refused."""
    assert values.date_of_text("2026-11-30T09:40:20.5Z") == datetime(2026, 11, 30, 9, 40, 20, 500_000, tzinfo=UTC)
    with pytest.raises(RemoteProtocolError):
        values.date_of_text(text)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300, -1e15])
def test_dates_in_seconds_stay_within_the_calendar(seconds: float) -> None:
    """What no calendar holds is refused. Fault: 12."""
    assert values.date_of_seconds(86_400.0) == datetime(1970, 1, 2, tzinfo=UTC)
    with pytest.raises(RemoteProtocolError):
        values.date_of_seconds(seconds)


def test_a_budget_ends() -> None:
    """Size, number and depth are each refused one past the bound. Fault: 12."""
    with pytest.raises(RemoteProtocolError, match="over the 10 allowed"):
        values.Budget(11, size_max=10)
    budget = values.Budget(10, size_max=10, depth_max=2, nodes_max=2)
    budget.spend(2)
    with pytest.raises(RemoteProtocolError, match="nests deeper than 2"):
        budget.spend(3)
    with pytest.raises(RemoteProtocolError, match="more values"):
        budget.spend(1)


def test_a_key_is_put_once() -> None:
    """A second value for a key is refused, not taken for the better one. Fault: 12."""
    target: dict[str, values.LlsdValue] = {}
    values.put_key(target, "a", 1)
    with pytest.raises(RemoteProtocolError, match="twice"):
        values.put_key(target, "a", 2)
    assert target == {"a": 1}
