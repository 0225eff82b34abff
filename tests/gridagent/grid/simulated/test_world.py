"""The world's surface: building it, its table of verbs, time, and reads."""

from __future__ import annotations

import random

import pytest

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Position, Refused
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.events import GridProfile
from gridagent.grid.simulated import Account, Land, Place, Thing, World, WorldSettings
from gridagent.grid.simulated import world as world_module
from gridagent.grid.simulated.witness import Witness
from gridagent.grid.simulated.world import HANDLERS
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports

POOR = GridProfile(grid="Poor", has_money=False, has_inventory=False, has_build=False, has_upload=False)
ITEM = "00000000-0000-4000-8000-0000000000c1"


def empty(settings: WorldSettings | None = None) -> World:
    """Return a world without anything."""
    return World(random.Random(1), simulated_ports(1).ids.uuid, settings=settings)


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
    world = empty(WorldSettings(profile=POOR))
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = Witness(world, world.add_avatar(Account(name="Ada")), now=1.0)
    assert ada.do(action) == Refused(reason=reason)


def test_a_world_is_built_in_any_order_that_makes_sense_and_says_what_does_not() -> None:
    """Each mistake in building is one sentence that says how to mend it.

    Spec: SIM-1
    """
    world = empty()
    with pytest.raises(OperatorError, match="nowhere to live"):
        world.add_avatar(Account(name="Ada"))
    with pytest.raises(LimitExceeded):
        world.add_region("Huge", x_m=0, y_m=0, size_m=8_193)
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = world.add_avatar(Account(name="Ada"))
    with pytest.raises(OperatorError, match="give 'Eve' another id"):
        world.add_avatar(Account(name="Eve", avatar_id=ada))
    with pytest.raises(OperatorError, match="no region 'Atlantis'"):
        world.add_avatar(Account(name="Eve", home=Place(region="Atlantis", position=Position(x=1.0, y=1.0))))
    where = {"owner_id": ada, "thing": Thing(name="Rock")}
    with pytest.raises(OperatorError, match="outside region"):
        world.add_object("Plaza", position=Position(x=256.0, y=1.0), **where)
    rock = world.add_object("Plaza", position=Position(x=1.0, y=1.0), **where)
    with pytest.raises(OperatorError, match="give 'Rock' another id"):
        world.add_object("Plaza", position=Position(x=1.0, y=1.0), object_id=rock, **where)
    with pytest.raises(OperatorError, match="not logged in"):
        world.perform(ada, asked.StandUp(), 1.0)
    assert world.avatar(ada).home == Place(region="Plaza", position=Position(x=128.0, y=128.0, z=22.0))


def test_accounts_and_inventories_have_ceilings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many is refused, whoever builds.

    Spec: BND-1
    """
    world = empty()
    world.add_region("Plaza", x_m=0, y_m=0)
    ada = world.add_avatar(Account(name="Ada"))
    monkeypatch.setattr(world_module, "AVATARS_MAX", 1)
    with pytest.raises(LimitExceeded):
        world.add_avatar(Account(name="Eve"))
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 0)
    with pytest.raises(LimitExceeded):
        world.give(ada, name="Poem", kind="notecard")


def test_time_runs_forward_and_in_order(world: World, ada: Witness) -> None:
    """Whatever is due before an action happens before it, and a clock that goes back moves nothing.

    Spec: SIM-2
    """
    happened: list[tuple[str, float]] = []
    world.call_at(12.0, lambda: happened.append(("timer", world.now)))
    world.call_at(14.0, lambda: happened.append(("never", world.now)))()
    world.perform(ada.avatar_id, asked.Say(text="hello"), 13.0)
    happened.append(("said", world.now))
    world.advance(5.0)
    assert happened == [("timer", 12.0), ("said", 13.0)]
    assert world.now == 13.0
    assert world.next_timer() is None


def test_a_verb_called_from_within_a_timer_does_not_start_time_anew(world: World, ada: Witness) -> None:
    """Incidents on timers may use the world's verbs; order stays."""
    order: list[str] = []

    def first() -> None:
        world.alert(ada.avatar_id, "now", world.now)
        order.append("first")

    world.call_at(20.0, first)
    world.call_at(20.0, lambda: order.append("second"))
    world.advance(30.0)
    assert order == ["first", "second"]


def test_the_shell_is_told_of_sooner_timers(world: World) -> None:
    """What the pump waits for can be brought forward."""
    woken: list[int] = []
    world.on_sooner(lambda: woken.append(1))
    world.call_at(50.0, lambda: None)
    world.on_sooner(None)
    world.call_at(40.0, lambda: None)
    assert woken == [1]


def test_reads_show_the_world_and_change_nothing(world: World, ada: Witness) -> None:
    """Map, accounts, balances and inventories can be looked at."""
    world.give(ada.avatar_id, name="Poem", kind="notecard")
    assert [region.name for region in world.regions()] == ["Plaza", "Annex"]
    assert [region.name for region in world.neighbours("annex")] == ["Plaza"]
    assert (len(world.avatars()), world.balance(ada.avatar_id), world.treasury) == (4, 1_000, 0)
    assert [item.name for item in world.inventory(ada.avatar_id)] == ["Poem"]
    assert world.new_id() != world.new_id()
    assert world.stream("x").random() == world.stream("x").random() != world.stream("y").random()


def test_parcels_belong_to_regions_that_exist(world: World) -> None:
    """A parcel of an unknown region is refused by name."""
    with pytest.raises(OperatorError, match="no region 'Atlantis'"):
        world.add_parcel("Atlantis", owner_id=world.avatars()[0], land=Land())


def test_halting_who_is_not_walking_says_nothing(world: World, ada: Witness) -> None:
    """The kill switch causes no event where nothing goes on, and none for somebody away.

    Spec: POL-12
    """
    before = len(ada.events)
    world.halt(ada.avatar_id, world.now)
    world.halt(AvatarId(world.avatars()[1]), world.now)
    assert len(ada.events) == before
    world.perform(ada.avatar_id, asked.FollowAvatar(avatar_id=Witness(world, world.avatars()[1]).avatar_id), world.now)
    world.halt(ada.avatar_id, world.now)
    body = world.avatar(ada.avatar_id).body
    assert body is not None
    assert body.follow is None


def test_an_inhabitant_that_left_does_nothing_more(world: World, ada: Witness) -> None:
    """An act that is due for a body that has gone is not done."""
    world._do_for(world.avatar(world.avatars()[1]), asked.Say(text="boo"))
    assert world.avatar(world.avatars()[1]).body is None
