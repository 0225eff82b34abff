"""What a client does with its avatar's body."""

from __future__ import annotations

import math
import struct

import pytest

from gridagent.actions import Position
from gridagent.events import Posture
from gridagent.grid.simulated import World
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.avatars import (
    AgentAnimation,
    AgentRequestSit,
    AgentSit,
    AgentUpdate,
    AvatarAnimation,
    AvatarSitResponse,
)
from live_grid.messages.objects import ImprovedTerseObjectUpdate, ObjectUpdate
from live_grid.messages.speech import AgentAlertMessage, GenericMessage
from live_grid.simulator import greeting
from live_grid.simulator.ids import wire_id
from live_grid.simulator.puppet import Puppet, Table

BENCH, BELL = "00000000-0000-4000-8000-0000000000b0", "00000000-0000-4000-8000-0000000000b1"
DANCE = "00000000-0000-4000-8000-0000000000c1"
NORTH = (0.0, 0.0, math.sqrt(0.5))


def update(
    puppet: Puppet, keys: int = 0, rotation: tuple[float, float, float] = (0.0, 0.0, 0.0), far: float = 0.0
) -> None:
    """Say which keys are down."""
    zero = (0.0, 0.0, 0.0)
    data = AgentUpdate.AgentData(
        puppet.agent_id, puppet.session.session_id, rotation, rotation, 0, zero, zero, zero, zero, far, keys, 0
    )
    puppet.say(AgentUpdate(agent_data=data), reliable=False)


def where(world: World) -> Position:
    """Return where Ada is."""
    position = world.position(world.avatars()[0])
    assert position is not None
    return position


def test_keys_walk_until_they_are_released(world: World, table: Table, ada: Puppet) -> None:
    """At the world's speed, in the direction looked in; terse updates follow. Spec: LIV-7, LIV-15."""
    update(ada, 0x1)
    table.pass_time(5.0)
    assert (where(world).x, where(world).y) == pytest.approx((116.0, 100.0))
    update(ada, 0x1)
    update(ada)
    table.pass_time(5.0)
    assert (where(world).x, where(world).y) == pytest.approx((116.0, 100.0))
    shown = [
        struct.unpack_from("<3f", block.data, 22)
        for one in ada.saw(ImprovedTerseObjectUpdate)
        for block in one.object_data
    ]
    assert shown[-1] == pytest.approx((116.0, 100.0, 22.95))


def test_turning_turns_the_body_and_the_walk(world: World, table: Table, ada: Puppet) -> None:
    """Looking north turns north; with a key down the walk goes north. Spec: LIV-7."""
    body = world.avatar(world.avatars()[0]).body
    update(ada, rotation=NORTH)
    assert body.heading_deg == pytest.approx(90.0)
    update(ada, 0x1, NORTH)
    table.pass_time(5.0)
    assert (where(world).x, where(world).y) == pytest.approx((100.0, 116.0))
    update(ada, 0x1, (0.0, 0.0, 0.0))
    table.pass_time(1.0)
    assert where(world).x > 102.0


@pytest.mark.parametrize("rotation", [(math.nan, 0.0, 0.0), (5.0, 5.0, 5.0)])
def test_a_rotation_that_is_none_turns_nothing(rotation: tuple[float, float, float], world: World, ada: Puppet) -> None:
    """Hostile numbers leave the body as it is. Spec: LIV-3."""
    update(ada, 0, rotation, far=math.nan)
    assert world.avatar(world.avatars()[0]).body.heading_deg == 0.0


