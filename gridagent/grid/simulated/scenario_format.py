"""What a scenario file says: regions, avatars, objects, friendships, a timeline of incidents, faults.

Owns the words of the format and their bounds; checks no relation between them (that is
`gridagent.grid.simulated.scenario_check`) and builds nothing. Every avatar, object and region is known in
the file by its ``name``; ids follow from names unless they are written. Documented for users in
``docs/reference/scenario-format.md``; code that needs a world of its own may construct these structs
directly.

Invariant: everything here is closed (no unknown keys), bounded and immutable.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.grid.simulated.faults import Faults
from gridagent.grid.simulated.inhabitants.casting import AvatarRef, Spot
from gridagent.grid.simulated.inhabitants.registry import AvatarCharacter, ObjectCharacter
from gridagent.grid.simulated.scenario_incidents import Incident
from gridagent.grid.simulated.state import WorldSettings
from gridagent.ids import AvatarId, ItemId, ObjectId
from gridagent.limits import LINDEN_PER_PAYMENT_MAX, Bounded, Label, LongText, Name, ShortText

__all__ = ("AvatarSpec", "ItemSpec", "ObjectSpec", "ParcelSpec", "RegionSpec", "Scenario", "derived_id")

Linden: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
ENTRIES_MAX: Final = 1_024
"""Avatars, objects, friendships and incidents of one file, each."""


class _Part(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every part of the file."""


class ParcelSpec(_Part, frozen=True, kw_only=True):
    """A rectangle of a region with rights of its own; a later parcel lies on top of an earlier one."""

    name: Annotated[Name, Meta(min_length=1)]
    owner: AvatarRef | None = None
    """Null means the region's owner."""
    x: Annotated[float, Meta(ge=0.0, le=8192.0)] = 0.0
    y: Annotated[float, Meta(ge=0.0, le=8192.0)] = 0.0
    width: Annotated[float, Meta(gt=0.0, le=8192.0)]
    """Metres to the east of ``x``."""
    depth: Annotated[float, Meta(gt=0.0, le=8192.0)]
    """Metres to the north of ``y``."""
    description: ShortText = ""
    anybody_builds: bool = False
    runs_scripts: bool = True
    bots_allowed: bool = True
    prim_limit: Annotated[int, Meta(ge=0, le=100_000)] = 15_000
    managers: Annotated[tuple[AvatarRef, ...], Meta(max_length=64)] = ()
    """Who may return objects from here and eject people, beside the owner."""
    banned: Annotated[tuple[AvatarRef, ...], Meta(max_length=256)] = ()
    """Who may not enter."""


class RegionSpec(_Part, frozen=True, kw_only=True):
    """A square of land; ``x_m`` and ``y_m`` are the global metres of its south-west corner."""

    name: Annotated[Name, Meta(min_length=1, extra={"defines": "region"})]
    x_m: Annotated[int, Meta(ge=0, le=16_777_215)] = 256_000
    y_m: Annotated[int, Meta(ge=0, le=16_777_215)] = 256_000
    size_m: Annotated[int, Meta(ge=1, le=8_192)] = 256
    owner: AvatarRef | None = None
    """Null means the grid itself."""
    capacity: Annotated[int, Meta(ge=1, le=1_000)] = 100
    """Avatars that may be in it at once."""
    prim_limit: Annotated[int, Meta(ge=0, le=100_000)] = 15_000
    parcels: Annotated[tuple[ParcelSpec, ...], Meta(max_length=64)] = ()
    """None means one parcel that covers the region and belongs to its owner."""


class ItemSpec(_Part, frozen=True, kw_only=True):
    """An item of an avatar's inventory."""

    name: Annotated[Name, Meta(min_length=1)]
    item_id: ItemId | None = None
    kind: Annotated[Label, Meta(min_length=1)] = "object"
    """``object``, ``notecard``, ``landmark``, ``animation`` …; only objects can be put into the world."""
    may_copy: bool = True
    may_transfer: bool = True
    text: LongText = ""
    """What a notecard says."""


