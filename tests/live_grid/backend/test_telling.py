"""From what happens in a session to what the grid port tells."""

from __future__ import annotations

from typing import get_args

import pytest

from gridagent import events as told
from gridagent.actions import Volume
from gridagent.events import Posture, event_name
from live_grid.backend.pending import Built, Journey, Making, Payment, Walk
from live_grid.backend.telling import UNTOLD
from live_grid.handover import SessionEvent
from live_grid.handover import events as session_events
from live_grid.handover.events import How, Part, Reached
from live_grid.handover.events import Journey as JourneyEnd
from live_grid.world import SourceKind
from live_grid.world import events as world_events
from live_grid.world.bounds import AVATARS_MAX
from live_grid.world.offers import Friendship
from live_grid.world.packed import Motion
from live_grid.world.people import SIT_ON_GROUND
from live_grid.world.state import Parcel
from tests.live_grid.backend.hands import BEN, BOX, CLEO, ITEM, NOTHING, Hands, text
from tests.live_grid.handover.fake_grid import ME

THERE = (1.0, 2.0, 3.0)


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def test_every_session_event_is_told_or_left_out_for_a_reason(hands: Hands) -> None:
    """The table and the list of what is not told are all there is. Spec: SUP-12, LIV-6."""
    assert set(hands.teller._rows) | set(UNTOLD) == set(get_args(SessionEvent))
    assert not set(hands.teller._rows) & set(UNTOLD)
    assert hands.told(world_events.LogoutConfirmed()) == []


def test_regions_are_told_within_bounds(hands: Hands) -> None:
    """Size and name fit the struct; after a journey the posture is told anew. Spec: LIV-5."""
    entered = session_events.RegionEntered(How.LOGIN, "Plaza", THERE, 99_999, 256)
    (event,) = hands.told(entered)
    assert isinstance(event, told.RegionEntered)
    assert (event.size_m, event.how) == (8_192, "login")
    crossed = session_events.RegionEntered(How.CROSSING, "Plaza", THERE, 256, 256)
    assert [event_name(one) for one in hands.told(crossed)] == ["region_entered"]
    assert hands.told(world_events.RestartAnnounced(30.0)) == [told.RegionRestarting(region="Plaza", seconds=30.0)]


def test_only_the_parcel_under_us_is_told(hands: Hands) -> None:
    """Notices about others are not."""
    assert hands.told(world_events.ParcelDescribed(True)) == []
    fields = {"name": "Lawn", "description": "", "owner_id": BEN, "group_id": NOTHING, "group_owned": False}
    hands.world.parcel = Parcel(local_id=1, flags=0, area=1, sequence=0, **fields)
    (event,) = hands.told(world_events.ParcelDescribed(True))
    assert isinstance(event, told.ParcelSeen)
    assert hands.told(world_events.ParcelDescribed(False)) == []


def test_our_motion_is_told_when_it_is_news(hands: Hands) -> None:
    """Moved, turned, set off or stopped; the same again is not told, unless it is asked for. Spec: LIV-7."""
    hands.me.motion = Motion((10.0, 10.0, 25.0))
    (first,) = hands.told(world_events.OwnMotion())
    assert isinstance(first, told.SelfMoved)
    assert (first.region, first.moving) == ("Plaza", False)
    assert hands.told(world_events.OwnMotion()) == []
    assert hands.teller.motion(again=True) == (first,)
    hands.me.motion = Motion((10.0, 10.0, 25.0), (3.0, 0.0, 0.0))
    (moving,) = hands.told(world_events.OwnMotion())
    assert isinstance(moving, told.SelfMoved)
    assert moving.moving
    hands.me.motion = Motion((10.5, 10.0, 25.0), (3.0, 0.0, 0.0))
    assert len(hands.told(world_events.OwnMotion())) == 1
    hands.me.motion = Motion((10.5, 10.0, 25.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.7071, 0.7071))
    assert len(hands.told(world_events.OwnMotion())) == 1
    hands.me.coarse = True
    assert hands.teller.motion(again=True) == ()


