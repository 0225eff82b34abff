"""What the connected grid can do, as far as it shows once we are in (Spec: LIV-11).

Owns the one judgement from what a session knows to a `GridProfile`: tools for what a grid has not are not offered.
"""

from __future__ import annotations

from gridagent.events import GridProfile
from live_grid.addresses import host_of
from live_grid.backend.views import bots_allowed, name_of
from live_grid.world import World

__all__ = ("profile_of",)


def profile_of(world: World, login_url: str) -> GridProfile:
    """Make the profile of the grid we are in.

    Args:
        world: what is known.
        login_url: the operator's; its host is the grid's name.
    """
    return GridProfile(
        grid=name_of(host_of(login_url)),
        has_money=world.balance is not None,  # a grid without a money module does not answer
        has_inventory=bool(world.inventory.folders),
        has_build=True,
        has_upload=False,
        bots_allowed=bots_allowed(world.here),
    )