class AvatarSpec(_Part, frozen=True, kw_only=True):
    """An account. With a character it is an inhabitant; without one it waits for an agent to log in."""

    name: Annotated[Name, Meta(min_length=1, extra={"defines": "avatar"})]
    """How the file speaks of it, and what others see over its head unless ``shown_as`` is written."""
    avatar_id: AvatarId | None = None
    """Null means an id that follows from the names of the scenario and the avatar."""
    shown_as: Annotated[Name, Meta(min_length=1)] | None = None
    """Another name to be seen by; a twin without one shows a disguise of the name it imitates."""
    start: Spot
    home: Spot | None = None
    """Null means where it starts."""
    balance: Linden = 0
    """L$ at the start."""
    inventory: Annotated[tuple[ItemSpec, ...], Meta(max_length=256)] = ()
    scripted_agent: bool = False
    """Registered as a bot, as others can see."""
    character: AvatarCharacter | None = None


class ObjectSpec(_Part, frozen=True, kw_only=True):
    """Something that stands in a region."""

    name: Annotated[Name, Meta(min_length=1, extra={"defines": "object"})]
    object_id: ObjectId | None = None
    owner: AvatarRef
    position: Spot
    description: ShortText = ""
    price: Annotated[int, Meta(ge=0, le=LINDEN_PER_PAYMENT_MAX)] | None = None
    """L$ for a copy of it; null means it is not for sale."""
    payable: bool = False
    """A tip jar: takes any amount for its owner."""
    sittable: bool = False
    touchable: bool | None = None
    """Null means that it takes touches when it has a character."""
    may_copy: bool = True
    may_transfer: bool = True
    prims: Annotated[int, Meta(ge=1, le=1_000)] = 1
    character: ObjectCharacter | None = None


class Scenario(_Part, frozen=True, kw_only=True):
    """One world and its story."""

    name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9-]{0,63}\Z")]
    """Lower-case letters, digits and hyphens; part of every id that is not written."""
    description: ShortText = ""
    seed: Annotated[int, Meta(ge=0, le=2**53)] = 0
    """Decides every chance in the world, unless whoever runs it gives another."""
    grid: WorldSettings = WorldSettings()
    """What the grid can do, how fast people walk, how long a teleport takes."""
    regions: Annotated[tuple[RegionSpec, ...], Meta(min_length=1, max_length=256)]
    avatars: Annotated[tuple[AvatarSpec, ...], Meta(min_length=1, max_length=ENTRIES_MAX)]
    objects: Annotated[tuple[ObjectSpec, ...], Meta(max_length=ENTRIES_MAX)] = ()
    friendships: Annotated[tuple[tuple[AvatarRef, AvatarRef], ...], Meta(max_length=ENTRIES_MAX)] = ()
    incidents: Annotated[tuple[Incident, ...], Meta(max_length=ENTRIES_MAX)] = ()
    faults: Faults = Faults()
    """How every agent's connection misbehaves by chance; the default is a perfect one."""

    def avatar(self, name: str) -> AvatarSpec | None:
        """Return the avatar the file calls ``name``, or None."""
        return next((spec for spec in self.avatars if spec.name == name), None)

    def agents(self) -> tuple[AvatarSpec, ...]:
        """Return the accounts that wait for an agent to log in."""
        return tuple(spec for spec in self.avatars if spec.character is None)

    def avatar_id(self, spec: AvatarSpec) -> AvatarId:
        """Return the avatar's id: the written one, or the one that follows from the names."""
        return spec.avatar_id or AvatarId(derived_id(self.name, "avatar", spec.name))

    def object_id(self, spec: ObjectSpec) -> ObjectId:
        """Return the object's id: the written one, or the one that follows from the names."""
        return spec.object_id or ObjectId(derived_id(self.name, "object", spec.name))


def derived_id(scenario: str, kind: str, *names: str) -> str:
    """Return the UUID (version 8) of a thing of a scenario; it depends on the names and on nothing else."""
    digest = hashlib.sha256("\0".join(("gridagent scenario", scenario, kind, *names)).encode()).hexdigest()
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
