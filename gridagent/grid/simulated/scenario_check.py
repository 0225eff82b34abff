"""What one part of a scenario owes to another: names that exist, ids that differ, places that are inside.

Owns the rules that no single value can break alone. Called by `gridagent.grid.simulated.scenario` with
everything that could be decoded, also when something could not: a file with a bad number still learns
about its unknown names in the same message. Invariant: a part that could not be decoded never makes
another part look wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gridagent.errors import ConfigProblem
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.owner import Errand, OwnerParams
from gridagent.grid.simulated.inhabitants.talking_object import Dialog, TalkingObjectParams
from gridagent.grid.simulated.scenario_format import AvatarSpec, ItemSpec, ObjectSpec, RegionSpec, Scenario
from gridagent.grid.simulated.scenario_incidents import Disconnect, Flood, Stall
from gridagent.grid.simulated.scenario_json import Decoded, Mention
from gridagent.grid.simulated.scenario_leaves import quoted
from gridagent.grid.simulated.state import WorldSettings

__all__ = ("check",)

COMPARED_MAX: Final = 256
"""Regions compared with each other; more are refused for their number."""
TELEPORT_MAX_S: Final = 600.0
Parts = Sequence[tuple[str, msgspec.Struct]]


def check(decoded: Decoded[Scenario]) -> Iterator[ConfigProblem]:
    """Yield every broken relation among the parts of one file."""
    yield from _defined_once(decoded.defined)
    yield from _known(decoded.defined, decoded.used)
    yield from _ids_differ(decoded.parts)
    yield from _regions_apart(decoded.parts)
    yield from _parcels_inside(decoded.parts)
    yield from _spots_inside(decoded.parts)
    yield from _teleport_times(decoded.parts)
    yield from _buttons(decoded.parts)
    yield from _owners(decoded.parts)
    if decoded.value is not None:
        yield from _friendships(decoded.value)
        yield from _agents(decoded.value)
        yield from _connections(decoded.value)
        yield from _prims(decoded.value)


def _problem(path: str, what: str, mend: str, shape: str = "") -> ConfigProblem:
    return ConfigProblem(path=path, what=what, shape=shape, mend=mend)


def _key(kind: str, name: str) -> tuple[str, str]:
    """Regions are known without regard to case, as on a grid's map."""
    return kind, name.casefold() if kind == "region" else name


def _defined_once(defined: Sequence[Mention]) -> Iterator[ConfigProblem]:
    first: dict[tuple[str, str], str] = {}
    for mention in defined:
        key = _key(mention.kind, mention.name)
        if key in first:
            what = f"the {mention.kind} {quoted(mention.name)} is there already, at {first[key]}"
            yield _problem(mention.path, what, "give one of them another name")
        first.setdefault(key, mention.path)


def _known(defined: Sequence[Mention], used: Sequence[Mention]) -> Iterator[ConfigProblem]:
    known = {_key(mention.kind, mention.name) for mention in defined}
    for mention in used:
        if _key(mention.kind, mention.name) not in known:
            what = f"no {mention.kind} of this scenario is called {quoted(mention.name)}"
            yield _problem(mention.path, what, f"name one of its {mention.kind}s, or add it")


_ID_FIELDS: Final = {AvatarSpec: "avatar_id", ObjectSpec: "object_id", ItemSpec: "item_id"}


def _ids_differ(parts: Parts) -> Iterator[ConfigProblem]:
    first: dict[str, str] = {}
    for path, part in parts:
        field = _ID_FIELDS.get(type(part))
        written: str | None = getattr(part, field) if field is not None else None
        if written is None:
            continue
        here = f"{path}.{field}"
        if written in first:
            yield _problem(here, f"the id {written} is used already, at {first[written]}", "write another, or none")
        first.setdefault(written, here)


def _regions_apart(parts: Parts) -> Iterator[ConfigProblem]:
    regions = [(path, part) for path, part in parts if isinstance(part, RegionSpec)][:COMPARED_MAX]
    for index, (path, region) in enumerate(regions):
        for other_path, other in regions[:index]:
            if (
                region.x_m < other.x_m + other.size_m
                and other.x_m < region.x_m + region.size_m
                and region.y_m < other.y_m + other.size_m
                and other.y_m < region.y_m + region.size_m
            ):
                what = f"the region {quoted(region.name)} overlaps {quoted(other.name)} at {other_path}"
                shape = f"{region.size_m} m at ({region.x_m}, {region.y_m})"
                yield _problem(path, what, "move one of them, or make it smaller", shape)


def _parcels_inside(parts: Parts) -> Iterator[ConfigProblem]:
    for path, region in parts:
        if not isinstance(region, RegionSpec):
            continue
        for index, parcel in enumerate(region.parcels):
            if parcel.x + parcel.width > region.size_m or parcel.y + parcel.depth > region.size_m:
                shape = f"{parcel.width:g} by {parcel.depth:g} m at ({parcel.x:g}, {parcel.y:g})"
                what = f"the parcel reaches out of its region of {region.size_m} m"
                yield _problem(f"{path}.parcels[{index}]", what, "move it, or make it smaller", shape)


