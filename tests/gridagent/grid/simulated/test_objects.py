"""Objects and how they are seen."""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.events import SpeakerKind
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.witness import Witness


def test_a_view_shows_what_can_be_done_with_an_object(world: World, ada: Witness) -> None:
    """Price, touch and seat are visible; a reference only to who is told one."""
    look = Thing(name="Chair", description="soft", sittable=True, touchable=True, for_sale=9)
    object_id = world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=2.0), thing=look)
    (view,) = world.objects_near(ada.avatar_id)
    assert (view.name, view.description, view.for_sale, view.sittable, view.touchable) == (
        "Chair",
        "soft",
        9,
        True,
        True,
    )
    assert view.reference == ""
    assert world._state.objects[object_id].view("r1").reference == "r1"


def test_an_object_speaks_under_its_own_id_whatever_its_name(world: World, ada: Witness) -> None:
    """A thing called after its owner is still an object.

    Fault: 15
    """
    look = Thing(name="Ada Actor")
    object_id = world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=2.0), thing=look)
    source = world._state.objects[object_id].speaker()
    assert (source.kind, source.id, source.owner_id) == (SpeakerKind.OBJECT, object_id, ada.avatar_id)
