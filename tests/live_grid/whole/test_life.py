"""A day of an avatar over the wire, through the gateway."""

from __future__ import annotations

from gridagent.actions import Confirmed, Say
from gridagent.events import ChatHeard
from tests.live_grid.whole.life import CLEO, a_life


async def test_it_comes_in_world_hears_and_speaks(tmp_path, autojump_clock) -> None:
    """Spec: LIV-6, EFX-1."""
    async with a_life(tmp_path) as life:
        await life.online()
        cleo = life.witness(CLEO)
        outcome = await life.act(Say(text="Good morning."))
        assert isinstance(outcome, Confirmed), outcome
        assert [e.text for e in cleo.saw(ChatHeard)] == ["Good morning."]
    assert life.ends() == [("requested", True)]
