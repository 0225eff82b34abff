"""Actions of our own body; most of them are also performed against a server in the tests of the backend."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.events import AnimationChanged, Posture, PostureChanged, SelfMoved
from live_grid.backend.acting_self import ANIMATIONS_MAX
from live_grid.messages.avatars import AgentAnimation, AgentRequestSit
from live_grid.messages.travel import TeleportLandmarkRequest, TeleportLocationRequest
from tests.live_grid.backend.hands import BEN, BOX, ITEM, Hands, text

PLACE = Position(x=20.0, y=20.0, z=25.0)


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def test_the_body_is_given_its_errand(hands: Hands) -> None:
    """And the session is to look at it. Spec: LIV-7."""
    hands.avatar()
    for action, busy in (
        (asked.WalkTo(position=PLACE), True),
        (asked.StopMoving(), False),
        (asked.FollowAvatar(avatar_id=text(BEN)), True),
        (asked.TurnTo(heading_deg=45.0), False),
    ):
        before = hands.nudged
        found = hands.perform(action)
        assert isinstance(found, list)
        assert all(isinstance(event, SelfMoved) for event in found)
        assert hands.session.body.busy is busy
        assert hands.nudged > before
    assert hands.session.body.heading_deg == 45.0


def test_who_sits_stays_where_they_sit(hands: Hands) -> None:
    """Walking, following and turning are for those who stand. Spec: LIV-7."""
    hands.me.seat = 5
    hands.teller.posture()
    for action in (
        asked.WalkTo(position=PLACE),
        asked.FollowAvatar(avatar_id=text(BEN)),
        asked.TurnTo(heading_deg=1.0),
    ):
        assert hands.perform(action) == "seated"


def test_seats_are_asked_for_unless_we_sit_there(hands: Hands) -> None:
    """What is so already is shown at once, and nothing is sent. Spec: LIV-7, EFX-1."""
    assert hands.perform(asked.SitOn(object_id=text(BOX))) == "unknown_object"
    hands.thing()
    assert hands.perform(asked.SitOn(object_id=text(BOX))) == []
    assert [type(message) for message in hands.sent()] == [AgentRequestSit]
    hands.me.seat = 5
    seated = PostureChanged(posture=Posture.SITTING, object_id=text(BOX))
    assert hands.perform(asked.SitOn(object_id=text(BOX))) == [seated]
    assert hands.sent() == []
    assert hands.perform(asked.StandUp()) == []
    hands.me.seat = 0
    assert hands.perform(asked.StandUp()) == [PostureChanged(posture=Posture.STANDING)]


def test_animations_are_named_by_item_and_sent_by_asset(hands: Hands) -> None:
    """A built-in one is its own asset; what plays already is shown at once. Spec: LIV-8."""
    item = hands.item(kind=20)
    assert hands.perform(asked.PlayAnimation(animation_id=text(ITEM))) == []
    (message,) = hands.sent()
    assert isinstance(message, AgentAnimation)
    assert (message.animation_list[0].anim_id, message.animation_list[0].start_anim) == (item.asset_id, True)
    hands.world.animations = frozenset({item.asset_id})
    playing = AnimationChanged(animation_id=text(ITEM), playing=True)
    assert hands.perform(asked.PlayAnimation(animation_id=text(ITEM))) == [playing]
    assert hands.perform(asked.StopAnimation(animation_id=text(ITEM))) == []
    assert hands.perform(asked.StopAnimation(animation_id=text(BOX))) == [
        AnimationChanged(animation_id=text(BOX), playing=False)
    ]
    for number in range(ANIMATIONS_MAX + 5):
        hands.perform(asked.PlayAnimation(animation_id=text((1_000 + number).to_bytes(16, "big"))))
    assert len(hands.pending.animations) == ANIMATIONS_MAX


def test_teleports_in_the_region_need_no_map(hands: Hands) -> None:
    """Nor does the way home. Spec: LIV-7."""
    assert hands.perform(asked.TeleportTo(region="plaza", position=PLACE)) == []
    assert hands.perform(asked.TeleportHome()) == "in_transit"
    assert [type(message) for message in hands.sent()] == [TeleportLocationRequest]
    other = Hands()
    assert other.perform(asked.TeleportHome(), "r9") == []
    assert [type(message) for message in other.sent()] == [TeleportLandmarkRequest]
    assert other.pending.journey is not None
    assert other.pending.journey.reference == "r9"