def test_posture_is_told_when_it_changes(hands: Hands) -> None:
    """On something known, on something that becomes known, on the ground, and up again. Spec: LIV-7."""
    assert hands.teller.posture() == ()
    hands.me.seat = 5
    (unknown,) = hands.teller.posture()
    assert (unknown.posture, unknown.object_id) == (Posture.SITTING, None)
    assert hands.teller.seated
    hands.thing(local=5)
    seen = hands.told(world_events.ObjectChanged(BOX, True))
    assert seen[-1] == told.PostureChanged(posture=Posture.SITTING, object_id=text(BOX))
    assert isinstance(seen[0], told.ObjectSeen)
    hands.me.seat = 0
    hands.world.animations = frozenset(SIT_ON_GROUND)
    assert hands.teller.posture()[0].posture is Posture.SITTING_ON_GROUND
    hands.world.animations = frozenset()
    assert hands.teller.posture()[0].posture is Posture.STANDING
    assert not hands.teller.seated
    assert hands.teller.posture(again=True)[0].posture is Posture.STANDING
    hands.world.here.drop_avatar(hands.me)
    assert hands.teller.posture(again=True) == ()


def test_animations_are_told_by_the_name_they_were_asked_for(hands: Hands) -> None:
    """An item of the inventory stands for its asset."""
    hands.pending.animations[BOX] = text(ITEM)
    assert hands.told(world_events.AnimationsPlayed((BOX,), (BEN,))) == [
        told.AnimationChanged(animation_id=text(ITEM), playing=True),
        told.AnimationChanged(animation_id=text(BEN), playing=False),
    ]


def test_journeys_end_in_one_of_three_ways(hands: Hands) -> None:
    """Arrived, refused with a word of ours, or unknown, which proves nothing. Spec: LIV-7, EFX-1."""
    hands.pending.journey = Journey(reference="r1", offer_id="lure-1")
    arrived = session_events.JourneyEnded(JourneyEnd.ARRIVED, THERE)
    closed, finished = hands.told(arrived)
    assert closed == told.OfferClosed(offer_id="lure-1", accepted=True, answer="accepted")
    assert isinstance(finished, told.TeleportFinished)
    assert finished.region == "Plaza"
    assert hands.pending.journey is None
    refused = session_events.JourneyEnded(JourneyEnd.REFUSED, THERE, "You are frozen!", "")
    assert hands.told(refused) == [told.TeleportFailed(reason="frozen")]
    assert hands.told(session_events.JourneyEnded(JourneyEnd.UNKNOWN, THERE)) == []


def test_walks_end_there_or_with_a_reason(hands: Hands) -> None:
    """Stuck and gone are refusals of the deed that walked. Spec: LIV-7."""
    assert [event_name(one) for one in hands.told(session_events.WalkEnded(Reached.THERE))] == ["self_moved"]
    for how, reason in ((Reached.STUCK, "stuck"), (Reached.TARGET_GONE, "not_here")):
        hands.pending.walk = Walk(reference="r2")
        assert hands.told(session_events.WalkEnded(how))[0] == told.ActionRefused(reference="r2", reason=reason)
    assert [event_name(one) for one in hands.told(session_events.WalkEnded(Reached.STUCK))] == ["self_moved"]


def test_people_are_told_when_they_come_move_or_get_a_name(hands: Hands) -> None:
    """A step is no news; leaving is. Spec: LIV-5."""
    ben = hands.avatar(name="")
    assert len(hands.told(world_events.AvatarChanged(BEN))) == 1
    ben.motion = Motion((12.1, 10.0, 25.0))
    assert hands.told(world_events.AvatarChanged(BEN)) == []
    ben.name = "Ben Boat"
    (named,) = hands.told(world_events.NameLearnt(BEN, "Ben Boat"))
    assert isinstance(named, told.AvatarSeen)
    ben.motion = Motion((15.0, 10.0, 25.0))
    assert len(hands.told(world_events.AvatarChanged(BEN))) == 1
    assert hands.told(world_events.AvatarLeft(BEN)) == [told.AvatarLeft(avatar_id=text(BEN))]
    assert len(hands.told(world_events.AvatarChanged(BEN))) == 1
    assert hands.told(world_events.AvatarChanged(CLEO)) == []


def test_the_memory_of_people_is_bounded(hands: Hands) -> None:
    """The one told of longest ago is told of again. Spec: BND-1."""
    for number in range(AVATARS_MAX):
        hands.teller._seen[number.to_bytes(16, "big")] = ("", 0.0, 0.0, 0.0)
    hands.avatar(b"\x77" * 16)
    hands.told(world_events.AvatarChanged(b"\x77" * 16))
    assert len(hands.teller._seen) == AVATARS_MAX


