"""The table of verbs and the grid's profile."""

from __future__ import annotations

import random

import pytest

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Position, Refused
from gridagent.events import GridProfile
from gridagent.grid.simulated import Account, World, WorldSettings
from gridagent.grid.simulated.verbs import HANDLERS
from gridagent.grid.simulated.witness import Witness
from gridagent.runtime.deterministic import simulated_ports

POOR = GridProfile(grid="Poor", has_money=False, has_inventory=False, has_build=False, has_upload=False)
ITEM = "00000000-0000-4000-8000-0000000000c1"


def test_every_action_has_a_handler() -> None:
    """The table covers the catalogue.

    Spec: SIM-1, EFX-1
    """
    assert set(HANDLERS) == set(ACTIONS)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (asked.PayAvatar(to=ITEM, amount=1), "no_money"),
        (asked.PayObject(object_id=ITEM, amount=1), "no_money"),
        (asked.CreateNotecard(name="Diary", text=""), "no_inventory"),
        (asked.CreateLandmark(name="Here"), "no_inventory"),
        (asked.GiveItem(item_id=ITEM, to=ITEM), "no_inventory"),
        (asked.RezObject(position=Position(x=1.0, y=1.0)), "no_build"),
        (asked.DeleteObject(object_id=ITEM), "no_build"),
        (asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64), "no_upload"),
    ],
)
def test_what_the_grid_cannot_do_is_refused_by_its_profile(action, reason: str) -> None:
    """A grid without money, inventory, building or uploads says so with a code.

    Spec: SIM-1, EFX-1
    """
    world = World(random.Random(1), simulated_ports(1).ids.uuid, settings=WorldSettings(profile=POOR))
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = Witness(world, world.add_avatar(Account(name="Ada")), now=1.0)
    assert ada.do(action) == Refused(reason=reason)
