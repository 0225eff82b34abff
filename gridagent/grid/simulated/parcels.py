"""Parcels: rectangles of a region with an owner and rights.

Owns who may build, enter and manage where; moves nobody. A region without parcels of its own has one
that covers it all and belongs to the region's owner. Invariant: every point of a region lies on exactly
one parcel, because later parcels are looked at first and the first covers everything.
"""

from __future__ import annotations

from typing import Annotated

import attrs
import msgspec
from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import ParcelView
from gridagent.ids import AvatarId, ParcelId
from gridagent.limits import Bounded, Name, ShortText

__all__ = ("Land", "Parcel")


class Land(Bounded, frozen=True, kw_only=True):
    """Where a parcel lies and what is allowed there; metres in the region frame."""

    name: Name = "Land"
    x: Annotated[float, Meta(ge=0)] = 0.0
    y: Annotated[float, Meta(ge=0)] = 0.0
    width: Annotated[float, Meta(gt=0, le=8192)] = 8192.0
    depth: Annotated[float, Meta(gt=0, le=8192)] = 8192.0
    description: ShortText = ""
    anybody_builds: bool = False
    runs_scripts: bool = True
    bots_allowed: bool = True
    prim_limit: Annotated[int, Meta(ge=0, le=100_000)] = 15_000
    managers: Annotated[tuple[AvatarId, ...], Meta(max_length=64)] = ()
    banned: Annotated[tuple[AvatarId, ...], Meta(max_length=256)] = ()


@attrs.define(eq=False, kw_only=True)
class Parcel:
    """One parcel of one region."""

    parcel_id: ParcelId
    owner_id: AvatarId
    land: Land
    prims: int = 0
    """Prims that stand on it now."""

    def covers(self, position: Position) -> bool:
        """Tell whether the point lies on this parcel."""
        land = self.land
        return land.x <= position.x < land.x + land.width and land.y <= position.y < land.y + land.depth

    def may_manage(self, avatar_id: AvatarId) -> bool:
        """Tell whether the avatar may return objects from here and eject people."""
        return avatar_id == self.owner_id or avatar_id in self.land.managers

    def may_build(self, avatar_id: AvatarId) -> bool:
        """Tell whether the avatar may put objects here."""
        return self.land.anybody_builds or self.may_manage(avatar_id)

    def may_enter(self, avatar_id: AvatarId) -> bool:
        """Tell whether the avatar is not banned here."""
        return avatar_id not in self.land.banned

    def has_room(self, prims: int = 1) -> bool:
        """Tell whether so many more prims fit."""
        return self.prims + prims <= self.land.prim_limit

    def ban(self, avatar_id: AvatarId) -> None:
        """Keep an avatar out from now on.

        Raises:
            LimitExceeded: the ban list is full.
        """
        if avatar_id not in self.land.banned:
            self.land = msgspec.structs.replace(self.land, banned=(*self.land.banned, avatar_id))

    def view(self, avatar_id: AvatarId) -> ParcelView:
        """Return the parcel as this avatar sees it."""
        land = self.land
        return ParcelView(
            parcel_id=self.parcel_id,
            name=land.name,
            owner_id=self.owner_id,
            may_build=self.may_build(avatar_id),
            may_run_scripts=land.runs_scripts,
            bots_allowed=land.bots_allowed,
            description=land.description,
        )
