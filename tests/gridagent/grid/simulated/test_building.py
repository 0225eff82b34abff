"""Rezzing, editing, deleting and returning objects."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Action, Confirmed, Position, Refused
from gridagent.errors import LimitExceeded
from gridagent.events import (
    InventoryChanged,
    InventoryRemoved,
    ObjectGone,
    ObjectSeen,
    OfferClosed,
    Posture,
    PostureChanged,
)
from gridagent.grid.simulated import Land, Thing, World
from gridagent.grid.simulated.characters import Act, OpenDialog
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import ObjectId

HERE = Position(x=110.0, y=100.0)
CORNER = Position(x=5.0, y=5.0)


class Nagger:
    """A script that shows a dialog at once."""

    def __init__(self, to: str) -> None:
        self.to = to

    def start(self, scene):
        return [Act(action=OpenDialog(to=self.to, text="Well?"))]

    def on_event(self, event, scene):
        return []

    def on_wake(self, name, scene):
        return []


def mine(world: World, owner: int = 0, **look: object) -> ObjectId:
    """Stand a box of somebody's at the plaza."""
    return world.add_object("Plaza", owner_id=world.avatars()[owner], position=HERE, thing=Thing(**look))


def fence(world: World, **land: object) -> None:
    """Lay a parcel of Ben's into the corner of Ada's plaza."""
    world.add_parcel("Plaza", owner_id=world.avatars()[1], land=Land(name="Fenced", width=20, depth=20, **land))


def prims(world: World) -> list[int]:
    """Return the prims on each parcel of the plaza, and of the plaza itself."""
    plaza = world.regions()[0]
    return [*(parcel.prims for parcel in plaza.parcels), plaza.prims]


def test_a_new_object_is_seen_by_all_and_marked_for_its_maker(world: World, ada: Witness, ben: Witness) -> None:
    """The maker's sight carries the reference, others' doesn't; it stands above the ground.

    Spec: EFX-1, SIM-1
    """
    assert isinstance(ada.do(asked.RezObject(position=HERE, name="Box")), Confirmed)
    own, seen = ada.saw(ObjectSeen)[-1].object, ben.saw(ObjectSeen)[-1].object
    assert (own.reference, seen.reference, own.object_id) == ("w1", "", seen.object_id)
    assert own.position == Position(x=110.0, y=100.0, z=22.0)
    assert prims(world) == [1, 1]


def test_an_object_from_the_inventory_is_copied_or_moved(world: World, ada: Witness) -> None:
    """What may be copied stays, what may not leaves the inventory."""
    copied = world.give(ada.avatar_id, name="Lamp", kind="object")
    moved = world.give(ada.avatar_id, name="Original", kind="object", may_copy=False)
    for item_id in (copied, moved):
        assert isinstance(ada.do(asked.RezObject(position=HERE, item_id=item_id)), Confirmed)
    assert [item.item_id for item in world.inventory(ada.avatar_id)] == [copied]
    assert [event.item_id for event in ada.saw(InventoryRemoved)] == [moved]
    assert [view.name for view in world.objects_near(ada.avatar_id)] == ["Lamp", "Original"]


def test_building_needs_leave_and_room(world: World, ada: Witness, ben: Witness) -> None:
    """Land that forbids it, full parcels, points outside and wrong items are refused with their codes.

    Spec: SIM-1, EFX-1
    """
    fence(world, prim_limit=1)
    note = world.give(ada.avatar_id, name="Note", kind="notecard")
    refused = [
        ada.do(asked.RezObject(position=CORNER)),
        ada.do(asked.RezObject(position=Position(x=300.0, y=1.0))),
        ada.do(asked.RezObject(position=HERE, item_id=note)),
        ada.do(asked.RezObject(position=HERE, item_id="00000000-0000-4000-8000-0000000000ff")),
        ben.do(asked.RezObject(position=HERE)),
    ]
    assert isinstance(ben.do(asked.RezObject(position=CORNER)), Confirmed)
    refused.append(ben.do(asked.RezObject(position=CORNER)))
    assert refused == [
        Refused(reason=reason)
        for reason in (
            *("no_build_rights", "outside_region", "not_an_object", "unknown_item", "no_build_rights", "prim_limit"),
        )
    ]


def test_a_region_has_a_prim_limit_of_its_own(world: World, ada: Witness) -> None:
    """A full region takes nothing, whatever the parcel says; neither does building the world by hand."""
    world.regions()[0].prim_limit = 1
    ada.do(asked.RezObject(position=HERE))
    assert ada.do(asked.RezObject(position=HERE)) == Refused(reason="prim_limit")
    with pytest.raises(LimitExceeded):
        mine(world)


