"""The world's surface: building it, its table of verbs, time, and reads."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId


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


def test_nobody_is_nowhere(world: World) -> None:
    """Whoever asks for somebody nobody knows learns no position, and gets no error."""
    assert world.position(AvatarId("deadbeef-0000-4000-8000-000000000000")) is None
