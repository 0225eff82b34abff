"""Sent home over the wire: to the configured place, or not at all."""

from __future__ import annotations

import pytest

from gridagent.actions import Confirmed, Refused, TeleportHome
from gridagent.observations import ActionDecided
from live_grid.simulator import OPENSIM, SECOND_LIFE
from tests.live_grid.whole.life import ADA, a_life

KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])


@KINDS
async def test_the_configured_home_is_where_it_goes(tmp_path, autojump_clock, profile) -> None:
    """Whatever the grid has for its home; what was decided on and recorded is the way home. Spec: LIV-7, EFX-1."""
    async with a_life(tmp_path, profile=profile, avatar={"home": "Annex/300/40/25"}) as life:
        await life.online()
        assert isinstance(await life.act(TeleportHome()), Confirmed)
        assert life.where() == "Annex"
        body = life.world.avatar(ADA).body
        assert (body.position.x, body.position.y) == (300.0, 40.0)
        assert [each.action for each in life.bodies(ActionDecided)] == ["teleport_home"]


@KINDS
async def test_without_one_the_grid_decides(tmp_path, autojump_clock, profile) -> None:
    """The account's own home. Spec: LIV-7."""
    async with a_life(tmp_path, profile=profile, avatar={"start": "Annex/300/40/25"}) as life:
        await life.online()
        assert life.where() == "Annex"
        assert isinstance(await life.act(TeleportHome()), Confirmed)
        assert life.where() == "Plaza"


@KINDS
@pytest.mark.parametrize(("home", "reason"), [("Atlantis/1/2/3", "region_not_found"), ("Far/1/2/3", "region_down")])
async def test_a_home_that_cannot_be_reached_is_a_refusal(tmp_path, autojump_clock, profile, home, reason) -> None:
    """It says why, the avatar stays where it is, and no other home is tried. Spec: LIV-7, EFX-1."""
    async with a_life(tmp_path, profile=profile, avatar={"home": home}) as life:
        await life.online()
        life.world.regions()[2].up = False
        outcome = await life.act(TeleportHome())
        assert isinstance(outcome, Refused)
        assert outcome.reason == reason
        assert life.where() == "Plaza"
