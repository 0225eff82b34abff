"""What we know of the world: regions with their avatars and objects, and what belongs to us alone.

Owns the tables and their bounds; knows no message. Everything is keyed by its sixteen bytes of UUID; a local id is an
alias that its region may give to something else at any time. A `Region` lives as long as its circuit, so that a
neighbour is known before we cross into it; one of them is `here`. Records are changed by the reducers only.

Invariant: whatever comes in, no table passes its ceiling, and an alias leads to the thing it named last (Spec: LIV-5).
"""

from __future__ import annotations

from typing import Final

import msgspec

from live_grid.messages import NIL
from live_grid.world.bounds import (
    AVATARS_MAX,
    NAMES_ASKED_MAX,
    NAMES_MAX,
    OBJECTS_MAX,
    OBJECTS_WANTED_MAX,
    REGIONS_MAX,
)
from live_grid.world.inventory import Inventory
from live_grid.world.offers import Offers
from live_grid.world.packed import ORIGIN, Motion, Vector

__all__ = ("Avatar", "Details", "Parcel", "Region", "Thing", "World")

REGION_SIZE: Final = 256
_REST: Final = Motion()


class Details(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What an object says of itself when asked."""

    name: str
    description: str
    owner_id: bytes
    group_id: bytes
    owner_mask: int
    everyone_mask: int
    sale_type: int
    """0 is not for sale."""
    sale_price: int


class Thing(msgspec.Struct, gc=False, kw_only=True):
    """An object of a region."""

    object_id: bytes
    local_id: int
    parent: int = 0
    """Local id of what it is linked or attached to."""
    pcode: int = 0
    state: int = 0
    click_action: int = 0
    flags: int = 0
    scale: Vector = ORIGIN
    motion: Motion = _REST
    hover_text: str = ""
    details: Details | None = None


class Avatar(msgspec.Struct, gc=False, kw_only=True):
    """An avatar of a region, ourselves included."""

    avatar_id: bytes
    name: str = ""
    local_id: int = 0
    """0 while it is known from the coarse list only."""
    seat: int = 0
    """Local id of what it sits on."""
    motion: Motion = _REST
    coarse: bool = True
    """Its position is a guess, from a raster of metres."""
    missed: int = 0
    """Coarse lists in a row that left it out."""


class Parcel(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A parcel of land."""

    local_id: int
    name: str
    description: str
    owner_id: bytes
    group_id: bytes
    group_owned: bool
    flags: int
    area: int
    sequence: int
    """The number it was asked with; the grid's own notices are 0 or below."""


class Region:
    """One region, as seen through its circuit.

    Args:
        handle: its place in the grid; 0 until it is known.
        size_x: metres.
        size_y: metres.
    """

    __slots__ = (
        "_alias",
        "access",
        "avatars",
        "described",
        "flags",
        "handle",
        "name",
        "objects",
        "objects_evicted",
        "owner_id",
        "product",
        "region_id",
        "size_x",
        "size_y",
        "wanted",
        "we_manage",
    )

    def __init__(self, *, handle: int = 0, size_x: int = REGION_SIZE, size_y: int = REGION_SIZE) -> None:
        self.handle = handle
        self.size_x = size_x
        self.size_y = size_y
        self.described = False
        """Its handshake has come."""
        self.name = ""
        self.region_id = NIL
        self.owner_id = NIL
        self.flags = 0
        self.access = 0
        self.product = ""
        self.we_manage = False
        self.avatars: dict[bytes, Avatar] = {}
        self.objects: dict[bytes, Thing] = {}
        self.objects_evicted = 0
        """Objects that made room for others."""
        self.wanted: dict[bytes, None] = {}
        """Objects still to be asked about, oldest wish first."""
        self._alias: dict[int, Avatar | Thing] = {}

    @property
    def origin(self) -> tuple[int, int]:
        """Metres from the grid's corner to the region's."""
        return self.handle >> 32, self.handle & 0xFFFF_FFFF

    def by_local(self, local_id: int) -> Avatar | Thing | None:
        """Find what a local id names now."""
        return self._alias.get(local_id)

    def local_of(self, uuid: bytes) -> int | None:
        """Find the local id of an object or avatar."""
        found = self.objects.get(uuid) or self.avatars.get(uuid)
        return found.local_id or None if found is not None else None

    def call(self, one: Avatar | Thing, local_id: int) -> None:
        """Give a local id to an avatar or object, which loses the one it had."""
        if one.local_id != local_id and self._alias.get(one.local_id) is one:
            del self._alias[one.local_id]
        other = self._alias.get(local_id)
        if other is not None and other is not one:
            other.local_id = 0
        one.local_id = local_id
        self._alias[local_id] = one

    # --- avatars -------------------------------------------------------------------------------
    def add_avatar(self, avatar_id: bytes) -> Avatar | None:
        """Take an avatar in; none if there are too many, so that a crowd pushes nobody out."""
        if len(self.avatars) >= AVATARS_MAX:
            return None
        avatar = self.avatars[avatar_id] = Avatar(avatar_id=avatar_id)
        return avatar

    def drop_avatar(self, avatar: Avatar) -> None:
        """Forget an avatar."""
        self.avatars.pop(avatar.avatar_id, None)
        self._forget_alias(avatar)

    # --- objects -------------------------------------------------------------------------------
    def add_object(self, object_id: bytes, local_id: int) -> Thing:
        """Take an object in; the one that is known longest makes room."""
        if len(self.objects) >= OBJECTS_MAX:
            self.objects_evicted += 1
            self.drop_object(next(iter(self.objects.values())))
        thing = self.objects[object_id] = Thing(object_id=object_id, local_id=0)
        self.call(thing, local_id)
        return thing

    def drop_object(self, thing: Thing) -> None:
        """Forget an object."""
        self.objects.pop(thing.object_id, None)
        self.wanted.pop(thing.object_id, None)
        self._forget_alias(thing)

    def _forget_alias(self, one: Avatar | Thing) -> None:
        if self._alias.get(one.local_id) is one:
            del self._alias[one.local_id]

    def want(self, object_id: bytes) -> None:
        """Note that an object is to be asked about."""
        if len(self.wanted) >= OBJECTS_WANTED_MAX:
            del self.wanted[next(iter(self.wanted))]
        self.wanted[object_id] = None

    def position_of(self, one: Avatar | Thing) -> Vector:
        """Tell where something is in the region, also while it sits or is linked."""
        parent = self._alias.get(one.seat if isinstance(one, Avatar) else one.parent)
        if parent is None or parent is one or (isinstance(one, Avatar) and one.coarse):
            return one.motion.position
        return _placed(one.motion.position, parent.motion)


def _placed(offset: Vector, base: Motion) -> Vector:
    """Turn an offset by the rotation of what it hangs on, and add it."""
    x, y, z, w = base.rotation
    ox, oy, oz = offset
    tx, ty, tz = 2.0 * (y * oz - z * oy), 2.0 * (z * ox - x * oz), 2.0 * (x * oy - y * ox)
    px, py, pz = base.position
    return (
        px + ox + w * tx + (y * tz - z * ty),
        py + oy + w * ty + (z * tx - x * tz),
        pz + oz + w * tz + (x * ty - y * tx),
    )


class World:
    """Everything one session knows.

    Args:
        agent_id: ourselves.
        name: as the login told it.
    """

    __slots__ = (
        "agent_id",
        "animations",
        "balance",
        "friends",
        "here",
        "inventory",
        "name",
        "names",
        "names_wanted",
        "offers",
        "parcel",
        "regions",
    )

    def __init__(self, agent_id: bytes, name: str = "") -> None:
        self.agent_id = agent_id
        self.name = name
        self.here = Region()
        """Where we are; empty before we arrive anywhere."""
        self.regions: list[Region] = []
        """Every region with a circuit."""
        self.parcel: Parcel | None = None
        """Under our feet."""
        self.names: dict[bytes, str] = {}
        self.names_wanted: dict[bytes, None] = {}
        """Avatars whose name is still to be asked."""
        self.friends: dict[bytes, bool] = {}
        """Friends, and whether they are online."""
        self.offers = Offers()
        self.inventory = Inventory()
        self.balance: int | None = None
        self.animations: frozenset[bytes] = frozenset()
        """What we play."""

    @property
    def me(self) -> Avatar | None:
        """Our own avatar, once the region showed it."""
        return self.here.avatars.get(self.agent_id)

    @property
    def position(self) -> Vector:
        """Where we are in our region."""
        me = self.me
        return ORIGIN if me is None else self.here.position_of(me)

    def open_region(self, region: Region) -> bool:
        """Take a region in; False if there are too many."""
        if len(self.regions) >= REGIONS_MAX:
            return False
        self.regions.append(region)
        return True

    def close_region(self, region: Region) -> None:
        """Forget a region: its circuit is over."""
        if region in self.regions:
            self.regions.remove(region)

    def enter(self, region: Region) -> None:
        """Be in a region from now on; the parcel of the old one says nothing any more."""
        if region is not self.here:
            self.here = region
            self.parcel = None

    def learn_name(self, avatar_id: bytes, name: str) -> bool:
        """Keep a name; tell whether it is new."""
        self.names_wanted.pop(avatar_id, None)
        if not name or self.names.get(avatar_id) == name:
            return False
        if avatar_id not in self.names and len(self.names) >= NAMES_MAX:
            del self.names[next(iter(self.names))]
        self.names[avatar_id] = name
        return True

    def want_name(self, avatar_id: bytes) -> None:
        """Note that a name is to be asked, if it isn't known."""
        if avatar_id not in self.names and avatar_id != NIL and len(self.names_wanted) < NAMES_ASKED_MAX:
            self.names_wanted[avatar_id] = None
