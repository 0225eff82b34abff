"""Actions of our own body: turning, walking, sitting, animations, teleports.

Owns one function for each; see `live_grid.backend.acting`. What is so already is shown at once, because the grid
would not tell it again.
"""

from __future__ import annotations

from typing import Final

from gridagent import actions as asked
from gridagent.events import AnimationChanged, Posture
from gridagent.ids import ItemId
from gridagent.limits import Label
from live_grid.backend.pending import Journey, Walk
from live_grid.backend.stage import Stage
from live_grid.backend.views import raw
from live_grid.handover.tables import TravelInput
from live_grid.requests import moving, travelling
from live_grid.world import Vector

__all__ = (
    "cease",
    "follow",
    "play",
    "sit_on",
    "sit_on_ground",
    "stand_up",
    "stop",
    "teleport_home",
    "teleport_to",
    "turn_to",
    "walk_to",
)

ANIMATIONS_MAX: Final = 64


def _vector(position: asked.Position) -> Vector:
    return position.x, position.y, position.z


def turn_to(stage: Stage, action: asked.TurnTo, _: Label) -> Label | None:
    """Face a heading."""
    if stage.teller.seated:
        return "seated"
    body, now = stage.session.body, stage.now()
    body.stop(now)
    body.face(action.heading_deg, now)
    stage.show(*stage.teller.motion(again=True))
    return None


def walk_to(stage: Stage, action: asked.WalkTo, reference: Label) -> Label | None:
    """Walk to a point."""
    if stage.teller.seated:
        return "seated"
    if not stage.inside(_vector(action.position)):
        return "outside_region"
    stage.pending.walk = Walk(reference=reference)
    stage.session.body.walk_to(_vector(action.position), stage.now())
    return None


def follow(stage: Stage, action: asked.FollowAvatar, reference: Label) -> Label | None:
    """Walk after somebody."""
    if stage.teller.seated:
        return "seated"
    avatar_id = raw(action.avatar_id)
    if avatar_id not in stage.world.here.avatars:
        return "not_here"
    stage.pending.walk = Walk(reference=reference)
    stage.session.body.follow(avatar_id, action.distance_m, stage.now())
    stage.show(*stage.teller.motion(again=True))
    return None


def stop(stage: Stage, _: asked.StopMoving, __: Label) -> Label | None:
    """Stop walking or following."""
    stage.pending.walk = None
    stage.session.body.stop(stage.now())
    stage.show(*stage.teller.motion(again=True))
    return None


def _so_already(stage: Stage, posture: Posture) -> None:
    """Show how our body is held, if it is as wanted already."""
    stage.show(*(event for event in stage.teller.posture(again=True) if event.posture is posture))


def sit_on(stage: Stage, action: asked.SitOn, _: Label) -> Label | None:
    """Sit on an object."""
    thing = stage.thing(action.object_id)
    if thing is None:
        return "unknown_object"
    me = stage.world.me
    if me is not None and me.seat == thing.local_id:
        _so_already(stage, Posture.SITTING)
        return None
    stage.session.body.stop(stage.now())
    stage.send(moving.ask_seat(stage.me, thing.object_id))
    return None


def sit_on_ground(stage: Stage, _: asked.SitOnGround, __: Label) -> Label | None:
    """Sit down."""
    stage.session.body.sit_on_ground(stage.now())
    _so_already(stage, Posture.SITTING_ON_GROUND)
    return None


def stand_up(stage: Stage, _: asked.StandUp, __: Label) -> Label | None:
    """Stand up."""
    stage.session.body.stand_up(stage.now())
    _so_already(stage, Posture.STANDING)
    return None


def _animate(stage: Stage, animation_id: ItemId, *, playing: bool) -> None:
    item = stage.world.inventory.items.get(raw(animation_id))
    asset = raw(animation_id) if item is None else item.asset_id
    names = stage.pending.animations
    if asset not in names and len(names) >= ANIMATIONS_MAX:
        del names[next(iter(names))]
    names[asset] = animation_id
    stage.send(moving.animate(stage.me, asset, playing=playing))
    if (asset in stage.world.animations) is playing:
        stage.show(AnimationChanged(animation_id=animation_id, playing=playing))


def play(stage: Stage, action: asked.PlayAnimation, _: Label) -> Label | None:
    """Start an animation."""
    _animate(stage, action.animation_id, playing=True)
    return None


def cease(stage: Stage, action: asked.StopAnimation, _: Label) -> Label | None:
    """Stop an animation."""
    _animate(stage, action.animation_id, playing=False)
    return None


def teleport_to(stage: Stage, action: asked.TeleportTo, reference: Label) -> Label | None:
    """Teleport to a place; one in another region is looked up on the map first."""
    if not stage.session.travel.allows(TravelInput.ASK):
        return "in_transit"
    here, place = stage.world.here, _vector(action.position)
    if here.name and action.region.casefold() == here.name.casefold():
        stage.send(travelling.teleport(stage.me, here.handle, place))
        stage.pending.journey = Journey(reference=reference)
        return None
    stage.send(travelling.find_region(stage.me, action.region))
    stage.pending.journey = Journey(reference=reference, region=action.region, position=place)
    return None


def teleport_home(stage: Stage, _: asked.TeleportHome, reference: Label) -> Label | None:
    """Teleport home."""
    if not stage.session.travel.allows(TravelInput.ASK):
        return "in_transit"
    stage.send(travelling.teleport_home(stage.me))
    stage.pending.journey = Journey(reference=reference)
    return None
