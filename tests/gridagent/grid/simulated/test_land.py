"""Sending somebody off a parcel."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Refused
from gridagent.events import AlertShown, RegionEntered, TeleportFailed
from gridagent.grid.simulated import Land, Place, World
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId

NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")


def test_who_is_ejected_goes_elsewhere_and_stays_out(world: World, ada: Witness, ben: Witness) -> None:
    """The ejected avatar is told, finds itself in another region, and cannot come back to the parcel.

    Spec: SIM-1, EFX-1
    """
    assert isinstance(ada.do(asked.EjectAvatar(avatar_id=ben.avatar_id)), Confirmed)
    assert (ben.saw(RegionEntered)[-1].region, ben.saw(RegionEntered)[-1].how) == ("Annex", "ejected")
    assert ben.saw(AlertShown)[0].modal
    back = ben.do(asked.TeleportTo(region="Plaza", position=Position(x=1.0, y=1.0)))
    assert back == Refused(reason="no_access")


def test_the_ejected_go_home_when_home_is_elsewhere(world: World, ada: Witness, dan: Witness) -> None:
    """Home comes before any other region; a teleport under way is off."""
    dan.do(asked.TeleportTo(region="Plaza", position=Position(x=50.0, y=50.0)))
    world.avatar(dan.avatar_id).home = Place(region="Annex", position=Position(x=77.0, y=77.0))
    world.perform(dan.avatar_id, asked.TeleportTo(region="Plaza", position=Position(x=9.0, y=9.0)), world.now)
    assert isinstance(ada.do(asked.EjectAvatar(avatar_id=dan.avatar_id)), Confirmed)
    assert world.position(dan.avatar_id) == Position(x=77.0, y=77.0, z=22.0)
    dan.pass_time(10.0)
    assert world.position(dan.avatar_id) == Position(x=77.0, y=77.0, z=22.0)
    assert dan.saw(TeleportFailed) == []


def test_only_who_manages_the_land_under_somebody_else_ejects_them(
    world: World, ada: Witness, ben: Witness, dan: Witness
) -> None:
    """Strangers, oneself, people elsewhere and people on other land are refused.

    Spec: SIM-1, EFX-1
    """
    outcomes = [
        ada.do(asked.EjectAvatar(avatar_id=NOBODY)),
        ada.do(asked.EjectAvatar(avatar_id=ada.avatar_id)),
        ada.do(asked.EjectAvatar(avatar_id=dan.avatar_id)),
        ben.do(asked.EjectAvatar(avatar_id=ada.avatar_id)),
    ]
    world.add_parcel("Plaza", owner_id=ben.avatar_id, land=Land(name="Ben's", width=256, depth=256))
    outcomes.append(ada.do(asked.EjectAvatar(avatar_id=ben.avatar_id)))
    assert outcomes == [
        Refused(reason=reason)
        for reason in ("unknown_avatar", "not_yourself", "not_here", "no_land_rights", "no_land_rights")
    ]


def test_nobody_is_ejected_into_nowhere(world: World, ada: Witness, ben: Witness) -> None:
    """Without another open region, or with a full ban list, it is refused and nothing changes."""
    parcel = world.regions()[0].parcels[0]
    for number in range(256):
        parcel.ban(AvatarId(f"00000000-0000-4000-8000-{number + 100:012d}"))
    assert ada.do(asked.EjectAvatar(avatar_id=ben.avatar_id)) == Refused(reason="ban_list_full")
    world.regions()[1].up = False
    assert ada.do(asked.EjectAvatar(avatar_id=ben.avatar_id)) == Refused(reason="nowhere_to_send")
    assert world.position(ben.avatar_id) == Position(x=100.0, y=100.0, z=22.0)
