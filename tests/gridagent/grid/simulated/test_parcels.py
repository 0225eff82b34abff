"""Rights on land."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.errors import LimitExceeded
from gridagent.grid.simulated import Land
from gridagent.grid.simulated.parcels import Parcel
from gridagent.ids import AvatarId, ParcelId

OWNER, MANAGER, GUEST = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in (1, 2, 3))


def a_parcel(**land: object) -> Parcel:
    """Return the owner's parcel, 100 m square at (50, 50)."""
    where = {"x": 50, "y": 50, "width": 100, "depth": 100, "managers": (MANAGER,)}
    return Parcel(
        parcel_id=ParcelId("00000000-0000-4000-8000-0000000000aa"), owner_id=OWNER, land=Land(**{**where, **land})
    )


def test_rights_follow_ownership_management_and_openness() -> None:
    """Owner and managers manage and build; others build where anybody may.

    Spec: SIM-1
    """
    closed, open_ = a_parcel(), a_parcel(anybody_builds=True)
    assert [closed.may_manage(who) for who in (OWNER, MANAGER, GUEST)] == [True, True, False]
    assert [closed.may_build(who) for who in (OWNER, MANAGER, GUEST)] == [True, True, False]
    assert open_.may_build(GUEST)
    assert not open_.may_manage(GUEST)


def test_a_parcel_covers_its_rectangle_only() -> None:
    """West and south borders belong to it, east and north ones don't."""
    parcel = a_parcel()
    inside = [Position(x=50.0, y=50.0), Position(x=149.9, y=149.9)]
    outside = [Position(x=150.0, y=60.0), Position(x=60.0, y=49.9)]
    assert all(map(parcel.covers, inside))
    assert not any(map(parcel.covers, outside))


def test_a_ban_keeps_out_and_the_list_is_bounded() -> None:
    """Banning twice is as once; the 257th name is refused."""
    parcel = a_parcel()
    assert parcel.may_enter(GUEST)
    parcel.ban(GUEST)
    parcel.ban(GUEST)
    assert not parcel.may_enter(GUEST)
    assert parcel.land.banned == (GUEST,)
    for number in range(255):
        parcel.ban(AvatarId(f"00000000-0000-4000-8000-{number + 100:012d}"))
    with pytest.raises(LimitExceeded):
        parcel.ban(AvatarId("00000000-0000-4000-8000-000000000999"))


def test_the_view_tells_what_this_avatar_may_do() -> None:
    """Two avatars see the same parcel with different rights."""
    parcel = a_parcel(name="Garden", bots_allowed=False, prim_limit=2)
    views = [parcel.view(who) for who in (OWNER, GUEST)]
    assert [view.may_build for view in views] == [True, False]
    assert [view.bots_allowed for view in views] == [False, False]
    parcel.prims = 1
    assert parcel.has_room()
    assert not parcel.has_room(2)