def test_sitting_takes_two_messages(world: World, table: Table, ada: Puppet) -> None:
    """The seat is offered, then taken; the avatar then hangs on its seat, and stands up again. Spec: LIV-7, LIV-15."""
    bench = AgentRequestSit.TargetObject(wire_id(BENCH), (0.0, 0.0, 0.0))
    body = world.avatar(world.avatars()[0]).body
    ada.say(AgentSit(agent_data=ada.session))
    ada.say(AgentRequestSit(agent_data=ada.session, target_object=bench))
    (response,) = ada.saw(AvatarSitResponse)
    assert response.sit_object.id == wire_id(BENCH)
    assert body.posture is Posture.STANDING
    ada.say(AgentSit(agent_data=ada.session))
    assert body.posture is Posture.SITTING
    shown = [block for one in ada.saw(ObjectUpdate) for block in one.object_data if block.full_id == ada.agent_id]
    assert shown[-1].parent_id != 0
    ada.forget()
    update(ada, 0x1_0000)
    update(ada, 0x1_0000)
    assert body.posture is Posture.STANDING
    shown = [block for one in ada.saw(ObjectUpdate) for block in one.object_data if block.full_id == ada.agent_id]
    assert [block.parent_id for block in shown] == [0]


def test_a_seat_that_is_none_is_refused_in_words(table: Table, ada: Puppet) -> None:
    """As a simulator says it; nothing is offered. Spec: LIV-7, LIV-15."""
    for target in (BELL, "00000000-0000-4000-8000-00000000dead"):
        where_to = AgentRequestSit.TargetObject(wire_id(target), (0.0, 0.0, 0.0))
        ada.say(AgentRequestSit(agent_data=ada.session, target_object=where_to))
    words = [text_of(one.alert_data.message) for one in ada.saw(AgentAlertMessage)]
    assert words == ["There is no suitable surface to sit on, try another spot.", "The grid refused: unknown object."]
    assert ada.saw(AvatarSitResponse) == []


def test_sitting_on_the_ground_is_a_key(world: World, ada: Puppet) -> None:
    """Pressed once; an animation in the place of standing is all that shows it. Spec: LIV-7."""
    update(ada, 0x2_0000)
    assert world.avatar(world.avatars()[0]).body.posture is Posture.SITTING_ON_GROUND
    assert [one.anim_id for one in ada.saw(AvatarAnimation)[-1].animation_list] == [greeting.SIT_ON_GROUND]
    update(ada, 0x1_0000)
    assert [one.anim_id for one in ada.saw(AvatarAnimation)[-1].animation_list] == [greeting.STAND]


def test_animations_are_started_and_stopped(ada: Puppet) -> None:
    """What plays is told after each. Spec: LIV-6, LIV-15."""
    for start in (True, False):
        block = AgentAnimation.AnimationList(wire_id(DANCE), start)
        ada.say(AgentAnimation(agent_data=ada.session, animation_list=(block,)))
    playing = [[one.anim_id for one in told.animation_list] for told in ada.saw(AvatarAnimation)]
    assert [wire_id(DANCE) in ids for ids in playing] == [True, False]


def autopilot(puppet: Puppet, *parameters: str, method: str = "autopilot") -> None:
    """Ask the simulator to walk the avatar somewhere."""
    puppet.say(
        GenericMessage(
            agent_data=GenericMessage.AgentData(puppet.agent_id, puppet.session.session_id, NIL),
            method_data=GenericMessage.MethodData(wire_text(method), NIL),
            param_list=tuple(GenericMessage.ParamList(wire_text(one)) for one in parameters),
        )
    )


def test_autopilot_walks_to_a_point_of_the_grid(world: World, table: Table, ada: Puppet) -> None:
    """Named in global metres. Spec: LIV-7, LIV-15."""
    autopilot(ada, "256110.0", "256100.0", "22")
    table.pass_time(10.0)
    assert (where(world).x, where(world).y) == (110.0, 100.0)


@pytest.mark.parametrize(
    "parameters",
    [(), ("1",), ("x", "y", "z"), ("nan", "1", "1"), ("1e999", "1", "1"), ("1" * 40, "1", "1"), ("0", "0", "0")],
)
def test_an_autopilot_to_nowhere_does_nothing(
    parameters: tuple[str, ...], world: World, table: Table, ada: Puppet
) -> None:
    """Too few, no numbers, not finite, or beyond all measure. Spec: LIV-3."""
    autopilot(ada, *parameters)
    autopilot(ada, "256110.0", "256100.0", "22", method="selfdestruct")
    table.pass_time(5.0)
    assert (where(world).x, where(world).y) == (100.0, 100.0)
