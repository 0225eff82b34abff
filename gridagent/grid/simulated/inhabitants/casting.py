"""Who plays with whom: the base of every character's parameters, and the cast that resolves names.

Owns the reference types a scenario file writes (names of avatars, objects and regions) and the one place
where they become ids. Characters get a `Cast` once, when they are made, and keep ids from then on: a name
is never compared while the world runs, because names can be imitated (Spec: POL-4, Fault: 14).
Called by `gridagent.grid.simulated.scenario_build` and by tests.

Invariant: a name that the scenario's checks let through is in the cast; one that is not gives one clear
`ConfigError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.errors import ConfigError, ConfigProblem
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import Bounded, ChatText, Name

__all__ = (
    "AvatarRef",
    "AvatarRefs",
    "Cast",
    "CharacterParams",
    "Line",
    "Lines",
    "ObjectRef",
    "Person",
    "RegionRef",
    "Seconds",
    "Share",
    "Spot",
    "Thing",
)

AvatarRef: TypeAlias = Annotated[
    Name, Meta(min_length=1, extra={"refers_to": "avatar"}, description="the name of an avatar")
]
"""Name of an avatar of the same scenario."""
AvatarRefs: TypeAlias = Annotated[tuple[AvatarRef, ...], Meta(max_length=64)]
ObjectRef: TypeAlias = Annotated[
    Name, Meta(min_length=1, extra={"refers_to": "object"}, description="the name of an object")
]
"""Name of an object of the same scenario."""
RegionRef: TypeAlias = Annotated[
    Name, Meta(min_length=1, extra={"refers_to": "region"}, description="the name of a region")
]
"""Name of a region of the same scenario."""
Line: TypeAlias = Annotated[ChatText, Meta(min_length=1, description="a line of 1 to 1,023 bytes")]
"""One thing to say; ``{name}`` stands for the person spoken to."""
Lines: TypeAlias = Annotated[tuple[Line, ...], Meta(min_length=1, max_length=64)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0.5, le=86_400.0, description="seconds, 0.5 to 86,400")]
"""A mean pause in simulated seconds; characters vary it by two fifths."""
Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0, description="a share, 0 to 1")]
"""A part of one: 0 is never, 1 is always."""


class CharacterParams(Bounded, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """Base of what a scenario file may say about one character; the key ``kind`` chooses it."""


class Spot(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A point in a region, in metres from its south-west corner at sea floor."""

    region: RegionRef
    x: Annotated[float, Meta(ge=0.0, le=8192.0)]
    y: Annotated[float, Meta(ge=0.0, le=8192.0)]
    z: Annotated[float, Meta(ge=0.0, le=4096.0)] = 22.0


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """An avatar of the cast: its id, and the name others see over its head."""

    avatar_id: AvatarId
    shown_as: str


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """An object of the cast."""

    object_id: ObjectId
    name: str
    price: int | None = None


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """Everybody and everything of a scenario that has a name, by that name."""

    people: Mapping[str, Person]
    things: Mapping[str, Thing] = {}

    def person(self, name: str) -> Person:
        """Return the avatar the scenario calls ``name``.

        Raises:
            ConfigError: the scenario has no such avatar.
        """
        found = self.people.get(name)
        if found is None:
            raise _unknown("avatar", name)
        return found

    def persons(self, names: tuple[str, ...]) -> tuple[Person, ...]:
        """Return several avatars, in order."""
        return tuple(self.person(name) for name in names)

    def thing(self, name: str) -> Thing:
        """Return the object the scenario calls ``name``.

        Raises:
            ConfigError: the scenario has no such object.
        """
        found = self.things.get(name)
        if found is None:
            raise _unknown("object", name)
        return found


def _unknown(kind: str, name: str) -> ConfigError:
    problem = ConfigProblem(
        path="$",
        what=f"a character speaks of an {kind} that is not there",
        shape=ascii(name[:64]),
        mend=f"add the {kind}",
    )
    return ConfigError((problem,), source="scenario")
