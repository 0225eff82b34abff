"""Looking round."""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.grid.simulated import Account, Place, Thing, World
from gridagent.grid.simulated.state import NEAR_MAX
from gridagent.grid.simulated.witness import Witness


def test_people_and_things_come_nearest_first(world: World, ada: Witness) -> None:
    """Distances are from where the looker is; the looker is not among them.

    Spec: SIM-1
    """
    for number, x in enumerate((130.0, 101.0, 110.0)):
        home = Place(region="Plaza", position=Position(x=x, y=100.0))
        Witness(world, world.add_avatar(Account(name=f"Guest {number}", home=home)))
        world.add_object(
            "Plaza", owner_id=ada.avatar_id, position=Position(x=x, y=100.0), thing=Thing(name=f"Thing {number}")
        )
    assert [(view.name, view.distance_m) for view in world.avatars_near(ada.avatar_id)] == [
        *(("Guest 1", 1.0), ("Guest 2", 10.0), ("Guest 0", 30.0))
    ]
    assert [view.name for view in world.objects_near(ada.avatar_id)] == ["Thing 1", "Thing 2", "Thing 0"]


def test_a_look_round_is_bounded_and_empty_while_away(world: World, ada: Witness) -> None:
    """At most 256 of each, and nothing for somebody who is not there.

    Spec: BND-1
    """
    for _ in range(NEAR_MAX + 5):
        world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing())
    assert len(world.objects_near(ada.avatar_id)) == NEAR_MAX
    ada.leave()
    assert (world.objects_near(ada.avatar_id), world.avatars_near(ada.avatar_id)) == ((), ())
