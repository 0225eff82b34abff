"""Characters: when they come, what they see, and what bounds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import OperatorError
from gridagent.events import ChatHeard, DisconnectCause
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.characters import PENDING_MAX, Act, ObjectSay, Request, Wake
from gridagent.grid.simulated.hosting import RETURN_S
from gridagent.grid.simulated.witness import Witness

PLACE = Position(x=105.0, y=100.0)


class Player:
    """A character whose three verbs are written in the test."""

    def __init__(
        self,
        *,
        start: Callable[..., Sequence[Request]] = lambda scene: (),
        on_event: Callable[..., Sequence[Request]] = lambda event, scene: (),
        on_wake: Callable[..., Sequence[Request]] = lambda name, scene: (),
    ) -> None:
        self.starts: list[float] = []
        self.scene = None
        self._start, self._on_event, self._on_wake = start, on_event, on_wake

    def start(self, scene):
        self.starts.append(scene.now)
        self.scene = scene
        return self._start(scene)

    def on_event(self, event, scene):
        return self._on_event(event, scene)

    def on_wake(self, name, scene):
        return self._on_wake(name, scene)


def greet(text: str, after_s: float = 0.0) -> Act:
    """Return an act of speech."""
    return Act(action=asked.Say(text=text), after_s=after_s)


def test_characters_announced_before_the_beginning_come_when_the_world_begins(world: World) -> None:
    """The first moment a world is told of is its beginning, whatever the clock says.

    Spec: SIM-2
    """
    early, late = Player(), Player()
    ada, ben = world.avatars()[:2]
    world.inhabit(ada, early)
    world.inhabit(ben, late, after_s=5.0)
    world.advance(123_456.0)
    world.advance(123_470.0)
    assert early.starts == [123_456.0]
    assert late.starts == [123_461.0]


def test_a_character_starts_before_it_perceives(world: World) -> None:
    """The first event comes after the start, in every login."""
    order: list[str] = []
    player = Player(
        start=lambda scene: order.append("start") or (), on_event=lambda event, scene: order.append("event") or ()
    )
    world.inhabit(world.avatars()[0], player)
    world.advance(1.0)
    world.advance(2.0)
    world.kick(world.avatars()[0], world.now)
    world.advance(60.0)
    assert order[0] == "start"
    assert order.count("start") == 2
    assert order[order.index("start", 1) + 1] == "event"


def test_a_character_may_come_while_the_world_runs(world: World, ada: Witness) -> None:
    """It starts after its delay, counted from now."""
    player = Player(start=lambda scene: [greet("hello")])
    world.inhabit(world.avatars()[1], player, after_s=2.0)
    ada.pass_time(3.0)
    assert player.starts == [12.0]
    assert [event.text for event in ada.saw(ChatHeard)] == ["hello"]


def test_acts_and_wakes_come_when_they_are_due_and_in_order(world: World, ada: Witness) -> None:
    """Requests due at one moment keep the order in which they were asked for.

    Spec: SIM-2
    """
    player = Player(
        start=lambda scene: [
            greet("second", 2.0),
            greet("third", 2.0),
            Wake(name="again", after_s=3.0),
            greet("first"),
        ],
        on_wake=lambda name, scene: [greet(f"{name} at {scene.now:.0f}")],
    )
    world.inhabit(world.avatars()[1], player)
    ada.pass_time(10.0)
    assert [event.text for event in ada.saw(ChatHeard)] == ["first", "second", "third", "again at 13"]


def test_a_scene_shows_the_character_its_world(world: World, ada: Witness) -> None:
    """Name, place, money, people, things and a random stream of its own.

    Spec: SIM-2
    """
    player, sign = Player(), Player()
    world.inhabit(world.avatars()[1], player)
    thing = world.add_object("Plaza", owner_id=ada.avatar_id, position=PLACE, thing=Thing(name="Sign"))
    world.script(thing, sign)
    ada.pass_time(1.0)
    scene, other = player.scene, sign.scene
    assert scene is not None
    assert other is not None
    assert (scene.me, scene.name, scene.region, scene.region_size_m) == (
        world.avatars()[1],
        "Ben Bystander",
        "Plaza",
        256,
    )
    assert (scene.position, scene.balance) == (Position(x=100.0, y=100.0, z=22.0), 100)
    assert [view.name for view in scene.avatars()] == ["Ada Actor"]
    assert [view.name for view in scene.objects()] == ["Sign"]
    assert (other.name, other.balance, other.region, other.position.x) == ("Sign", 0, "Plaza", 105.0)
    assert [view.name for view in other.avatars()] == ["Ada Actor", "Ben Bystander"]
    assert other.objects() == ()
    assert scene.rng.random() != other.rng.random()


@pytest.mark.parametrize("cause", ["kick", "restart"])
def test_an_inhabitant_thrown_out_comes_back_and_starts_again(world: World, dan: Witness, cause: str) -> None:
    """What waited is dropped; it tries again until it is let in.

    Spec: SIM-1
    """
    player = Player(start=lambda scene: [Wake(name="old", after_s=1_000.0)])
    ben = world.avatars()[1]
    world.inhabit(ben, player)
    dan.pass_time(1.0)
    world.regions()[1].capacity = 1  # so that nobody can wait in the annex
    if cause == "kick":
        world.kick(ben, world.now)
    else:
        world.restart_region("Plaza", world.now, notice_s=0.0, down_s=2.5 * RETURN_S)
    dan.pass_time(RETURN_S - 1.0)
    assert not world.avatar(ben).online
    dan.pass_time(3 * RETURN_S)
    assert world.avatar(ben).online
    assert len(player.starts) == 2
    assert len(world._state.timers) == 1
    assert ben not in [session.avatar_id for session in world.sessions.not_logged_out_once()]


def test_a_character_has_so_many_requests_waiting_and_the_rest_is_counted(world: World, ada: Witness) -> None:
    """One hundred requests at once leave 64 waiting.

    Spec: SIM-1, BND-1
    """
    player = Player(start=lambda scene: [greet(str(number), 1.0) for number in range(100)])
    world.inhabit(world.avatars()[1], player)
    ada.pass_time(5.0)
    assert [event.text for event in ada.saw(ChatHeard)] == [str(number) for number in range(PENDING_MAX)]
    assert world.dropped_requests == 100 - PENDING_MAX


def test_two_echoes_do_not_stop_time(world: World, ada: Witness) -> None:
    """Characters that answer each other at once still let the clock go on.

    Spec: SIM-1
    """

    def echo(event, scene):
        heard = isinstance(event, ChatHeard) and event.source.id != scene.me
        return [greet("echo")] if heard else []

    for avatar_id in world.avatars()[1:3]:
        world.inhabit(avatar_id, Player(on_event=echo))
    ada.pass_time(1.0)
    ada.do(asked.Say(text="hello"))
    ada.pass_time(1.0)
    assert 90 <= len(ada.saw(ChatHeard)) <= 110


def test_the_wrong_words_are_counted_and_do_nothing(world: World, ada: Witness) -> None:
    """An avatar cannot act as an object, nor an object as an avatar.

    Spec: SIM-1
    """
    thing = world.add_object("Plaza", owner_id=ada.avatar_id, position=PLACE, thing=Thing())
    world.inhabit(world.avatars()[1], Player(start=lambda scene: [Act(action=ObjectSay(text="beep"))]))
    world.script(thing, Player(start=lambda scene: [greet("I am Ada")]))
    ada.pass_time(1.0)
    assert world.misfit_requests == 2
    assert ada.saw(ChatHeard) == []


def test_a_deleted_objects_script_does_nothing_more(world: World, ada: Witness) -> None:
    """What it asked for before is not carried out."""
    thing = world.add_object("Plaza", owner_id=ada.avatar_id, position=PLACE, thing=Thing())
    world.script(thing, Player(start=lambda scene: [Act(action=ObjectSay(text="too late"), after_s=5.0)]))
    ada.pass_time(1.0)
    ada.do(asked.DeleteObject(object_id=thing))
    ada.pass_time(10.0)
    assert ada.saw(ChatHeard) == []
    assert world.misfit_requests == 1


def test_an_object_holds_one_script_and_must_exist(world: World, ada: Witness) -> None:
    """Both mistakes are told in a sentence."""
    thing = world.add_object("Plaza", owner_id=ada.avatar_id, position=PLACE, thing=Thing(name="Sign"))
    world.script(thing, Player())
    with pytest.raises(OperatorError, match="'Sign' has a script already"):
        world.script(thing, Player())
    with pytest.raises(OperatorError, match="no object"):
        world.script("00000000-0000-4000-8000-0000000000ff", Player())


def test_an_inhabitant_whose_account_is_taken_waits(world: World, ada: Witness, ben: Witness) -> None:
    """The character's login meets a live session, which ends as on any grid; it comes in at the next try."""
    world.inhabit(ben.avatar_id, Player())
    ada.pass_time(1.0)
    assert ben.ended_by is DisconnectCause.KICKED
    ada.pass_time(RETURN_S)
    assert world.avatar(ben.avatar_id).online
