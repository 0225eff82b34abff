"""Restarts, kicks, alerts and group notices."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import OperatorError
from gridagent.events import AlertShown, DisconnectCause, GroupImSeen, Kicked, RegionRestarting
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.witness import Witness


def test_a_restart_is_announced_then_ends_every_session_then_is_over(
    world: World, ada: Witness, ben: Witness, dan: Witness
) -> None:
    """People of the region are warned and lose their sessions; others don't; things are still there after.

    Spec: SIM-1
    Fault: 8
    """
    world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing(name="Rock"))
    assert world.restart_region("plaza", world.now, notice_s=30.0, down_s=60.0)
    assert not world.restart_region("Plaza", world.now)
    ada.pass_time(29.0)
    assert ada.session.live
    ada.pass_time(2.0)
    assert (ada.ended_by, ben.ended_by, dan.ended_by) == (
        DisconnectCause.REGION_RESTART,
        DisconnectCause.REGION_RESTART,
        None,
    )
    assert ada.saw(RegionRestarting) == [RegionRestarting(region="Plaza", seconds=30.0)]
    assert not world.regions()[0].up
    dan.pass_time(60.0)
    assert [view.name for view in world.objects_near(Witness(world, ada.avatar_id).avatar_id)] == ["Rock"]
    assert world.restart_region("Plaza", world.now)


def test_a_newcomer_during_the_notice_goes_down_with_the_region(world: World, ada: Witness) -> None:
    """Who comes in the last minute loses the session as well."""
    world.restart_region("Plaza", world.now, notice_s=30.0)
    ada.pass_time(20.0)
    late = Witness(world, world.avatars()[1])
    late.pass_time(11.0)
    assert late.ended_by is DisconnectCause.REGION_RESTART


def test_a_kick_tells_its_reason_and_ends_the_session(world: World, ada: Witness) -> None:
    """Kicking somebody who is away does nothing.

    Spec: SIM-1
    Fault: 8
    """
    assert world.kick(ada.avatar_id, world.now, reason="enough")
    assert (ada.saw(Kicked), ada.ended_by) == ([Kicked(reason="enough")], DisconnectCause.KICKED)
    assert not world.kick(ada.avatar_id, world.now)


def test_alerts_and_group_notices_reach_the_one_they_are_for(world: World, ada: Witness, ben: Witness) -> None:
    """Nobody else sees them."""
    world.alert(ada.avatar_id, "The grid restarts at noon.", world.now, modal=True)
    world.group_im(ada.avatar_id, "Gardeners", world.now)
    assert ada.saw(AlertShown) == [AlertShown(text="The grid restarts at noon.", modal=True)]
    assert ada.saw(GroupImSeen) == [GroupImSeen(group="Gardeners")]
    assert ben.saw(AlertShown) == []


def test_unknown_regions_and_avatars_are_named_in_the_error(world: World) -> None:
    """The sentence says what is missing and how to add it."""
    with pytest.raises(OperatorError, match="no region 'Atlantis'"):
        world.restart_region("Atlantis", 1.0)
    with pytest.raises(OperatorError, match="no avatar 00000000"):
        world.kick("00000000-0000-4000-8000-0000000000ff", 1.0)


def test_a_walk_under_way_ends_with_the_restart(world: World, ada: Witness, ben: Witness) -> None:
    """Bodies that follow and walk are taken out without a timer left."""
    world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=200.0, y=100.0)), world.now)
    world.perform(ben.avatar_id, asked.FollowAvatar(avatar_id=ada.avatar_id), world.now)
    world.restart_region("Plaza", world.now, notice_s=5.0, down_s=5.0)
    world.advance(world.now + 60.0)
    assert world.next_timer() is None
