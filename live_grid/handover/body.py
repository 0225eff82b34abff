"""Our body: where it faces, what keys it holds down, and where it walks by itself.

Owns the pace of `AgentUpdate` (at once on a change, often while walking, now and then at rest: a simulator forgets
whoever is silent) and the steering of a walk or a pursuit from our own position. Sans-IO: it is asked what to send and
when to be asked again. One body does one thing: a new errand ends the one before (Spec: LIV-7).

Invariant: whatever ends an errand lets go of the keys in the very next update.
"""

from __future__ import annotations

from math import atan2, degrees, hypot
from typing import Final

from live_grid.handover.events import Reached, WalkEnded
from live_grid.requests import Identity, Request
from live_grid.requests.moving import Keys, update_agent
from live_grid.world import Motion, Vector, World
from live_grid.world.packed import heading_of

__all__ = ("Body",)

WALKING_EVERY_S: Final = 0.2
RESTING_EVERY_S: Final = 5.0
ARRIVED_WITHIN_M: Final = 0.8
STEP_M: Final = 0.3
"""Less than this for `STUCK_AFTER_S` is no progress."""
STUCK_AFTER_S: Final = 4.0
RESTING_M_S: Final = 0.1
GONE_AFTER_S: Final = 10.0
"""Somebody we follow who is out of sight for so long is gone."""
EXTRAPOLATED_S: Final = 2.0
"""A velocity says where somebody is for so long; then it is old news."""
SETTLED_AFTER_S: Final = 1.5
"""By then a region has shown that we stopped, if it ever does."""
SLACK_M: Final = 1.0
"""How much farther than its distance somebody may get before we go after them again."""


