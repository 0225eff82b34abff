"""Building a world: regions, parcels, accounts and objects, before it begins or while it runs.

Owns what is asked of a builder; a builder needs no leave of anybody in the world, and nobody is told.
Called by `gridagent.grid.simulated.world`. Invariant: what cannot be built is refused with one sentence
that says how to mend it, and leaves no trace.
"""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.grid.simulated import building
from gridagent.grid.simulated.avatars import Account, Avatar, Place
from gridagent.grid.simulated.objects import Thing
from gridagent.grid.simulated.parcels import Land, Parcel
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import AVATARS_MAX, State
from gridagent.ids import AvatarId, ObjectId, ParcelId

__all__ = ("found_region", "lay_parcel", "open_account", "stand_object")


def found_region(state: State, region: Region, land: Land) -> None:
    """Put a region on the map, with a first parcel that covers all of it.

    Raises:
        OperatorError: the name or the ground is taken.
        LimitExceeded: the map is full, or the region has no or too long a side.
    """
    if not 1 <= region.size_m <= Region.SIZE_MAX:
        raise LimitExceeded(f"side of region {region.name} in metres", allowed=Region.SIZE_MAX, seen=region.size_m)
    state.atlas.add(region)
    lay_parcel(state, region, region.owner_id, land)


def lay_parcel(state: State, region: Region, owner_id: AvatarId, land: Land) -> Parcel:
    """Lay a parcel over a part of a region.

    Raises:
        LimitExceeded: the region has as many parcels as it can.
    """
    parcel = Parcel(parcel_id=ParcelId(state.ids()), owner_id=owner_id, land=land)
    region.add_parcel(parcel)
    return parcel


def open_account(state: State, account: Account) -> AvatarId:
    """Open an account; its home is the middle of the first region unless it says otherwise.

    Raises:
        OperatorError: the id is taken, there is no region to live in, or the home's region is unknown.
        LimitExceeded: the world has as many accounts as it can.
    """
    if len(state.avatars) >= AVATARS_MAX:
        raise LimitExceeded("avatars of the simulated world", allowed=AVATARS_MAX)
    avatar_id = account.avatar_id or AvatarId(state.ids())
    if avatar_id in state.avatars:
        raise OperatorError(f"avatar {avatar_id} is there already; give {account.name!r} another id")
    home = account.home
    if home is None:
        first = state.atlas.first_open()
        if first is None:
            raise OperatorError(f"{account.name!r} has nowhere to live; add a region with World.add_region first")
        home = Place(region=first.name, position=first.centre())
    else:
        state.region(home.region)
    state.avatars[avatar_id] = Avatar(
        avatar_id=avatar_id,
        name=account.name,
        scripted_agent=account.scripted_agent,
        home=home,
        last=home,
        balance=account.balance,
    )
    return avatar_id


def stand_object(
    state: State,
    region: str,
    owner_id: AvatarId,
    position: Position,
    thing: Thing,
    object_id: ObjectId | None,
) -> ObjectId:
    """Stand an object in a region.

    Raises:
        OperatorError: region or owner is unknown, the point is outside, or the id is taken.
        LimitExceeded: region or parcel has no room.
    """
    where = state.region(region)
    state.avatar(owner_id)
    if not where.contains(position):
        raise OperatorError(f"object {thing.name!r} would stand outside region {region!r}; move it")
    if object_id is not None and object_id in state.objects:
        raise OperatorError(f"object {object_id} is there already; give {thing.name!r} another id")
    if not where.has_prims(thing.prims) or not where.parcel_at(position).has_room(thing.prims):
        raise LimitExceeded(f"prims of region {region}", allowed=where.prim_limit)
    return building.place(state, where, owner_id, position, thing, object_id).object_id
