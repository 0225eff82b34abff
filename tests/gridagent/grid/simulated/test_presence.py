"""Coming into the world and leaving it."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import BackendError, OperatorError
from gridagent.events import (
    AvatarLeft,
    AvatarSeen,
    BackendReady,
    BalanceChanged,
    DisconnectCause,
    Kicked,
    ObjectSeen,
    RegionEntered,
    TransportUp,
    event_name,
)
from gridagent.grid.simulated import Account, Place, Thing, World
from gridagent.grid.simulated.witness import Witness


def test_a_newcomer_is_shown_everything_and_everybody_sees_the_newcomer(
    world: World, ada: Witness, ben: Witness
) -> None:
    """The order is transport, readiness, money, region, parcel, people, things.

    Spec: SIM-1, SUP-12
    """
    world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing())
    cleo = Witness(world, world.avatars()[2])
    assert [event_name(event) for event in cleo.events] == [
        *("transport_up", "backend_ready", "balance_changed", "region_entered", "parcel_seen"),
        *("avatar_seen", "avatar_seen", "object_seen"),
    ]
    assert cleo.saw(TransportUp)[0].name == "Cleo Collector"
    assert cleo.saw(BackendReady)[0].profile == world.settings.profile
    assert cleo.saw(BalanceChanged)[0].change == 0
    assert [event.avatar.avatar_id for event in cleo.saw(AvatarSeen)] == [ada.avatar_id, ben.avatar_id]
    assert len(cleo.saw(ObjectSeen)) == 1
    assert ada.saw(AvatarSeen)[-1].avatar.avatar_id == cleo.avatar_id


def test_leaving_is_seen_and_coming_back_is_where_one_was(world: World, ada: Witness, ben: Witness) -> None:
    """The last place is kept over a logout.

    Spec: SIM-1
    """
    ada.do(asked.TeleportTo(region="Annex", position=Position(x=300.0, y=30.0)))
    ada.leave()
    again = Witness(world, ada.avatar_id)
    assert again.saw(RegionEntered)[0].region == "Annex"
    assert again.saw(BackendReady)[0].position == Position(x=300.0, y=30.0, z=22.0)
    ben.leave()
    assert world.position(ben.avatar_id) is None
    assert [event.avatar_id for event in ben.saw(AvatarLeft)] == [ada.avatar_id]


def test_a_second_login_is_refused_and_ends_the_first(world: World, ada: Witness) -> None:
    """The stale session is kicked with the refusal, and the next login succeeds.

    Spec: SIM-1
    """
    with pytest.raises(BackendError) as refused:
        Witness(world, ada.avatar_id)
    assert refused.value.cause == DisconnectCause.ALREADY_LOGGED_IN
    assert (ada.ended_by, len(ada.saw(Kicked))) == (DisconnectCause.KICKED, 1)
    assert Witness(world, ada.avatar_id).session.live


@pytest.mark.parametrize(
    "trouble",
    [
        lambda region, avatar_id: setattr(region, "up", False),
        lambda region, avatar_id: setattr(region, "capacity", 0),
        lambda region, avatar_id: region.parcels[0].ban(avatar_id),
    ],
    ids=["down", "full", "banned"],
)
def test_a_login_goes_elsewhere_when_its_place_does_not_take_it(world: World, trouble) -> None:
    """Where one was, then home, then the first open region; with none, the grid is in maintenance.

    Spec: SIM-1
    """
    ada = world.avatars()[0]
    plaza, annex = world.regions()
    trouble(plaza, ada)
    there = Witness(world, ada, now=1.0)
    assert there.saw(RegionEntered)[0].region == "Annex"
    there.leave()
    annex.up = False
    with pytest.raises(BackendError) as refused:
        Witness(world, ada)
    assert refused.value.cause == DisconnectCause.MAINTENANCE


def test_home_comes_before_anywhere(world: World) -> None:
    """Somebody whose last region is down wakes up at home."""
    eve = world.add_avatar(Account(name="Eve", home=Place(region="Annex", position=Position(x=10.0, y=10.0))))
    world.avatar(eve).last = Place(region="Plaza", position=Position(x=1.0, y=1.0))
    world.regions()[0].up = False
    assert Witness(world, eve, now=1.0).saw(BackendReady)[0].position.x == 10.0


def test_one_session_has_one_pair_of_eyes(world: World, ada: Witness) -> None:
    """Attaching twice, or to somebody away, is refused with a sentence."""
    with pytest.raises(OperatorError, match="already attached"):
        world.attach(ada.avatar_id, ada.events.append, now=world.now)
    with pytest.raises(OperatorError, match="not logged in"):
        world.attach(world.avatars()[2], ada.events.append, now=world.now)


def test_nothing_is_perceived_after_the_end(world: World, ada: Witness, ben: Witness) -> None:
    """A body that leaves on its way tells its own senses nothing more."""
    world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=200.0, y=100.0)), world.now, "walk")
    heard = len(ada.events)
    ada.leave()
    ben.pass_time(60.0)
    assert len(ada.events) == heard
    assert world.next_timer() is None
