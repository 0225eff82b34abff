"""Sitting, standing and animations.

Owns how a body is held and what it plays. An object seats one avatar; who sits does not walk. Standing up
when one stands already answers with the same evidence, as it is repeatable. Invariant: an avatar's seat
names it as its sitter, and the other way round.
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import PlayAnimation, Position, SitOn, SitOnGround, StandUp, StopAnimation
from gridagent.events import AnimationChanged, Posture, PostureChanged
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.items import BUILT_IN_ANIMATIONS
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import GROUND_M
from gridagent.grid.simulated.state import State
from gridagent.grid.simulated.walking import halt
from gridagent.limits import Label

__all__ = ("get_up", "play_animation", "sit_on", "sit_on_ground", "stand_up", "stop_animation", "unseat")

ANIMATIONS_MAX: Final = 30
"""Animations one avatar plays at once."""
_BUILT_IN: Final = frozenset(BUILT_IN_ANIMATIONS.values())


def sit_on(state: State, avatar: Avatar, body: Body, action: SitOn, reference: Label) -> None:
    """Sit on an object."""
    seat = state.object_here(body, action.object_id)
    if body.transit is not None:
        state.refuse(avatar, reference, Refusal.IN_TRANSIT)
    elif seat is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OBJECT)
    elif not seat.thing.sittable:
        state.refuse(avatar, reference, Refusal.CANNOT_SIT)
    elif seat.sitter not in {None, avatar.avatar_id}:
        state.refuse(avatar, reference, Refusal.SEAT_TAKEN)
    else:
        halt(state, avatar, body)
        get_up(state, body)
        seat.sitter = avatar.avatar_id
        body.seat = seat.object_id
        body.position = seat.position
        _hold(state, avatar, body, Posture.SITTING)


def sit_on_ground(state: State, avatar: Avatar, body: Body, action: SitOnGround, reference: Label) -> None:
    """Sit down where the avatar is."""
    del action
    if body.transit is not None:
        state.refuse(avatar, reference, Refusal.IN_TRANSIT)
        return
    halt(state, avatar, body)
    get_up(state, body)
    _hold(state, avatar, body, Posture.SITTING_ON_GROUND)


def stand_up(state: State, avatar: Avatar, body: Body, action: StandUp, reference: Label) -> None:
    """Stand up, beside the seat."""
    del action, reference
    get_up(state, body)
    _hold(state, avatar, body, Posture.STANDING)


def get_up(state: State, body: Body) -> None:
    """Free the seat without telling anybody; the body stands on the ground beside it."""
    if body.seat is not None:
        state.objects[body.seat].sitter = None
        body.seat = None
        body.position = Position(x=body.position.x, y=body.position.y, z=GROUND_M)
    body.posture = Posture.STANDING


def unseat(state: State, seat: GridObject) -> None:
    """Let whoever sits there stand, as the object is going."""
    if seat.sitter is not None:
        avatar = state.avatars[seat.sitter]
        body = state.body(avatar)
        get_up(state, body)
        _hold(state, avatar, body, Posture.STANDING)


def play_animation(state: State, avatar: Avatar, body: Body, action: PlayAnimation, reference: Label) -> None:
    """Start an animation that is built in or in the inventory."""
    item = avatar.inventory.get(action.animation_id)
    if action.animation_id not in _BUILT_IN and (item is None or item.kind != "animation"):
        state.refuse(avatar, reference, Refusal.UNKNOWN_ANIMATION)
    elif len(body.animations) >= ANIMATIONS_MAX and action.animation_id not in body.animations:
        state.refuse(avatar, reference, Refusal.TOO_MANY_ANIMATIONS)
    else:
        body.animations[action.animation_id] = None
        state.tell(avatar, AnimationChanged(animation_id=action.animation_id, playing=True))


def stop_animation(state: State, avatar: Avatar, body: Body, action: StopAnimation, reference: Label) -> None:
    """Stop an animation; stopping one that does not play is as good."""
    del reference
    body.animations.pop(action.animation_id, None)
    state.tell(avatar, AnimationChanged(animation_id=action.animation_id, playing=False))


def _hold(state: State, avatar: Avatar, body: Body, posture: Posture) -> None:
    body.posture = posture
    state.tell(avatar, PostureChanged(posture=posture, object_id=body.seat))
    if body.walk is None:
        state.show_to_others(avatar, body)