def test_things_are_told_once_they_have_said_what_they_are(hands: Hands) -> None:
    """What we built is recognised then; what is gone is told. Spec: LIV-5, EFX-1."""
    assert hands.told(world_events.ObjectChanged(BOX, False)) == []
    thing = hands.thing()
    built = Built(reference="r3", position=THERE, name="", object_id=BOX)
    hands.pending.built.extend([Built(reference="r4", position=THERE, name=""), built])
    (plain,) = hands.told(world_events.ObjectChanged(BOX, False))
    assert isinstance(plain, told.ObjectSeen)
    assert plain.object.reference == ""
    (seen,) = hands.told(world_events.ObjectChanged(BOX, True))
    assert isinstance(seen, told.ObjectSeen)
    assert seen.object.reference == "r3"
    assert len(hands.pending.built) == 1
    thing.details = None
    assert hands.told(world_events.ObjectChanged(BOX, True)) == []
    assert hands.told(world_events.ObjectGone(BOX)) == [told.ObjectGone(object_id=text(BOX))]


def test_words_come_with_volume_distance_and_reference(hands: Hands) -> None:
    """Ours carry the deed that said them; bytes are cut, not characters. Spec: LIV-6, SUP-12. Fault: 17."""
    hands.me.motion = Motion((10.0, 10.0, 25.0))
    said = world_events.ChatHeard(SourceKind.AVATAR, BEN, BEN, "Ben", "é" * 1_000, 2, (13.0, 14.0, 25.0))
    (heard,) = hands.told(said)
    assert isinstance(heard, told.ChatHeard)
    assert (heard.volume, heard.distance_m) == (Volume.SHOUT, 5.0)
    assert len(heard.text.encode()) <= 1_023
    hands.pending.speech.append(("hi", "r5"))
    (own,) = hands.told(world_events.ChatHeard(SourceKind.SELF, ME, ME, "Mia", "hi", 1, THERE))
    assert isinstance(own, told.ChatHeard)
    assert (own.reference, own.distance_m) == ("r5", 0.0)
    assert own.utterance_id != heard.utterance_id
    assert hands.told(world_events.TypingShown(BEN, True)) == [told.TypingSeen(avatar_id=text(BEN), typing=True)]


def test_messages_to_us_are_told_and_machines_are_not_answered(hands: Hands) -> None:
    """Our own copy and automatic answers lead to loops. Spec: LIV-6. Fault: 16."""
    row = (BEN, BEN, "Ben", "psst")
    (event,) = hands.told(world_events.ImReceived(SourceKind.AVATAR, *row, True, False, 0))
    assert isinstance(event, told.ImReceived)
    assert event.offline
    assert hands.told(world_events.ImReceived(SourceKind.AVATAR, *row, False, True, 0)) == []
    assert hands.told(world_events.ImReceived(SourceKind.SELF, *row, False, False, 0)) == []


def test_the_smaller_words_are_told(hands: Hands) -> None:
    """Groups by name, alerts by text or key, pages by address, kicks by reason, friends by id."""
    assert hands.told(
        world_events.GroupImSeen("Gardeners"),
        world_events.AlertShown("", "HomeSet", True),
        world_events.UrlShown(BOX, BEN, "Box", "look", "http://example.com"),
        world_events.Kicked("Out"),
        world_events.FriendChanged(BEN, True, False),
        world_events.TeleportAsked(BEN, "Ben", "May I?"),
        world_events.OfferLapsed("gift-1"),
        session_events.PartDegraded(Part.EVENT_QUEUE),
        session_events.PartRecovered(Part.EVENT_QUEUE),
    ) == [
        told.GroupImSeen(group="Gardeners"),
        told.AlertShown(text="HomeSet", modal=True),
        told.UrlShown(object_id=text(BOX), object_name="Box", url="http://example.com"),
        told.Kicked(reason="Out"),
        told.FriendChanged(avatar_id=text(BEN), friend=True, online=False),
        told.TeleportAsked(
            source=told.Speaker(kind=told.SpeakerKind.AVATAR, id=text(BEN), name="Ben"), message="May I?"
        ),
        told.OfferClosed(offer_id="gift-1", accepted=False, answer="withdrawn"),
        told.PartDegraded(part="event_queue"),
        told.PartRecovered(part="event_queue"),
    ]


