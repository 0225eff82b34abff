"""Messages about people."""

from __future__ import annotations

import pytest

from live_grid.messages import NIL
from live_grid.messages.avatars import AgentDataUpdate, AvatarAnimation, AvatarSitResponse
from live_grid.messages.notation import AgentSession
from live_grid.messages.people import OfflineNotification, OnlineNotification, TerminateFriendship, UUIDNameReply
from live_grid.messages.regions import CoarseLocationUpdate
from live_grid.world import Region, World, WorldEvent, reduce_message
from live_grid.world.bounds import AVATARS_MAX, FRIENDS_MAX
from live_grid.world.events import (
    AnimationsPlayed,
    AvatarChanged,
    AvatarLeft,
    FriendChanged,
    NameLearnt,
    OwnMotion,
    SeatGiven,
)
from live_grid.world.packed import Motion
from live_grid.world.people import SIT_ON_GROUND

BEN = bytes(15) + b"\x02"
CLEO = bytes(15) + b"\x03"
DANCE = bytes(15) + b"\xda"


def coarse(*rows: tuple[bytes, int, int, int]) -> CoarseLocationUpdate:
    """A coarse list."""
    return CoarseLocationUpdate(
        location=tuple(CoarseLocationUpdate.Location(x, y, z) for _, x, y, z in rows),
        index=CoarseLocationUpdate.Index(-1, -1),
        agent_data=tuple(CoarseLocationUpdate.AgentData(who) for who, *_ in rows),
    )


def plays(who: bytes, *animations: bytes) -> AvatarAnimation:
    """The animations somebody plays."""
    return AvatarAnimation(
        sender=AvatarAnimation.Sender(who),
        animation_list=tuple(AvatarAnimation.AnimationList(one, 1) for one in animations),
    )


def test_the_coarse_list_says_who_is_there(world: World, here: Region) -> None:
    """Somebody out of sight is known by place and asked for by name; we are not somebody. Spec: LIV-5."""
    assert reduce_message(world, here, coarse((world.agent_id, 1, 1, 1), (BEN, 100, 50, 6))) == (AvatarChanged(BEN),)
    assert here.avatars[BEN].motion.position == (100, 50, 24)
    assert list(world.names_wanted) == [BEN]
    assert reduce_message(world, here, coarse((BEN, 100, 50, 6), (BEN, 7, 7, 7))) == ()
    assert reduce_message(world, here, coarse((BEN, 101, 50, 255))) == (AvatarChanged(BEN),)
    assert here.avatars[BEN].motion.position == (101, 50, 24)
    assert reduce_message(world, here, coarse()) == (AvatarLeft(BEN),)


def test_the_raster_of_a_large_region_is_wider(world: World) -> None:
    """A byte spans the whole region, however large. Spec: LIV-5."""
    large = Region(size_x=1024, size_y=512)
    world.enter(large)
    reduce_message(world, large, coarse((BEN, 100, 50, 6)))
    assert large.avatars[BEN].motion.position == (400, 100, 24)


def test_who_is_in_sight_is_not_moved_and_leaves_after_two_lists(world: World, here: Region) -> None:
    """The raster never corrects what is seen; one list that leaves somebody out is no proof."""
    world.learn_name(BEN, "Ben Boat")
    reduce_message(world, here, coarse((BEN, 100, 50, 6)))
    ben = here.avatars[BEN]
    assert ben.name == "Ben Boat"
    assert not world.names_wanted
    ben.coarse, ben.motion = False, Motion((99.5, 50.5, 23.0))
    assert reduce_message(world, here, coarse((BEN, 1, 1, 1))) == ()
    assert ben.motion.position == (99.5, 50.5, 23.0)
    assert reduce_message(world, here, coarse()) == ()
    assert reduce_message(world, here, coarse((BEN, 1, 1, 1))) == ()
    assert reduce_message(world, here, coarse()) == ()
    assert reduce_message(world, here, coarse()) == (AvatarLeft(BEN),)


def test_the_list_takes_in_no_more_than_the_ceiling(world: World, here: Region) -> None:
    """One more than the limit is not taken in. Spec: BND-1."""
    for number in range(AVATARS_MAX):
        avatar = here.add_avatar((1000 + number).to_bytes(16, "big"))
        assert avatar is not None
        avatar.coarse = False
    assert reduce_message(world, here, coarse((BEN, 1, 1, 1))) == ()


