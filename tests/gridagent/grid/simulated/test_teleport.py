"""Teleports, and the ways they fail."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Refused
from gridagent.events import (
    AvatarLeft,
    AvatarSeen,
    ObjectSeen,
    OfferClosed,
    ParcelSeen,
    Posture,
    PostureChanged,
    RegionEntered,
    SelfMoved,
    TeleportFailed,
    TeleportFinished,
    TeleportOffered,
    event_name,
)
from gridagent.grid.simulated import Land, Thing, World
from gridagent.grid.simulated.witness import Witness

THERE = Position(x=400.0, y=450.0)
GO = asked.TeleportTo(region="Annex", position=THERE)


def test_a_teleport_takes_time_and_shows_the_new_place(world: World, ada: Witness, ben: Witness, dan: Witness) -> None:
    """Between one and four seconds later the avatar is there, and both regions' people have seen it.

    Spec: SIM-1, EFX-1
    """
    world.add_object("Annex", owner_id=dan.avatar_id, position=THERE, thing=Thing(name="Statue"))
    began, before = world.now, len(ada.events)
    assert isinstance(ada.do(GO), Confirmed)
    assert 1.0 <= world.now - began <= 4.0
    assert [event_name(event) for event in list(ada.events)[before:]] == [
        *("teleport_finished", "region_entered", "parcel_seen", "avatar_seen", "object_seen")
    ]
    entered = ada.saw(RegionEntered)[-1]
    assert (entered.region, entered.size_m, entered.how) == ("Annex", 512, "teleport")
    assert entered.position == Position(x=400.0, y=450.0, z=22.0)
    assert [event.avatar_id for event in ben.saw(AvatarLeft)] == [ada.avatar_id]
    assert dan.saw(AvatarSeen)[-1].avatar.avatar_id == ada.avatar_id
    assert [event.object.name for event in ada.saw(ObjectSeen)] == ["Statue"]


def test_a_teleport_within_the_region_moves_without_leaving(world: World, ada: Witness, ben: Witness) -> None:
    """Others see the avatar elsewhere, not gone."""
    world.add_parcel("Plaza", owner_id=ben.avatar_id, land=Land(name="East", x=200, width=56, depth=256))
    assert isinstance(ada.do(asked.TeleportTo(region="plaza", position=Position(x=210.0, y=9.0))), Confirmed)
    assert ben.saw(AvatarLeft) == []
    assert ben.saw(AvatarSeen)[-1].avatar.position == Position(x=210.0, y=9.0, z=22.0)
    assert ada.saw(SelfMoved)[-1].position.x == 210.0
    assert ada.saw(ParcelSeen)[-1].parcel.name == "East"


def test_a_point_outside_is_moved_to_the_edge(ada: Witness) -> None:
    """The grid puts people inside the region, whatever they asked for."""
    ada.do(asked.TeleportTo(region="Annex", position=Position(x=9_000.0, y=-5.0)))
    assert ada.saw(TeleportFinished)[-1].position == Position(x=511.5, y=0.5, z=22.0)


def test_who_sat_stands_after_a_teleport(ada: Witness) -> None:
    """The seat stays behind, and the avatar is told."""
    ada.do(asked.SitOnGround())
    ada.do(GO)
    assert ada.saw(PostureChanged)[-1].posture is Posture.STANDING


def test_one_teleport_at_a_time(world: World, ada: Witness) -> None:
    """The second is refused by reference only, so that the first still ends as it ends.

    Spec: EFX-1
    """
    world.perform(ada.avatar_id, GO, world.now, "first")
    assert ada.do(asked.TeleportHome()) == Refused(reason="in_transit")
    assert ada.saw(TeleportFailed) == []
    ada.pass_time(4.0)
    assert [event.region for event in ada.saw(TeleportFinished)] == ["Annex"]


def close(world: World) -> None:
    """Take the annex down."""
    world.regions()[1].up = False


def fill(world: World) -> None:
    """Let nobody else into the annex."""
    world.regions()[1].capacity = 0


def ban(world: World) -> None:
    """Keep Ada out of the annex."""
    world.regions()[1].parcels[0].ban(world.avatars()[0])


@pytest.mark.parametrize(("trouble", "reason"), [(close, "region_down"), (fill, "region_full"), (ban, "no_access")])
@pytest.mark.parametrize("when", ["before", "on the way"])
def test_a_destination_that_does_not_take_the_avatar_fails_the_teleport(
    world: World, ada: Witness, trouble, reason: str, when: str
) -> None:
    """It fails at once, or on arrival when things changed on the way; the avatar stays where it was.

    Spec: EFX-1
    """
    if when == "before":
        trouble(world)
    else:
        world.call_at(world.now + 0.5, lambda: trouble(world))
    assert ada.do(GO) == Refused(reason=reason)
    assert [event.reason for event in ada.saw(TeleportFailed)] == [reason]
    assert world.position(ada.avatar_id) == Position(x=100.0, y=100.0, z=22.0)
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=101.0, y=100.0))), Confirmed)


def test_an_unknown_region_fails_at_once(ada: Witness) -> None:
    """The map knows no such name."""
    assert ada.do(asked.TeleportTo(region="Atlantis", position=THERE)) == Refused(reason="region_not_found")


def test_an_accepted_invitation_leads_to_where_it_was_sent_from(world: World, ada: Witness, dan: Witness) -> None:
    """The offer closes on arrival, at the inviter's place at the time of inviting.

    Spec: SIM-1, EFX-1
    """
    dan.do(asked.OfferTeleport(to=ada.avatar_id, message="come"))
    dan.do(asked.WalkTo(position=Position(x=150.0, y=100.0)))
    offer_id = ada.saw(TeleportOffered)[0].offer_id
    assert isinstance(ada.do(asked.AnswerTeleportOffer(offer_id=offer_id, accept=True)), Confirmed)
    assert world.position(ada.avatar_id) == Position(x=100.0, y=100.0, z=22.0)
    assert ada.saw(OfferClosed)[-1].accepted


def test_a_declined_invitation_closes_and_nobody_moves(ada: Witness, dan: Witness) -> None:
    """Declining is confirmed at once, once."""
    dan.do(asked.OfferTeleport(to=ada.avatar_id))
    decline = asked.AnswerTeleportOffer(offer_id=ada.saw(TeleportOffered)[0].offer_id, accept=False)
    assert isinstance(ada.do(decline), Confirmed)
    assert ada.do(decline) == Refused(reason="unknown_offer")
    assert ada.saw(TeleportFinished) == []


def test_a_gift_is_no_invitation(world: World, ada: Witness, dan: Witness) -> None:
    """Answering another kind of offer is refused."""
    world.perform(
        dan.avatar_id,
        asked.GiveItem(item_id=world.give(dan.avatar_id, name="Poem", kind="notecard"), to=ada.avatar_id),
        world.now,
    )
    (offer,) = world._state.offers.open_to(ada.avatar_id)
    assert ada.do(asked.AnswerTeleportOffer(offer_id=offer.offer_id, accept=True)) == Refused(reason="wrong_kind")


def test_logging_out_on_the_way_ends_the_teleport(world: World, ada: Witness) -> None:
    """Nobody arrives who has gone."""
    world.perform(ada.avatar_id, GO, world.now)
    ada.leave()
    world.advance(world.now + 10.0)
    assert world.next_timer() is None
    assert ada.saw(TeleportFinished) == []
