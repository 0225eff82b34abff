"""What a session tells besides the world."""

from __future__ import annotations

from typing import get_args

from live_grid.handover.events import EndCause, SessionEvent
from live_grid.world import WorldEvent


def test_a_session_tells_all_that_the_world_does() -> None:
    """The world's vocabulary is part of the session's. Spec: LIV-6."""
    assert set(get_args(WorldEvent)) < set(get_args(SessionEvent))


def test_causes_are_words() -> None:
    """Each cause has a name of its own for logs."""
    assert len({cause.value for cause in EndCause}) == len(EndCause)