def test_names_come_when_asked_for(world: World, here: Region) -> None:
    """A name goes to the records of its bearer; the same one again is no news."""
    reduce_message(world, here, coarse((BEN, 100, 50, 6)))
    names = UUIDNameReply(
        uuid_name_block=(
            UUIDNameReply.UUIDNameBlock(BEN, b"Ben\0", b"Boat\0"),
            UUIDNameReply.UUIDNameBlock(CLEO, b"Cleo\0", b"\0"),
        )
    )
    assert reduce_message(world, here, names) == (NameLearnt(BEN, "Ben Boat"), NameLearnt(CLEO, "Cleo"))
    assert here.avatars[BEN].name == "Ben Boat"
    assert reduce_message(world, here, names) == ()


def test_our_own_name_comes(world: World, here: Region) -> None:
    """Only ours, and an empty one changes nothing."""

    def data(who: bytes, first: bytes, last: bytes) -> AgentDataUpdate:
        return AgentDataUpdate(agent_data=AgentDataUpdate.AgentData(who, first, last, b"", NIL, 0, b""))

    assert reduce_message(world, here, data(BEN, b"Ben\0", b"Boat\0")) == ()
    assert reduce_message(world, here, data(world.agent_id, b"\0", b"\0")) == ()
    assert world.name == "Mia Mine"
    assert reduce_message(world, here, data(world.agent_id, b"Mia\0", b"New\0")) == (
        NameLearnt(world.agent_id, "Mia New"),
    )
    assert world.name == "Mia New"


def test_our_animations_are_told_when_they_change(world: World, here: Region, beside: Region) -> None:
    """Only ours, and only where we are. Spec: LIV-7."""
    assert reduce_message(world, here, plays(BEN, DANCE)) == ()
    assert reduce_message(world, beside, plays(world.agent_id, DANCE)) == ()
    assert reduce_message(world, here, plays(world.agent_id, DANCE)) == (AnimationsPlayed((DANCE,), ()),)
    assert reduce_message(world, here, plays(world.agent_id, DANCE)) == ()
    assert reduce_message(world, here, plays(world.agent_id)) == (AnimationsPlayed((), (DANCE,)),)


@pytest.mark.parametrize("ground", sorted(SIT_ON_GROUND))
def test_sitting_on_the_ground_shows_in_animations_only(world: World, here: Region, ground: bytes) -> None:
    """Sitting down and rising are told as motion of ours."""
    assert reduce_message(world, here, plays(world.agent_id, ground)) == (AnimationsPlayed((ground,), ()), OwnMotion())
    assert reduce_message(world, here, plays(world.agent_id)) == (AnimationsPlayed((), (ground,)), OwnMotion())


def test_a_seat_is_given_where_we_are(world: World, here: Region, beside: Region) -> None:
    """A seat in another region is none."""
    zero = (0.0, 0.0, 0.0)
    seat = AvatarSitResponse(
        sit_object=AvatarSitResponse.SitObject(BEN),
        sit_transform=AvatarSitResponse.SitTransform(False, zero, zero, zero, zero, False),
    )
    assert reduce_message(world, here, seat) == (SeatGiven(BEN, False),)
    assert reduce_message(world, beside, seat) == ()


def test_friends_come_and_go(world: World, here: Region) -> None:
    """Who is no friend does not go offline; who ended the friendship is none any more. Spec: LIV-6."""

    def online(*who: bytes) -> tuple[WorldEvent, ...]:
        return reduce_message(
            world, here, OnlineNotification(agent_block=tuple(map(OnlineNotification.AgentBlock, who)))
        )

    def offline(*who: bytes) -> tuple[WorldEvent, ...]:
        return reduce_message(
            world, here, OfflineNotification(agent_block=tuple(map(OfflineNotification.AgentBlock, who)))
        )

    ended = TerminateFriendship(agent_data=AgentSession(NIL, NIL), ex_block=TerminateFriendship.ExBlock(BEN))
    assert offline(BEN) == ()
    assert online(BEN) == (FriendChanged(BEN, True, True),)
    assert online(BEN) == ()
    assert offline(BEN) == (FriendChanged(BEN, True, False),)
    assert reduce_message(world, here, ended) == (FriendChanged(BEN, False, False),)
    assert reduce_message(world, here, ended) == ()
    world.friends = {number.to_bytes(16, "big"): False for number in range(FRIENDS_MAX)}
    assert online(CLEO + b"") == (FriendChanged(CLEO, True, True),)
    assert online(b"\xff" * 16) == ()