def _spots_inside(parts: Parts) -> Iterator[ConfigProblem]:
    sizes = {part.name.casefold(): part.size_m for _, part in parts if isinstance(part, RegionSpec)}
    for path, spot in parts:
        if not isinstance(spot, Spot):
            continue
        size = sizes.get(spot.region.casefold())
        if size is not None and not (spot.x < size and spot.y < size):
            what = f"the point lies outside {quoted(spot.region)}, which is {size} m wide"
            yield _problem(path, what, f"keep x and y below {size}", f"({spot.x:g}, {spot.y:g})")


def _teleport_times(parts: Parts) -> Iterator[ConfigProblem]:
    for path, part in parts:
        if isinstance(part, WorldSettings):
            low, high = part.teleport_s
            if not 0 <= low <= high <= TELEPORT_MAX_S:
                what = "a teleport takes from the first to the second number of seconds"
                mend = f"write two numbers from 0 to {TELEPORT_MAX_S:g}, the smaller one first"
                yield _problem(f"{path}.teleport_s", what, mend, f"[{low:g}, {high:g}]")


def _buttons(parts: Parts) -> Iterator[ConfigProblem]:
    for path, part in parts:
        if isinstance(part, Dialog):
            if len(set(part.buttons)) < len(part.buttons):
                yield _problem(f"{path}.buttons", "a button is there twice", "give every button its own text")
            if len(part.answers) > len(part.buttons):
                shape = f"{len(part.answers)} answers for {len(part.buttons)} buttons"
                yield _problem(f"{path}.answers", "there are more answers than buttons", "remove some answers", shape)
        if isinstance(part, TalkingObjectParams) and part.pushes and not part.targets:
            yield _problem(f"{path}.targets", "the object pushes, but on nobody", "name at least one avatar")


def _owners(parts: Parts) -> Iterator[ConfigProblem]:
    for path, part in parts:
        if isinstance(part, OwnerParams) and part.errands != tuple(Errand):
            for errand, field, value in ((Errand.SIT, "seat", part.seat), (Errand.TIP, "payee", part.payee)):
                if errand in part.errands and value is None:
                    yield _problem(f"{path}.{field}", f'the errand "{errand.value}" needs it', "name one")


def _friendships(scenario: Scenario) -> Iterator[ConfigProblem]:
    first: dict[frozenset[str], str] = {}
    for index, pair in enumerate(scenario.friendships):
        path = f"$.friendships[{index}]"
        key = frozenset(pair)
        if len(key) == 1:
            yield _problem(path, f"{quoted(pair[0])} cannot be its own friend", "name two avatars")
        elif key in first:
            yield _problem(path, f"the same two are friends already, at {first[key]}", "keep one of them")
        first.setdefault(key, path)


def _agents(scenario: Scenario) -> Iterator[ConfigProblem]:
    if not scenario.agents():
        what = "every avatar has a character, so that no agent can log in"
        yield _problem("$.avatars", what, 'add one without the key "character"')


def _connections(scenario: Scenario) -> Iterator[ConfigProblem]:
    inhabitants = {spec.name for spec in scenario.avatars if spec.character is not None}
    for index, incident in enumerate(scenario.incidents):
        if isinstance(incident, Disconnect | Stall | Flood) and incident.avatar in inhabitants:
            what = f"{quoted(incident.avatar)} is an inhabitant, who has no connection that this could befall"
            yield _problem(f"$.incidents[{index}].avatar", what, "name an avatar without a character")


def _prims(scenario: Scenario) -> Iterator[ConfigProblem]:
    """Count what stands where, as the world does: on the last parcel over the point, and in the region."""
    regions = {region.name.casefold(): (index, region) for index, region in enumerate(scenario.regions)}
    stand: dict[tuple[str, int], int] = {}
    for thing in scenario.objects:
        found = regions.get(thing.position.region.casefold())
        if found is None:
            continue
        index, region = found
        path = f"$.regions[{index}]"
        holders = [(path, region.prim_limit)]
        for number, parcel in reversed(tuple(enumerate(region.parcels))):
            if (
                parcel.x <= thing.position.x < parcel.x + parcel.width
                and parcel.y <= thing.position.y < parcel.y + parcel.depth
            ):
                holders.append((f"{path}.parcels[{number}]", parcel.prim_limit))
                break
        for holder in holders:
            stand[holder] = stand.get(holder, 0) + thing.prims
    for (path, limit), prims in stand.items():
        if prims > limit:
            what = f"objects of {prims} prims stand here, and {limit} may"
            yield _problem(f"{path}.prim_limit", what, "raise the limit, or remove objects")
