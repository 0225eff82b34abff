"""Crossing a border on foot: a body goes on in the region beside, at once and without a teleport.

Owns the one way from region to region that nobody asks for as an action: who serves the world to walking clients sees
a body at a border and lets it cross. Rights and room are asked as for a teleport. Invariant: a body that may
not cross stays where it is, and nobody is told anything.
"""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.presence import arrive, depart
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import State

__all__ = ("cross",)


def cross(state: State, avatar: Avatar, body: Body, region: Region, position: Position) -> bool:
    """Put a body that is not teleporting into another region; tell whether it may go there."""
    if body.transit is not None or region is body.region or not region.up or not region.has_room():
        return False
    where = region.clamp(position)
    if not region.parcel_at(where).may_enter(avatar.avatar_id):
        return False
    depart(state, avatar, body)
    arrive(state, avatar, body, region, where, "crossing")
    return True
