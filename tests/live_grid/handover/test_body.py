"""Our body: what it holds down, and where it walks."""

from __future__ import annotations

import pytest

from live_grid.handover.body import GONE_AFTER_S, RESTING_EVERY_S, STUCK_AFTER_S, WALKING_EVERY_S, Body
from live_grid.handover.events import Reached, WalkEnded
from live_grid.messages.avatars import AgentUpdate
from live_grid.requests import Identity
from live_grid.requests.moving import Keys
from live_grid.world import Motion, World
from live_grid.world.packed import rotation_of

ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")
BEN = bytes(15) + b"\x02"
SPEED = 3.2


class Walker:
    """A body on flat ground that goes where its keys say."""

    def __init__(self, *, blocked: bool = False) -> None:
        self.now = 0.0
        self.world = World(ME.agent_id)
        self.blocked = blocked
        self.silent = self.never_at_rest = False
        self.told = 0
        self._real = (10.0, 10.0)
        me = self.world.here.add_avatar(ME.agent_id)
        assert me is not None
        self.me = me
        self.me.coarse = False
        self.place((10.0, 10.0))
        self.body = Body(now=0.0, far=64.0)
        self.ended: list[WalkEnded] = []
        self.keys: list[Keys] = []

    def place(self, at: tuple[float, float]) -> None:
        """Stand somewhere."""
        self.me.motion = Motion((at[0], at[1], 25.0))

    def update(self) -> AgentUpdate.AgentData:
        """Send the update that is due, and move accordingly until the next one."""
        request, ended = self.body.next_update(ME, self.world, self.now)
        (message,) = request.messages
        assert isinstance(message, AgentUpdate)
        data = message.agent_data
        self.keys.append(Keys(data.control_flags))
        if ended is not None:
            self.ended.append(ended)
        step = self.body.due - self.now
        going = Keys.FORWARD in self.keys[-1] and not self.blocked
        if self.silent:
            self._tell_sparsely(data, step, going=going)
        elif going:
            x, y, _ = self.me.motion.position
            self.place((x + data.camera_at_axis[0] * SPEED * step, y + data.camera_at_axis[1] * SPEED * step))
        self.now = self.body.due
        return data

    def _tell_sparsely(self, data: AgentUpdate.AgentData, step: float, *, going: bool) -> None:
        """Tell of the beginning and the end of a walk only."""
        east, north, _ = data.camera_at_axis
        x, y = self._real
        moving = self.me.motion.velocity != (0.0, 0.0, 0.0)
        if going is not moving and not (moving and self.never_at_rest):
            velocity = (east * SPEED, north * SPEED, 0.0) if going else (0.0, 0.0, 0.0)
            self.me.motion = Motion((x, y, 25.0), velocity)
            self.told += 1
        if going:
            self._real = (x + east * SPEED * step, y + north * SPEED * step)

    def update_keys(self) -> Keys:
        """Send an update; return its keys."""
        self.update()
        return self.keys[-1]

    def run(self, seconds: float) -> None:
        """Let time go by."""
        end = self.now + seconds
        while self.now < end and not self.ended:
            self.update()

    @property
    def at(self) -> tuple[float, float]:
        """Where it stands."""
        return self.me.motion.position[:2]


def test_a_body_at_rest_shows_itself_now_and_then() -> None:
    """Simulators forget who is silent; nothing is held down. Spec: LIV-7."""
    walker = Walker()
    walker.update()
    assert walker.now == RESTING_EVERY_S
    assert walker.keys == [Keys.NONE]
    walker.body.face(450.0, 7.0)
    assert walker.body.due == 7.0
    assert walker.update().camera_at_axis == pytest.approx((0, 1, 0), abs=1e-6)


@pytest.mark.parametrize("target", [(30.0, 10.0), (10.0, 2.0), (3.0, 17.0)])
def test_a_walk_ends_where_it_should(target: tuple[float, float]) -> None:
    """Keys down on the way, up on arrival, and the end is told once. Spec: LIV-7."""
    walker = Walker()
    walker.body.walk_to((*target, 25.0), 0.0)
    assert walker.body.busy
    walker.run(20.0)
    assert walker.ended == [WalkEnded(Reached.THERE)]
    assert walker.at == pytest.approx(target, abs=1.0)
    assert not walker.body.busy
    assert walker.keys[-1] is Keys.NONE
    assert Keys.FORWARD in walker.keys[0]


def test_a_walk_is_steered_by_speed_between_two_words_of_the_region() -> None:
    """Regions tell of beginning and end only: in between a velocity says where we are, for a while. Spec: LIV-7."""
    walker = Walker()
    walker.silent = True
    walker.body.walk_to((16.0, 10.0, 25.0), 0.0)
    walker.run(20.0)
    assert walker.ended == [WalkEnded(Reached.THERE)]
    assert walker.at == pytest.approx((16.0, 10.0), abs=1.0)
    assert walker.told <= 4


def test_whoever_rolls_too_far_walks_back() -> None:
    """A walk has ended when we are there at rest, not when we were there once. Spec: LIV-7."""
    walker = Walker()
    walker.body.walk_to((13.0, 10.0, 25.0), 0.0)
    while Keys.FORWARD in walker.update_keys():
        pass
    walker.me.motion = Motion((17.0, 10.0, 25.0), (3.0, 0.0, 0.0))
    walker.update()
    assert not walker.ended
    walker.me.motion = Motion((18.0, 10.0, 25.0))
    walker.run(10.0)
    assert walker.ended == [WalkEnded(Reached.THERE)]
    assert walker.at == pytest.approx((13.0, 10.0), abs=1.0)


