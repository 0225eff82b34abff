"""Claims about how one avatar thinks."""

import pytest

from gridagent.config.model import NewerMessage
from gridagent.limits import LLM_REQUESTS_MAX
from gridagent.thinking import ThinkerSettings


def test_the_habits_are_the_cautious_ones():
    """Spec: MND-11, MND-15 — a newer message joins what was not acted on, and what waits is bounded."""
    settings = ThinkerSettings()
    assert (settings.newer, settings.turns_max) == (NewerMessage.JOIN, LLM_REQUESTS_MAX)
    assert 1 <= settings.waiting_max <= 64


@pytest.mark.parametrize("newer", list(NewerMessage))
def test_every_habit_has_a_stable_name(newer):
    """A configuration names it."""
    assert NewerMessage(newer.value) is newer
