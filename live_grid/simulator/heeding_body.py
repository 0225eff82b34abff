"""What a client does with its avatar's body: move, turn, sit, stand, play animations.

Owns the handlers of the family; each takes the agent, the visit on which the message came, the message and the time.
Movement keys become walks of the world; sitting takes two messages, as on every grid (Spec: LIV-7, LIV-15).
"""

from __future__ import annotations

import math
from typing import Final

from gridagent.actions import (
    PlayAnimation,
    Position,
    SitOn,
    SitOnGround,
    StandUp,
    StopAnimation,
    StopMoving,
    TurnTo,
    WalkTo,
)
from gridagent.grid.simulated.objects import GridObject
from gridagent.ids import ItemId, ObjectId
from live_grid.messages import text_of
from live_grid.messages.avatars import AgentAnimation, AgentRequestSit, AgentSit, AgentUpdate, AvatarSitResponse
from live_grid.messages.speech import GenericMessage
from live_grid.simulator import movement, scene, travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import text_id, wire_id
from live_grid.simulator.visit import Visit

__all__ = ("agent_animation", "agent_request_sit", "agent_sit", "agent_update", "generic_message")

_TURNED_DEG: Final = 1.0
_ANIMATIONS_MAX: Final = 16
_NUMBER_MAX_CHARACTERS: Final = 32
_AUTOPILOT: Final = "autopilot"


def agent_update(agent: Agent, visit: Visit, message: AgentUpdate, now: float) -> None:
    """Take the keys that are down and where the client looks."""
    data, steering = message.agent_data, agent.steering
    if data.far > 0 and not agent.sees_far:
        agent.sees_far = True
        travel.meet_neighbours(agent, now)
    pressed, keys = data.control_flags & ~steering.keys, data.control_flags
    steering.keys = keys
    if pressed & movement.STAND_UP:
        agent.do("stand", StandUp(), now)
    if pressed & movement.SIT_ON_GROUND:
        agent.do("stand", SitOnGround(), now)
    heading = scene.heading_of(*data.body_rotation)
    turned = heading is not None and _angle(heading, steering.heading_deg) > _TURNED_DEG
    if heading is not None and turned:
        steering.heading_deg = heading
    direction = movement.direction_of(steering.heading_deg, keys)
    if direction == steering.direction and not (turned and direction is None):
        return
    walked, steering.direction = steering.direction is not None, direction
    if turned:
        agent.do("turn", TurnTo(heading_deg=steering.heading_deg), now)
    if direction is not None:
        _walk(agent, visit, direction, now)
    elif walked:
        steering.forget_border()
        agent.do("stop", StopMoving(), now)


def _angle(one: float, other: float) -> float:
    return abs((one - other + 180.0) % 360.0 - 180.0)


def _walk(agent: Agent, visit: Visit, direction: tuple[float, float], now: float) -> None:
    """Walk as far as the region goes, and mean what lies beyond."""
    here = agent.stage.world.position(agent.avatar_id)
    assert here is not None  # noqa: S101 - the caller's avatar is in the world
    region = visit.place.region
    target, beyond = movement.aim(here, direction, region.size_m)
    agent.steering.border = target
    agent.steering.beyond = (region.x_m + beyond[0], region.y_m + beyond[1])
    agent.do("walk", WalkTo(position=target), now)


def generic_message(agent: Agent, visit: Visit, message: GenericMessage, now: float) -> None:
    """Walk to the point that an ``autopilot`` names, in global metres; every other method is unknown here."""
    if text_of(message.method_data.method).casefold() != _AUTOPILOT:
        return
    numbers = [_number(text_of(block.parameter)) for block in message.param_list[:3]]
    if len(numbers) != 3 or any(number is None for number in numbers):  # noqa: PLR2004 - a point
        return
    x_m, y_m, z = (number or 0.0 for number in numbers)
    region = visit.place.region
    target = movement.point_of(x_m - region.x_m, y_m - region.y_m, z)
    if target is None:
        return
    agent.steering.forget_border()
    if not region.contains(target):
        target = _to_border(agent, region.size_m, (region.x_m, region.y_m), target)
    agent.do("walk", WalkTo(position=target), now)


def _to_border(agent: Agent, size_m: int, corner: tuple[int, int], target: Position) -> Position:
    """Walk to the border on the straight way to a point of another region, and mean to cross it."""
    here = agent.stage.world.position(agent.avatar_id)
    assert here is not None  # noqa: S101 - the caller's avatar is in the world
    length = math.hypot(target.x - here.x, target.y - here.y)
    border, beyond = movement.aim(here, ((target.x - here.x) / length, (target.y - here.y) / length), size_m)
    agent.steering.border, agent.steering.beyond = border, (corner[0] + beyond[0], corner[1] + beyond[1])
    return border


def _number(text: str) -> float | None:
    try:
        number = float(text) if len(text) <= _NUMBER_MAX_CHARACTERS else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def agent_request_sit(agent: Agent, visit: Visit, message: AgentRequestSit, now: float) -> None:
    """Offer the seat that a client asks for, if it is one and free; the world says no otherwise."""
    object_id = ObjectId(text_id(message.target_object.target_id))
    seat = visit.place.region.objects.get(object_id)
    if seat is None or not _is_free(seat, agent):
        # The world's own refusal has the words for it.
        agent.do("sit", SitOn(object_id=object_id), now)
        return
    agent.seat_offered = object_id
    still = (0.0, 0.0, 0.0)
    agent.say(
        AvatarSitResponse(
            sit_object=AvatarSitResponse.SitObject(wire_id(object_id)),
            sit_transform=AvatarSitResponse.SitTransform(
                auto_pilot=False,
                sit_position=still,
                sit_rotation=still,
                camera_eye_offset=still,
                camera_at_offset=still,
                force_mouselook=False,
            ),
        )
    )


def _is_free(seat: GridObject, agent: Agent) -> bool:
    return seat.thing.sittable and seat.sitter in {None, agent.avatar_id}


def agent_sit(agent: Agent, visit: Visit, message: AgentSit, now: float) -> None:
    """Take the seat that was offered."""
    del visit, message
    offered, agent.seat_offered = agent.seat_offered, None
    if offered is not None:
        agent.steering.forget_border()
        agent.do("sit", SitOn(object_id=offered), now)


def agent_animation(agent: Agent, visit: Visit, message: AgentAnimation, now: float) -> None:
    """Start and stop animations."""
    del visit
    for block in message.animation_list[:_ANIMATIONS_MAX]:
        animation = ItemId(text_id(block.anim_id))
        if block.start_anim:
            agent.do("animate", PlayAnimation(animation_id=animation), now)
        else:
            agent.do("animate", StopAnimation(animation_id=animation), now)
