"""Where an avatar goes that is sent home."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Position, Say, TeleportHome, TeleportTo
from gridagent.config.fields import KIND_CHECKS
from gridagent.grid.homing import home_of, sent_home

HOME = TeleportTo(region="North / Shore", position=Position(x=1.0, y=20.0, z=300.0))


@pytest.mark.parametrize("place", [None, "home"])
def test_without_a_place_the_grid_decides(place: str | None) -> None:
    """The action stays what it is. Spec: LIV-7."""
    assert home_of(place) is None
    assert sent_home(TeleportHome(), None) == TeleportHome()


def test_a_place_is_where_home_is_and_nothing_else_changes() -> None:
    """Only the way home leads there; names may hold slashes. Spec: LIV-7."""
    assert home_of("North / Shore/1/20/300") == HOME
    assert sent_home(TeleportHome(), HOME) is HOME
    elsewhere = TeleportTo(region="Plaza", position=Position(x=1.0, y=1.0))
    for other in (elsewhere, Say(text="home")):
        assert sent_home(other, HOME) is other


@given(st.from_regex(re.compile(r"[^/&]{1,100}/\d{1,4}/\d{1,4}/\d{1,4}", re.ASCII), fullmatch=True))
def test_every_place_that_a_configuration_takes_can_be_gone_to(place: str) -> None:
    """What passed the loader fails nowhere later. Spec: CFG-1."""
    assert KIND_CHECKS["place"](place)
    home = home_of(place)
    assert home is not None
    assert place.startswith(f"{home.region}/")


def test_what_is_no_place_is_an_error() -> None:
    """An embedder's mistake, said at once."""
    with pytest.raises(ValueError, match="unpack"):
        home_of("Plaza")
