"""The checks that a range cannot say."""

from __future__ import annotations

import pytest

from gridagent.config.fields import KIND_CHECKS


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("0.0.0.0", False),  # noqa: S104 - it must be refused
        ("::", False),
        ("192.0.2.2", False),
        ("localhost", False),
        ("", False),
        ("127.0.0.1 ", False),
    ],
)
def test_only_a_numeric_loopback_address_is_a_control_host(text: str, good: bool) -> None:  # noqa: FBT001 - a table
    """A name could be resolved to anywhere. Spec: OPS-6."""
    assert KIND_CHECKS["loopback_host"](text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("last", True),
        ("home", True),
        ("Plaza/128/128/25", True),
        ("Big City/1/2/3", True),
        ("Plaza", False),
        ("Plaza/128/128", False),
        ("Plaza/128/128/25/1", False),
        ("Plaza/-1/2/3", False),
        ("Plaza&x/1/2/3", False),
        ("last\n", False),
        ("Plaza/١/2/3", False),
    ],
)
def test_a_place_is_last_home_or_a_point(text: str, good: bool) -> None:  # noqa: FBT001 - a table
    """What becomes part of the login's start URI has one strict form."""
    assert KIND_CHECKS["place"](text) is good
