"""The vocabulary of the world."""

from __future__ import annotations

from typing import get_args

from live_grid.world import events
from live_grid.world.events import WorldEvent


def test_every_event_is_frozen_and_documented() -> None:
    """Each member of the union is immutable, free of the collector, and says what it means."""
    for kind in get_args(WorldEvent):
        assert kind.__struct_config__.frozen
        assert not kind.__struct_config__.gc
        assert kind.__doc__
        assert kind.__name__ in events.__all__
