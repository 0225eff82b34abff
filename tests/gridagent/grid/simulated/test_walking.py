"""Walking, following, turning and stopping."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Refused
from gridagent.events import ActionRefused, AvatarLeft, AvatarSeen, ParcelSeen, SelfMoved
from gridagent.grid.simulated import Land, Thing, World
from gridagent.grid.simulated.witness import Witness


def where(who: Witness) -> tuple[float, float]:
    """Return somebody's point, to centimetres."""
    position = who.world.position(who.avatar_id)
    assert position is not None
    return round(position.x, 2), round(position.y, 2)


def test_a_walk_takes_the_time_its_length_needs(world: World, ada: Witness) -> None:
    """32 m at 3.2 m/s take ten seconds, and the position is exact at any moment between events.

    Spec: SIM-1
    """
    began = world.now
    world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=132.0, y=100.0)), began)
    ada.pass_time(3.0)
    assert where(ada) == (109.6, 100.0)
    ada.pass_time(6.99)
    assert ada.saw(SelfMoved)[-1].moving
    ada.pass_time(0.02)
    assert ada.saw(SelfMoved)[-1] == SelfMoved(
        region="Plaza", position=Position(x=132.0, y=100.0, z=22.0), heading_deg=0.0, moving=False
    )


def test_a_walk_is_told_at_its_start_every_five_metres_and_at_its_end(ada: Witness, ben: Witness) -> None:
    """Nothing ticks: 23 m make six events for the walker and six for who watches.

    Spec: SIM-2
    """
    watched = len(ben.saw(AvatarSeen))
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=100.0, y=123.0))), Confirmed)
    assert [round(event.position.y - 100.0) for event in ada.saw(SelfMoved)] == [0, 5, 10, 15, 20, 23]
    seen = ben.saw(AvatarSeen)[watched:]
    assert [round(event.avatar.distance_m) for event in seen] == [0, 5, 10, 15, 20, 23]
    assert ada.saw(SelfMoved)[-1].heading_deg == pytest.approx(90.0)
    assert ada.world.next_timer() is None


def test_a_walk_that_is_no_walk_is_confirmed_at_once(ada: Witness) -> None:
    """Being there already is evidence too."""
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=100.0, y=100.0))), Confirmed)


def test_a_new_walk_supersedes_the_one_before(world: World, ada: Witness) -> None:
    """The earlier walk's asker is told, and the body turns where it is."""
    world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=200.0, y=100.0)), world.now, "first")
    ada.pass_time(5.0)
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=116.0, y=120.0))), Confirmed)
    assert ada.saw(ActionRefused) == [ActionRefused(reference="first", reason="superseded")]
    assert where(ada) == (116.0, 120.0)


def test_a_walk_over_a_parcel_border_tells_the_new_parcel(world: World, ada: Witness) -> None:
    """The parcel is told when it changes, not at every step."""
    world.add_parcel("Plaza", owner_id=ada.avatar_id, land=Land(name="East", x=115, width=100, depth=256))
    ada.do(asked.WalkTo(position=Position(x=140.0, y=100.0)))
    assert [event.parcel.name for event in ada.saw(ParcelSeen)] == ["Plaza", "East"]


@pytest.mark.parametrize(
    ("seat", "reason"), [(asked.SitOnGround(), "seated"), (asked.TeleportHome(), "in_transit")], ids=["seated", "away"]
)
def test_who_sits_or_teleports_does_not_walk(world: World, ada: Witness, seat, reason: str) -> None:
    """Walking, following and (on the way) turning are refused with the reason."""
    world.perform(ada.avatar_id, seat, world.now)
    assert ada.do(asked.WalkTo(position=Position(x=1.0, y=1.0))) == Refused(reason=reason)
    assert ada.do(asked.FollowAvatar(avatar_id=world.avatars()[1])) == Refused(reason=reason)


def test_a_walk_ends_where_the_region_ends(ada: Witness) -> None:
    """A point beyond the border is refused, not clamped."""
    assert ada.do(asked.WalkTo(position=Position(x=256.0, y=10.0))) == Refused(reason="outside_region")


def test_nobody_walks_onto_land_that_bans_them(world: World, ada: Witness) -> None:
    """A parcel keeps people out on foot as well.

    Spec: SIM-1
    """
    land = Land(name="Private", x=115, width=100, depth=256, banned=(ada.avatar_id,))
    world.add_parcel("Plaza", owner_id=world.avatars()[1], land=land)
    assert ada.do(asked.WalkTo(position=Position(x=140.0, y=100.0))) == Refused(reason="no_access")


