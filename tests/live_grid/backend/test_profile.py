"""What the connected grid can do."""

from __future__ import annotations

from live_grid.backend.profile import profile_of
from live_grid.world import World
from live_grid.world.inventory import Inventory
from tests.live_grid.backend.hands import BEN
from tests.live_grid.handover.fake_grid import ME


def test_a_grid_has_what_it_has_shown() -> None:
    """Money if it told a balance, inventory if it named folders, bots unless the region denies them. Spec: LIV-11."""
    world = World(ME)
    bare = profile_of(world, "http://grid.example:8002/")
    assert (bare.grid, bare.has_money, bare.has_inventory, bare.has_upload) == ("grid.example", False, False, False)
    world.balance = 0
    world.inventory = Inventory()
    world.inventory.folders.append(BEN)
    world.here.flags = 0x8000_0000
    rich = profile_of(world, "")
    assert (rich.grid, rich.has_money, rich.has_inventory, rich.bots_allowed) == ("", True, True, False)