class Body:
    """How our avatar holds itself.

    Args:
        now: seconds.
        far: how far we see, in metres.
    """

    __slots__ = (
        "_best_m",
        "_distance_m",
        "_due",
        "_errand",
        "_far",
        "_follow_id",
        "_keys",
        "_let_go_at",
        "_motion",
        "_motion_at",
        "_progress_at",
        "_pulse",
        "_seen_at",
        "_target",
        "_walking",
        "heading_deg",
        "seat_wanted",
        "typing",
    )

    def __init__(self, *, now: float, far: float) -> None:
        self.heading_deg = 0.0
        self.typing = False
        self.seat_wanted: bytes | None = None
        """The object we asked for a seat; one that is given after we thought better of it is not taken."""
        self._far = far
        self._keys = Keys.NONE
        self._pulse = Keys.NONE
        self._due = now
        self._errand = False
        self._target: Vector = (0.0, 0.0, 0.0)
        self._follow_id: bytes | None = None
        self._distance_m = ARRIVED_WITHIN_M
        self._walking = False
        self._best_m = 0.0
        self._progress_at = now
        self._let_go_at: float | None = None  # when the keys went up near the target
        self._motion = Motion()
        self._motion_at = now
        self._seen_at = now

    @property
    def busy(self) -> bool:
        """Whether a walk or a pursuit goes on."""
        return self._errand

    @property
    def due(self) -> float:
        """When to be asked for the next update."""
        return self._due

    # --- orders --------------------------------------------------------------------------------
    def face(self, heading_deg: float, now: float) -> None:
        """Face a heading, in degrees; 0 is east, 90 north."""
        self.heading_deg = heading_deg % 360.0
        self._due = now

    def show_typing(self, *, typing: bool, now: float) -> None:
        """Hold the hands as if typing, or no more."""
        self.typing = typing
        self._due = now

    def walk_to(self, target: Vector, now: float) -> None:
        """Walk to a point of the region."""
        self._begin(now)
        self._target = target

    def follow(self, avatar_id: bytes, distance_m: float, now: float) -> None:
        """Walk after somebody until told to stop."""
        self._begin(now)
        self._follow_id = avatar_id
        self._distance_m = distance_m

    def _begin(self, now: float) -> None:
        self.seat_wanted = None
        self._errand = True
        self._follow_id = None
        self._distance_m = ARRIVED_WITHIN_M
        self._walking = False
        self._let_go_at = None
        self._progress_at = self._seen_at = now
        self._due = now

    def stop(self, now: float) -> bool:
        """End the errand; tell whether there was one. The keys are let go either way."""
        had = self._errand
        self.seat_wanted = None
        self._errand = False
        self._walking = False
        self._pulse |= Keys.STOP
        self._due = now
        return had

    def stand_up(self, now: float) -> None:
        """Stand up, from a seat or the ground."""
        self.stop(now)
        self._pulse |= Keys.STAND

    def sit_on_ground(self, now: float) -> None:
        """Sit down where we stand."""
        self.stop(now)
        self._pulse |= Keys.SIT_ON_GROUND

    def arrive(self, look_at: Vector, now: float) -> None:
        """Be in another region: whatever was going on is over."""
        self._errand = False
        self._walking = False
        self.seat_wanted = None
        self._pulse = Keys.NONE
        if look_at[0] or look_at[1]:
            self.heading_deg = degrees(atan2(look_at[1], look_at[0])) % 360.0
        self._due = now

    # --- what to send --------------------------------------------------------------------------
    def next_update(self, me: Identity, world: World, now: float) -> tuple[Request, WalkEnded | None]:
        """Make the update that is due, steering on the way.

        Args:
            me: who tells.
            world: where we and others are.
            now: seconds.

        Returns:
            The update, and how the errand ended if it did.
        """
        ended = self._steer(world, now) if self._errand else None
        if ended is not None:
            self._errand = self._walking = False
        keys = Keys.FORWARD if self._walking else Keys.NONE
        keys |= self._pulse
        # A key that was down is let go soon, and what is held down is said often.
        brisk = self._walking or bool(self._pulse) or self._errand or keys != self._keys
        self._keys = keys
        self._pulse = Keys.NONE
        self._due = now + (WALKING_EVERY_S if brisk else RESTING_EVERY_S)
        update = update_agent(
            me,
            position=world.position,
            heading_deg=self.heading_deg,
            keys=keys,
            far=self._far,
            typing=self.typing,
        )
        return update, ended

    def _own_position(self, world: World, now: float) -> tuple[float, float]:
        """Tell where we are by now: regions tell of a walk's beginning and end, and of its speed in between."""
        me = world.me
        x, y, _ = world.position
        if me is None or me.seat:
            return x, y
        if me.motion is not self._motion:
            self._motion, self._motion_at = me.motion, now
        since = min(now - self._motion_at, EXTRAPOLATED_S)
        east, north, _ = me.motion.velocity
        return x + east * since, y + north * since

    def _steer(self, world: World, now: float) -> WalkEnded | None:
        me = world.me
        if me is None:
            return None
        if self._follow_id is not None:
            avatar = world.here.avatars.get(self._follow_id)
            if avatar is not None:
                self._target = world.here.position_of(avatar)
                self._seen_at = now
            elif now - self._seen_at >= GONE_AFTER_S:
                return WalkEnded(Reached.TARGET_GONE)
        x, y = self._own_position(world, now)
        east, north = self._target[0] - x, self._target[1] - y
        away = hypot(east, north)
        if self._let_go_at is not None and self._is_settling(me.motion.velocity, now):
            return None
        near = self._distance_m + (SLACK_M if self._follow_id is not None and not self._walking else 0.0)
        if away <= near:
            return self._be_near(now)
        self._let_go_at = None
        return self._go_on(degrees(atan2(north, east)) % 360.0, away, now)

    def _is_settling(self, velocity: Vector, now: float) -> bool:
        """Tell whether we are still coming to rest with the keys up."""
        rolling = hypot(velocity[0], velocity[1]) > RESTING_M_S
        return rolling and self._let_go_at is not None and now - self._let_go_at < SETTLED_AFTER_S

    def _be_near(self, now: float) -> WalkEnded | None:
        """Let go of the keys; a walk has ended when we are near at rest, wherever we rolled to in between."""
        if self._follow_id is None and not self._walking:
            return WalkEnded(Reached.THERE)
        if self._walking:
            self._walking = False
            self._let_go_at = now
        return None

    def _go_on(self, heading_deg: float, away: float, now: float) -> WalkEnded | None:
        self.heading_deg = heading_deg
        if not self._walking:
            self._walking = True
            self._best_m = away
            if self._follow_id is not None:
                self._progress_at = now
        elif self._best_m - away >= STEP_M:
            self._best_m, self._progress_at = away, now
        elif away - self._best_m >= STEP_M and self._follow_id is not None:
            self._best_m = away  # who we follow walks faster than we do: no fault of the ground
        elif now - self._progress_at >= STUCK_AFTER_S:
            return WalkEnded(Reached.STUCK)
        return None

    def own_heading(self, world: World) -> float:
        """Tell which way we face, as the region shows it; as we asked while it does not."""
        me = world.me
        return self.heading_deg if me is None or me.coarse else heading_of(me.motion.rotation)
