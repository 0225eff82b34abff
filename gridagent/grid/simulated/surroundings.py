"""Looking round: who and what is near a point, nearest first.

Owns the reads; changes nothing. Looks at one region only and returns at most `NEAR_MAX` of each.
"""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.events import AvatarView, ObjectView
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import NEAR_MAX, State, distance_m

__all__ = ("avatars_near", "objects_near")


def avatars_near(state: State, region: Region, here: Position, me: str) -> tuple[AvatarView, ...]:
    """Return the others in a region; those equally far stay in the order in which they came."""
    found = []
    for avatar in region.avatars.values():
        if avatar.avatar_id != me and avatar.body is not None:
            there = avatar.body.position_at(state.now)
            found.append(avatar.view(there, distance_m(here, there)))
    found.sort(key=lambda view: view.distance_m)
    return tuple(found[:NEAR_MAX])


def objects_near(region: Region, here: Position, me: str) -> tuple[ObjectView, ...]:
    """Return the things in a region but ``me``; those equally far stay in the order in which they came."""
    things = [thing for thing in region.objects.values() if thing.object_id != me]
    things.sort(key=lambda thing: distance_m(here, thing.position))
    return tuple(thing.view() for thing in things[:NEAR_MAX])