def test_a_follower_catches_up_and_keeps_up(world: World, ada: Witness, ben: Witness) -> None:
    """Following is confirmed when first caught up, then goes on until told to stop.

    Spec: SIM-1
    """
    ada.do(asked.WalkTo(position=Position(x=140.0, y=100.0)))
    assert isinstance(ben.do(asked.FollowAvatar(avatar_id=ada.avatar_id, distance_m=4.0)), Confirmed)
    ben.pass_time(5.0)
    assert where(ben) == (136.0, 100.0)
    ada.do(asked.WalkTo(position=Position(x=140.0, y=160.0)))
    ben.pass_time(30.0)
    x, y = where(ben)
    assert ((x - 140.0) ** 2 + (y - 160.0) ** 2) ** 0.5 == pytest.approx(4.0, abs=2.1)
    ben.do(asked.StopMoving())
    stood = where(ben)
    ada.do(asked.WalkTo(position=Position(x=60.0, y=60.0)))
    assert where(ben) == stood
    assert ben.saw(ActionRefused) == []


def test_two_who_follow_each_other_stand_still(world: World, ada: Witness, ben: Witness) -> None:
    """Mutual following comes to rest instead of running for ever."""
    ada.do(asked.WalkTo(position=Position(x=150.0, y=100.0)))
    world.perform(ben.avatar_id, asked.FollowAvatar(avatar_id=ada.avatar_id), world.now)
    world.perform(ada.avatar_id, asked.FollowAvatar(avatar_id=ben.avatar_id), world.now)
    ada.pass_time(60.0)
    assert world.next_timer() is None
    (ax, _), (bx, _) = where(ada), where(ben)
    assert 0.0 <= ax - bx <= 6.0


def test_following_within_reach_is_confirmed_where_one_stands(ada: Witness, ben: Witness) -> None:
    """Somebody near enough need not move, and a small step away does not make the follower shuffle."""
    assert isinstance(ben.do(asked.FollowAvatar(avatar_id=ada.avatar_id)), Confirmed)
    ada.do(asked.WalkTo(position=Position(x=104.0, y=100.0)))
    assert where(ben) == (100.0, 100.0)


def test_following_ends_with_the_followed(world: World, ada: Witness, ben: Witness) -> None:
    """When the followed avatar teleports away before being reached, the follower is told and stands."""
    ada.do(asked.WalkTo(position=Position(x=200.0, y=100.0)))
    world.perform(ben.avatar_id, asked.FollowAvatar(avatar_id=ada.avatar_id), world.now, "follow")
    ada.do(asked.TeleportTo(region="Annex", position=Position(x=5.0, y=5.0)))
    ben.pass_time(60.0)
    assert ben.saw(ActionRefused) == [ActionRefused(reference="follow", reason="superseded")]
    assert ben.saw(AvatarLeft)
    assert not ben.saw(SelfMoved)[-1].moving
    assert where(ben)[0] < 130.0


def test_following_ends_with_the_follower(world: World, ada: Witness, ben: Witness) -> None:
    """A follower who logs out is forgotten by the one it followed."""
    ben.do(asked.FollowAvatar(avatar_id=ada.avatar_id))
    ben.leave()
    body = world.avatar(ada.avatar_id).body
    assert body is not None
    assert body.followers == {}
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=120.0, y=100.0))), Confirmed)


@pytest.mark.parametrize(("whom", "reason"), [(0, "not_yourself"), (3, "not_here")])
def test_only_somebody_else_who_is_here_can_be_followed(
    world: World, ada: Witness, dan: Witness, whom: int, reason: str
) -> None:
    """Oneself and people elsewhere are refused; so is nobody at all."""
    assert ada.do(asked.FollowAvatar(avatar_id=world.avatars()[whom])) == Refused(reason=reason)
    nobody = asked.FollowAvatar(avatar_id="00000000-0000-4000-8000-0000000000ff")
    assert ada.do(nobody) == Refused(reason="unknown_avatar")


def test_stopping_is_repeatable_and_shown(ada: Witness, ben: Witness) -> None:
    """A stop while standing is confirmed as well; one that ends a walk is seen by others."""
    watched = len(ben.saw(AvatarSeen))
    assert isinstance(ada.do(asked.StopMoving()), Confirmed)
    assert len(ben.saw(AvatarSeen)) == watched
    ada.world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=200.0, y=100.0)), ada.world.now)
    ada.pass_time(2.0)
    assert isinstance(ada.do(asked.StopMoving()), Confirmed)
    assert ben.saw(AvatarSeen)[-1].avatar.position.x == pytest.approx(106.4)


def test_a_target_on_a_high_seat_is_caught_up_with_on_the_ground(world: World, ada: Witness, ben: Witness) -> None:
    """Distance to a followed avatar is measured over the ground, so that a high seat cannot trap a follower."""
    perch = world.add_object(
        "Plaza",
        owner_id=ada.avatar_id,
        position=Position(x=130.0, y=100.0, z=90.0),
        thing=Thing(sittable=True),
    )
    ada.do(asked.SitOn(object_id=perch))
    assert isinstance(ben.do(asked.FollowAvatar(avatar_id=ada.avatar_id)), Confirmed)
    ben.pass_time(5.0)
    assert where(ben) == (127.0, 100.0)
