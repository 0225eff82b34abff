"""From the world's records to the session's views."""

from __future__ import annotations

from gridagent.events import SpeakerKind
from gridagent.ids import NIL_UUID
from live_grid.backend import views
from live_grid.world import SourceKind, World
from live_grid.world.packed import Motion
from live_grid.world.state import Details, Parcel
from tests.live_grid.backend.hands import BEN, BOX, NOTHING, Hands, text
from tests.live_grid.handover.fake_grid import ME


def test_ids_go_both_ways() -> None:
    """In the one canonical form."""
    assert views.raw(views.text_id(BEN)) == BEN
    assert views.text_id(BEN) == text(BEN)


def test_positions_stay_within_every_region() -> None:
    """What a simulator says lies on the moon is put on the edge. Spec: SUP-12."""
    found = views.position_of((1e30, -1e30, 5.0))
    assert (found.x, found.y, found.z) == (16_384.0, -8_192.0, 5.0)


def test_texts_are_cut_to_what_structs_take() -> None:
    """Each kind to its own length. Spec: SUP-12."""
    assert [len(cut("x" * 999)) for cut in (views.label, views.name_of, views.short)] == [64, 128, 256]


def test_speakers_are_what_the_simulator_says() -> None:
    """The system has no id, an object has its owner beside it. Spec: LIV-6. Fault: 15."""
    assert views.speaker(SourceKind.SYSTEM, BEN, BEN, "Grid").id == NIL_UUID
    thing = views.speaker(SourceKind.OBJECT, BOX, BEN, "Owner")
    assert (thing.kind, thing.id, thing.owner_id) == (SpeakerKind.OBJECT, text(BOX), text(BEN))
    assert views.speaker(SourceKind.OBJECT, BOX, NOTHING, "").owner_id is None
    assert views.speaker(SourceKind.AVATAR, BEN, BEN, "Ben").owner_id is None


def test_people_and_things_are_seen_from_where_we_are() -> None:
    """With distance, and without anything a thing has not said. Spec: LIV-5."""
    hands = Hands()
    hands.me.motion = Motion((10.0, 10.0, 25.0))
    ben = views.avatar_view(hands.world, hands.avatar(at=(13.0, 14.0, 25.0)))
    assert (ben.name, ben.distance_m) == ("Ben Boat", 5.0)
    hands.world.names[BEN] = "Ben Barge"
    assert views.avatar_view(hands.world, hands.avatar(name="")).name == "Ben Barge"
    thing = hands.thing(flags=0x80)
    seen = views.object_view(hands.world, thing, "r9")
    assert seen is not None
    assert (seen.name, seen.touchable, seen.sittable, seen.for_sale, seen.reference) == ("Box", True, True, None, "r9")
    thing.details = Details(
        name="Box",
        description="",
        owner_id=BEN,
        group_id=NOTHING,
        owner_mask=0,
        everyone_mask=0,
        sale_type=2,
        sale_price=-5,
    )
    thing.state = 3
    seen = views.object_view(hands.world, thing)
    assert seen is not None
    assert (seen.for_sale, seen.sittable) == (0, False)
    thing.details = None
    assert views.object_view(hands.world, thing) is None


def test_a_parcel_has_an_id_of_ours_and_rights_of_its_own() -> None:
    """The same parcel has the same id; on our own land we may do everything. Spec: LIV-5, LIV-11."""
    world = World(ME)

    def parcel(local: int, owner: bytes, flags: int) -> views.ParcelView:
        fields = {
            "name": "Lawn",
            "description": "",
            "group_id": NOTHING,
            "group_owned": False,
            "area": 1,
            "sequence": 0,
        }
        return views.parcel_view(world, Parcel(local_id=local, owner_id=owner, flags=flags, **fields))

    assert parcel(1, BEN, 0).parcel_id == parcel(1, BEN, 0).parcel_id != parcel(2, BEN, 0).parcel_id
    assert not parcel(1, BEN, 0).may_build
    assert parcel(1, BEN, 0x40).may_build
    assert parcel(1, ME, 0).may_build
    assert parcel(1, BEN, 0x200_0000).may_run_scripts
    world.here.flags = 0x8000_0000
    assert not parcel(1, BEN, 0).bots_allowed


def test_items_say_what_they_are_and_what_may_be_done() -> None:
    """Kinds in words; an unknown one is other. Spec: LIV-8."""
    hands = Hands()
    view = views.item_view(hands.item(kind=20, mask=0x8000))
    assert (view.kind, view.may_copy, view.may_transfer) == ("animation", True, False)
    assert views.kind_word(99) == "other"
