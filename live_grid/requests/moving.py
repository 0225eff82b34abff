"""What we do with our body: look, walk, fly, sit, touch and play animations.

Owns the requests of the family and the bits of an `AgentUpdate`. An update says what keys are down *now*; whoever
sends it repeats it, and lets go again (Spec: LIV-7).
"""

from __future__ import annotations

from enum import IntFlag
from math import cos, radians, sin

from live_grid.messages import NIL
from live_grid.messages.avatars import (
    AgentAnimation,
    AgentRequestSit,
    AgentSit,
    AgentUpdate,
    SetStartLocationRequest,
)
from live_grid.messages.objects import ObjectDeGrab, ObjectGrab
from live_grid.messages.speech import GenericMessage
from live_grid.requests.request import Confirmation, Identity, Request, text_field

__all__ = (
    "Keys",
    "animate",
    "ask_seat",
    "autopilot",
    "set_home",
    "take_seat",
    "touch",
    "update_agent",
)

Vector = tuple[float, float, float]
_ORIGIN = (0.0, 0.0, 0.0)
_HOME = 1


class Keys(IntFlag):
    """What is held down."""

    NONE = 0
    FORWARD = 0x1
    FLY = 0x2000
    STAND = 0x10000
    SIT_ON_GROUND = 0x20000
    STOP = 0x4000
    """Lets go of whatever moves us on its own."""


def update_agent(
    me: Identity,
    *,
    position: Vector,
    heading_deg: float,
    keys: Keys = Keys.NONE,
    far: float,
    typing: bool = False,
) -> Request:
    """Tell where we look and which keys are down.

    Args:
        me: who tells.
        position: ours, where the camera is as well; metres in the region.
        heading_deg: 0 is east, 90 north.
        keys: what is held down.
        far: how far we see, in metres; with 0 no neighbour is ever announced.
        typing: whether our avatar shows that we type.
    """
    turn = radians(heading_deg)
    half = (0.0, 0.0, sin(turn / 2.0))
    if cos(turn / 2.0) < 0.0:  # the w that does not travel is never negative
        half = (0.0, 0.0, -half[2])
    data = AgentUpdate.AgentData(
        agent_id=me.agent_id,
        session_id=me.session_id,
        body_rotation=half,
        head_rotation=half,
        state=4 if typing else 0,
        camera_center=position,
        camera_at_axis=(cos(turn), sin(turn), 0.0),
        camera_left_axis=(-sin(turn), cos(turn), 0.0),
        camera_up_axis=(0.0, 0.0, 1.0),
        far=far,
        control_flags=int(keys),
        flags=0,
    )
    return Request((AgentUpdate(agent_data=data),), Confirmation.NOTHING, False)


def autopilot(me: Identity, x: float, y: float, z: float) -> Request:
    """Let the simulator walk us; any key we press ends it.

    Args:
        me: who asks.
        x: metres from the grid's corner.
        y: metres from the grid's corner.
        z: metres above zero.
    """
    agent = GenericMessage.AgentData(me.agent_id, me.session_id, NIL)
    places = tuple(GenericMessage.ParamList(text_field(f"{value:.3f}")) for value in (x, y, z))
    method = GenericMessage.MethodData(text_field("autopilot"), NIL)
    return Request((GenericMessage(agent_data=agent, method_data=method, param_list=places),), Confirmation.OWN_MOTION)


def ask_seat(me: Identity, object_id: bytes) -> Request:
    """Ask an object for a seat."""
    target = AgentRequestSit.TargetObject(object_id, _ORIGIN)
    return Request((AgentRequestSit(agent_data=me.session, target_object=target),), Confirmation.SEAT_GIVEN)


def take_seat(me: Identity) -> Request:
    """Take the seat that was given."""
    return Request((AgentSit(agent_data=me.session),), Confirmation.OWN_POSTURE)


def touch(me: Identity, local_id: int) -> Request:
    """Touch an object: finger down, finger up."""
    down = ObjectGrab(agent_data=me.session, object_data=ObjectGrab.ObjectData(local_id, _ORIGIN))
    up = ObjectDeGrab(agent_data=me.session, object_data=ObjectDeGrab.ObjectData(local_id))
    return Request((down, up), Confirmation.DELIVERED)


def animate(me: Identity, animation_id: bytes, *, playing: bool) -> Request:
    """Start or stop an animation."""
    entry = AgentAnimation.AnimationList(animation_id, playing)
    return Request((AgentAnimation(agent_data=me.session, animation_list=(entry,)),), Confirmation.ANIMATIONS)


def set_home(me: Identity, position: Vector, look_at: Vector) -> Request:
    """Make this place home."""
    place = SetStartLocationRequest.StartLocationData(text_field(""), _HOME, position, look_at)
    return Request((SetStartLocationRequest(agent_data=me.session, start_location_data=place),), Confirmation.DELIVERED)
