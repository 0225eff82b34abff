"""Sitting, standing and animations."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Refused
from gridagent.events import AnimationChanged, AvatarSeen, Posture, PostureChanged
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.items import BUILT_IN_ANIMATIONS
from gridagent.grid.simulated.postures import ANIMATIONS_MAX
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import ItemId, ObjectId

WAVE = BUILT_IN_ANIMATIONS["wave"]


def seat(world: World, x: float = 120.0, *, sittable: bool = True) -> ObjectId:
    """Stand a seat at the plaza."""
    thing = Thing(name="Bench", sittable=sittable)
    position = Position(x=x, y=100.0, z=23.0)
    return world.add_object("Plaza", owner_id=world.avatars()[1], position=position, thing=thing)


def posture(who: Witness) -> Posture:
    """Return how somebody's body is held."""
    body = who.world.avatar(who.avatar_id).body
    assert body is not None
    return body.posture


def test_a_seat_takes_one_and_frees_when_they_stand(world: World, ada: Witness, ben: Witness) -> None:
    """The second is refused, and welcome once the first has got up.

    Spec: SIM-1, EFX-1
    """
    bench = seat(world)
    assert isinstance(ada.do(asked.SitOn(object_id=bench)), Confirmed)
    assert world.position(ada.avatar_id) == Position(x=120.0, y=100.0, z=23.0)
    assert isinstance(ada.do(asked.SitOn(object_id=bench)), Confirmed)
    assert ben.do(asked.SitOn(object_id=bench)) == Refused(reason="seat_taken")
    assert isinstance(ada.do(asked.StandUp()), Confirmed)
    assert world.position(ada.avatar_id) == Position(x=120.0, y=100.0, z=22.0)
    assert isinstance(ben.do(asked.SitOn(object_id=bench)), Confirmed)
    assert ada.saw(AvatarSeen)[-1].avatar.position.x == 120.0


def test_changing_seats_frees_the_first(world: World, ada: Witness, ben: Witness) -> None:
    """Nobody occupies two seats."""
    first, second = seat(world), seat(world, 130.0)
    ada.do(asked.SitOn(object_id=first))
    ada.do(asked.SitOn(object_id=second))
    assert isinstance(ben.do(asked.SitOn(object_id=first)), Confirmed)
    assert isinstance(ada.do(asked.SitOnGround()), Confirmed)
    assert posture(ada) is Posture.SITTING_ON_GROUND
    assert world._state.objects[second].sitter is None


def test_sitting_ends_a_walk(world: World, ada: Witness) -> None:
    """A body that sits down on its way stays there."""
    world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=200.0, y=100.0)), world.now)
    ada.pass_time(5.0)
    ada.do(asked.SitOnGround())
    ada.pass_time(60.0)
    here = world.position(ada.avatar_id)
    assert here is not None
    assert round(here.x) == 116


def test_what_is_no_seat_or_not_there_is_refused(world: World, ada: Witness) -> None:
    """Each has its code; so has sitting while on the way elsewhere."""
    far = world.add_object("Annex", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing(sittable=True))
    outcomes = [ada.do(asked.SitOn(object_id=object_id)) for object_id in (far, seat(world, sittable=False))]
    world.perform(ada.avatar_id, asked.TeleportHome(), world.now)
    outcomes.append(ada.do(asked.SitOn(object_id=seat(world))))
    assert outcomes == [Refused(reason=reason) for reason in ("unknown_object", "cannot_sit", "in_transit")]


def test_logging_out_frees_the_seat(world: World, ada: Witness, ben: Witness) -> None:
    """A ghost keeps no seat."""
    bench = seat(world)
    ada.do(asked.SitOn(object_id=bench))
    ada.leave()
    assert isinstance(ben.do(asked.SitOn(object_id=bench)), Confirmed)


def test_animations_are_built_in_or_carried(world: World, ada: Witness) -> None:
    """Built-in and own animations play; others, and items of another kind, are refused.

    Spec: SIM-1, EFX-1
    """
    dance = world.give(ada.avatar_id, name="Dance", kind="animation")
    note = world.give(ada.avatar_id, name="Note", kind="notecard")
    outcomes = [ada.do(asked.PlayAnimation(animation_id=item_id)) for item_id in (WAVE, dance, note)]
    assert [type(outcome).__name__ for outcome in outcomes] == ["Confirmed", "Confirmed", "Refused"]
    assert isinstance(ada.do(asked.StopAnimation(animation_id=WAVE)), Confirmed)
    assert [(event.animation_id, event.playing) for event in ada.saw(AnimationChanged)] == [
        *((WAVE, True), (dance, True), (WAVE, False))
    ]


def test_a_body_plays_so_many_animations_at_once(world: World, ada: Witness) -> None:
    """One more is refused, one that plays already is not.

    Spec: BND-1
    """
    ids = [ItemId(f"00000000-0000-4000-8000-{number:012d}") for number in range(ANIMATIONS_MAX + 1)]
    for item_id in ids:
        world.give(ada.avatar_id, name="Dance", kind="animation", item_id=item_id)
    outcomes = [ada.do(asked.PlayAnimation(animation_id=item_id)) for item_id in (*ids, ids[0])]
    assert outcomes[ANIMATIONS_MAX] == Refused(reason="too_many_animations")
    assert isinstance(outcomes[-1], Confirmed)


def test_standing_up_is_repeatable(ada: Witness) -> None:
    """Who stands already gets the same evidence, also in the middle of a walk, which goes on."""
    assert isinstance(ada.do(asked.StandUp()), Confirmed)
    assert ada.saw(PostureChanged) == [PostureChanged(posture=Posture.STANDING)]
    ada.world.perform(ada.avatar_id, asked.WalkTo(position=Position(x=116.0, y=100.0)), ada.world.now)
    assert isinstance(ada.do(asked.StandUp()), Confirmed)
    ada.pass_time(5.0)
    assert ada.world.position(ada.avatar_id) == Position(x=116.0, y=100.0, z=22.0)