def test_an_owner_edits_what_they_name_and_nothing_else(world: World, ada: Witness, ben: Witness) -> None:
    """Name, description and place change one by one; the rest stays.

    Spec: EFX-1
    """
    box = mine(world, name="Box", description="plain")
    for action in (
        asked.EditObject(object_id=box, name="Crate"),
        asked.EditObject(object_id=box, description="painted"),
        asked.EditObject(object_id=box, position=Position(x=120.0, y=90.0, z=30.0)),
    ):
        assert isinstance(ada.do(action), Confirmed)
    view = ben.saw(ObjectSeen)[-1].object
    assert (view.name, view.description, view.position) == ("Crate", "painted", Position(x=120.0, y=90.0, z=30.0))


def test_an_object_moves_only_where_its_owner_may_build(world: World, ada: Witness, ben: Witness) -> None:
    """Moving onto foreign land, out of the region or onto a full parcel is refused, and prims follow moves.

    Spec: SIM-1
    """
    fence(world, prim_limit=1)
    box, bens = mine(world), mine(world, owner=1)
    refused = [
        ada.do(asked.EditObject(object_id=box, position=CORNER)),
        ada.do(asked.EditObject(object_id=box, position=Position(x=-1.0, y=0.0))),
        ada.do(asked.EditObject(object_id=bens, name="Ada's")),
    ]
    assert refused == [Refused(reason=reason) for reason in ("no_build_rights", "outside_region", "not_owner")]
    assert prims(world) == [2, 0, 2]
    assert isinstance(ben.do(asked.EditObject(object_id=bens, position=CORNER)), Confirmed)
    assert prims(world) == [1, 1, 2]
    second = mine(world, owner=1)
    assert ben.do(asked.EditObject(object_id=second, position=CORNER)) == Refused(reason="prim_limit")


def test_who_sits_on_a_moved_object_moves_along(world: World, ada: Witness) -> None:
    """A seat carries its sitter."""
    seat = mine(world, sittable=True)
    ada.do(asked.SitOn(object_id=seat))
    ada.do(asked.EditObject(object_id=seat, position=Position(x=130.0, y=100.0, z=22.0)))
    assert world.position(ada.avatar_id) == Position(x=130.0, y=100.0, z=22.0)


def test_a_deleted_object_lets_its_sitter_stand_and_its_dialogs_go(world: World, ada: Witness, ben: Witness) -> None:
    """Nothing is left of it: seat, script, dialog, prims, and everybody is told.

    Spec: SIM-1
    """
    seat = mine(world, sittable=True)
    world.script(seat, Nagger(ben.avatar_id))
    ben.do(asked.SitOn(object_id=seat))
    ben.pass_time(1.0)
    assert isinstance(ada.do(asked.DeleteObject(object_id=seat)), Confirmed)
    assert ben.saw(PostureChanged)[-1].posture is Posture.STANDING
    assert [(event.accepted, event.answer) for event in ben.saw(OfferClosed)] == [(False, "withdrawn")]
    assert ben.saw(ObjectGone)[-1].object_id == seat
    assert (prims(world), world.regions()[0].listeners) == ([0, 0], {})
    assert ada.do(asked.DeleteObject(object_id=seat)) == Refused(reason="unknown_object")


def test_a_returned_object_goes_back_to_its_owner(world: World, ada: Witness, ben: Witness) -> None:
    """Whoever manages the land sends litter home; the owner's inventory gets it, rights and all.

    Spec: SIM-1
    """
    litter = mine(world, owner=1, name="Litter", may_transfer=False)
    assert isinstance(ada.do(asked.ReturnObject(object_id=litter)), Confirmed)
    back = ben.saw(InventoryChanged)[-1].item
    assert (back.name, back.kind, back.may_transfer) == ("Litter", "object", False)


@pytest.mark.parametrize(
    ("actor", "action", "reason"),
    [
        (1, lambda box: asked.ReturnObject(object_id=box), "no_land_rights"),
        (0, lambda box: asked.ReturnObject(object_id="00000000-0000-4000-8000-0000000000ff"), "unknown_object"),
    ],
)
def test_only_known_objects_on_managed_land_are_returned(
    world: World, ada: Witness, ben: Witness, actor: int, action, reason: str
) -> None:
    """A guest returns nothing, and nothing is returned twice."""
    asked_for: Action = action(mine(world))
    assert (ada, ben)[actor].do(asked_for) == Refused(reason=reason)


def test_an_object_is_not_returned_into_a_full_inventory(
    world: World, ada: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rather than vanish, it stays where it is."""
    litter = mine(world, owner=1)
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 0)
    assert ada.do(asked.ReturnObject(object_id=litter)) == Refused(reason="inventory_full")
    assert len(world.objects_near(ada.avatar_id)) == 1
