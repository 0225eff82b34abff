"""Crossing a border on foot, and why somebody may not."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.events import AvatarLeft, AvatarSeen, RegionEntered, TeleportFinished
from gridagent.grid.simulated import Land, World
from gridagent.grid.simulated.witness import Witness

EDGE = Position(x=1.0, y=450.0)


def test_somebody_who_crosses_is_there_at_once_and_without_a_teleport(
    world: World, ada: Witness, ben: Witness, dan: Witness
) -> None:
    """Both regions' people see it, and the newcomer is shown the place. Spec: SIM-1, LIV-7."""
    assert world.cross(ada.avatar_id, "Annex", EDGE, world.now)
    assert world.avatar(ada.avatar_id).body.region.name == "Annex"
    assert ada.saw(RegionEntered)[-1].how == "crossing"
    assert ada.saw(RegionEntered)[-1].position == Position(x=1.0, y=450.0, z=22.0)
    assert ada.saw(TeleportFinished) == []
    assert [event.avatar_id for event in ben.saw(AvatarLeft)] == [ada.avatar_id]
    assert dan.saw(AvatarSeen)[-1].avatar.avatar_id == ada.avatar_id


@pytest.mark.parametrize("why", ["same region", "down", "full", "banned", "teleporting"])
def test_nobody_crosses_where_they_may_not(why: str, world: World, ada: Witness, dan: Witness) -> None:
    """The body stays where it is, and nobody is told anything. Spec: SIM-1."""
    annex = next(region for region in world.regions() if region.name == "Annex")
    target = "Plaza" if why == "same region" else "Annex"
    if why == "down":
        annex.up = False
    elif why == "full":
        annex.capacity = len(annex.avatars)
    elif why == "banned":
        world.add_parcel("Annex", owner_id=dan.avatar_id, land=Land(name="No", banned=(ada.avatar_id,)))
    elif why == "teleporting":
        world.perform(ada.avatar_id, asked.TeleportTo(region="Annex", position=EDGE), world.now)
    before = len(ada.events), len(dan.events)
    assert not world.cross(ada.avatar_id, target, EDGE, world.now)
    assert world.avatar(ada.avatar_id).body.region.name == "Plaza"
    assert (len(ada.events), len(dan.events)) == before
