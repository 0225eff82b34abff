"""Start locations."""

from __future__ import annotations

import pytest

from live_grid.errors import LocalProtocolError
from live_grid.login.start import HOME, LAST, parse_start, start_at


def test_places_are_written_as_grids_take_them() -> None:
    """Last, home, and a place in a region. Spec: LIV-1."""
    assert parse_start("last") == LAST
    assert parse_start("home") == HOME
    assert parse_start("uri:Test Land&128&64&25") == start_at("Test Land", 128, 64, 25)
    assert start_at("grid.example.org:8002:Hub", 1, 2, 3).text == "uri:grid.example.org:8002:Hub&1&2&3"


@pytest.mark.parametrize(
    "text", ["", "Home", "uri:", "uri:A&1&2", "uri:A&1&2&-3", "uri:A&1&2&3.5", "uri: &1&2&3", "uri:A&1&2&99999"]
)
def test_what_no_grid_takes_is_refused_before_it_is_sent(text: str) -> None:
    """The sentence says how a start location looks."""
    with pytest.raises(LocalProtocolError, match="start location"):
        parse_start(text)


@pytest.mark.parametrize("region", ["", " ", "a&b", "a\n", "a" * 129])
def test_region_names_are_checked(region: str) -> None:
    """Empty, separators, control characters and over-long names are refused."""
    with pytest.raises(LocalProtocolError):
        start_at(region, 1, 1, 1)