def test_a_region_that_never_shows_us_at_rest_is_not_waited_for() -> None:
    """After a moment what was told last is taken as it is."""
    walker = Walker()
    walker.silent = walker.never_at_rest = True
    walker.body.walk_to((13.0, 10.0, 25.0), 0.0)
    walker.run(30.0)
    assert walker.ended


def test_who_sits_does_not_move_with_a_speed() -> None:
    """A seat's own motion is its business."""
    walker = Walker()
    walker.me.motion = Motion((1.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    walker.me.seat = 5
    assert walker.body._own_position(walker.world, 10.0) == (1.0, 0.0)


def test_a_walk_into_a_wall_is_given_up() -> None:
    """No progress for a while is stuck; the keys are let go. Spec: LIV-7."""
    walker = Walker(blocked=True)
    walker.body.walk_to((30.0, 10.0, 25.0), 0.0)
    walker.run(20.0)
    assert walker.ended == [WalkEnded(Reached.STUCK)]
    assert walker.now == pytest.approx(STUCK_AFTER_S + WALKING_EVERY_S, abs=0.3)
    assert walker.keys[-1] is Keys.NONE


def test_nobody_walks_who_does_not_know_where_they_are() -> None:
    """Before the region has shown us ourselves there is nothing to steer by."""
    walker = Walker()
    walker.world.here.drop_avatar(walker.me)
    walker.body.walk_to((30.0, 10.0, 25.0), 0.0)
    walker.update()
    assert walker.keys == [Keys.NONE]
    assert walker.body.own_heading(walker.world) == 0


def test_a_pursuit_keeps_its_distance_and_goes_on() -> None:
    """It stops near somebody, starts again when they go, and does not tire of it. Spec: LIV-7."""
    walker = Walker()
    ben = walker.world.here.add_avatar(BEN)
    assert ben is not None
    ben.motion = Motion((20.0, 10.0, 25.0))
    walker.body.follow(BEN, 3.0, 0.0)
    for _ in range(30):
        walker.update()
    assert walker.at[0] == pytest.approx(17.0, abs=0.8)
    assert walker.keys[-1] is Keys.NONE
    ben.motion = Motion((20.5, 10.0, 25.0))
    walker.update()
    assert walker.keys[-1] is Keys.NONE
    for x in range(25, 60):  # faster than we walk
        ben.motion = Motion((float(x), 10.0, 25.0))
        walker.update()
    assert walker.keys[-1] is Keys.FORWARD
    assert not walker.ended
    assert walker.body.stop(walker.now)
    walker.update()
    assert walker.keys[-1] is Keys.STOP
    assert not walker.body.stop(walker.now)


def test_a_pursuit_of_somebody_who_is_gone_ends() -> None:
    """After a while out of sight. Spec: LIV-7."""
    walker = Walker()
    walker.body.follow(BEN, 3.0, 0.0)
    walker.place((0.0, 0.0))
    walker.run(30.0)
    assert walker.ended == [WalkEnded(Reached.TARGET_GONE)]
    assert walker.now == pytest.approx(GONE_AFTER_S + RESTING_EVERY_S, abs=0.5)


@pytest.mark.parametrize(
    ("order", "key"), [(Body.stand_up, Keys.STAND), (Body.sit_on_ground, Keys.SIT_ON_GROUND)], ids=["stand", "sit"]
)
def test_a_key_that_is_pressed_is_let_go(order, key: Keys) -> None:
    """Once down, and up in the next update, which comes soon. Spec: LIV-7."""
    walker = Walker()
    walker.body.walk_to((30.0, 10.0, 25.0), 0.0)
    walker.update()
    order(walker.body, walker.now)
    walker.update()
    assert key in walker.keys[-1]
    assert Keys.FORWARD not in walker.keys[-1]
    before = walker.now
    walker.update()
    assert walker.keys[-1] is Keys.NONE
    assert walker.now - before <= RESTING_EVERY_S


def test_arriving_elsewhere_ends_every_errand() -> None:
    """The walk belongs to the region we left; a look at nothing turns nobody. Spec: LIV-7."""
    walker = Walker()
    walker.body.walk_to((30.0, 10.0, 25.0), 0.0)
    walker.body.arrive((0.0, -1.0, 0.0), 1.0)
    assert not walker.body.busy
    assert walker.body.heading_deg == 270
    walker.body.arrive((0.0, 0.0, 0.0), 2.0)
    assert walker.body.heading_deg == 270


def test_our_heading_is_what_the_region_shows() -> None:
    """What we asked for stands in only while it shows nothing."""
    walker = Walker()
    walker.me.motion = Motion((10.0, 10.0, 25.0), (0.0, 0.0, 0.0), rotation_of(0.0, 0.0, 0.70710678))
    assert walker.body.own_heading(walker.world) == pytest.approx(90, abs=0.01)
    walker.me.coarse = True
    assert walker.body.own_heading(walker.world) == 0


def test_typing_shows_in_the_hands() -> None:
    """At once, in the next update."""
    walker = Walker()
    walker.update()
    walker.body.show_typing(typing=True, now=1.0)
    assert walker.body.due == 1.0
    assert walker.update().state == 4