def test_offers_are_told_while_they_are_open(hands: Hands) -> None:
    """One that is gone already is not."""
    assert hands.told(world_events.OfferMade("friendship-1")) == []
    hands.world.offers.put(
        Friendship(offer_id="friendship-1", source_id=BEN, name="Ben", transaction_id=ITEM, message="")
    )
    (event,) = hands.told(world_events.OfferMade("friendship-1"))
    assert isinstance(event, told.FriendshipOffered)


def test_gifts_are_answered_by_whom_they_were_given_to(hands: Hands) -> None:
    """An answer by somebody else, or to another gift, is none. Spec: EFX-1."""
    hands.pending.give(BOX, text(ITEM), text(BEN), "ref")
    hands.pending.give(bytes(16), text(BOX), text(BEN), "other")
    assert hands.told(world_events.GiftAnswered(CLEO, BOX, True)) == []
    assert hands.told(world_events.GiftAnswered(BEN, ITEM, True)) == []
    answered = told.GiftAnswered(item_id=text(ITEM), to=text(BEN), accepted=False, reference="ref")
    assert hands.told(world_events.GiftAnswered(BEN, BOX, False)) == [answered]
    assert hands.told(world_events.GiftAnswered(CLEO, BOX, False)) == []


def test_balances_tell_of_payments(hands: Hands) -> None:
    """Ours with its reference, a refused one as a refusal, anybody's as what it is. Spec: EFX-1, EFX-5."""
    hands.pending.payment = Payment(reference="r6", counterpart_id=BOX, amount=10, balance=100)
    through = world_events.BalanceKnown(90, True, NOTHING, "vendor #r6", 10, ME, BEN)
    (paid,) = hands.told(through)
    assert isinstance(paid, told.BalanceChanged)
    assert (paid.change, paid.counterpart_id, paid.reference) == (-10, text(BOX), "r6")
    hands.pending.payment = Payment(reference="r5", counterpart_id=BEN, amount=10, balance=100)
    (alike,) = hands.told(world_events.BalanceKnown(90, True, NOTHING, "", 10, ME, BEN))
    assert isinstance(alike, told.BalanceChanged)
    assert (alike.change, alike.counterpart_id, alike.reference) == (-10, text(BEN), "")
    (got,) = hands.told(world_events.BalanceKnown(95, True, NOTHING, "thanks", 5, BEN, ME))
    assert isinstance(got, told.BalanceChanged)
    assert (got.change, got.counterpart_id, got.reference) == (5, text(BEN), "")
    hands.pending.payment = Payment(reference="r7", counterpart_id=BEN, amount=10, balance=95)
    refused = world_events.BalanceKnown(95, False, NOTHING, "no #r7", 10, ME, BEN)
    assert hands.told(refused) == [told.ActionRefused(reference="r7", reason="payment_refused")]
    (other,) = hands.told(world_events.BalanceKnown(95, False, NOTHING, "", 10, ME, CLEO))
    assert isinstance(other, told.BalanceChanged)
    assert other.change == 0


def test_new_items_are_told_and_empty_notecards_are_not(hands: Hands) -> None:
    """A landmark of ours carries its reference; a notecard waits for its text. Spec: LIV-8, EFX-1."""
    number = hands.pending.make(Making(reference="r8", text=None))
    written = hands.pending.make(Making(reference="r9", text="hello"))
    row = (NOTHING, NOTHING, 3, "Here", "")
    items = (
        world_events.ItemMade(ITEM, *row, number, 0, 0),
        world_events.ItemMade(BOX, *row, written, 0, 0),
        world_events.ItemMade(BEN, *row, 0, 0, 0),
    )
    found = hands.told(world_events.ItemsMade(items))
    assert [(event.item.item_id, event.reference) for event in found] == [(text(ITEM), "r8"), (text(BEN), "")]
    assert list(hands.pending.making) == [written]


def test_acknowledgements_tell_what_was_waiting_for_them(hands: Hands) -> None:
    """Once."""
    hands.pending.deliver(5, told.Delivered(reference="r1"))
    assert hands.told(session_events.RequestDelivered(5)) == [told.Delivered(reference="r1")]
    assert hands.told(session_events.RequestDelivered(5)) == []
