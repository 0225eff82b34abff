"""Walking, following, turning and stopping.

Owns how a body moves inside its region: straight segments at one speed. Others are told at the start,
every `STEP_M` metres and at the end; nothing ticks in between, so that a thousand idle avatars cost
nothing (Spec: SIM-2). Invariant: a body walks at most one segment and follows at most one avatar; a
walk that another action ends is refused as superseded, so that nobody waits for it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from gridagent.actions import FollowAvatar, Position, StopMoving, TurnTo, WalkTo
from gridagent.events import Posture, SelfMoved
from gridagent.grid.simulated.avatars import Avatar, Body, Follow, Walk
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import GROUND_M
from gridagent.grid.simulated.state import State
from gridagent.limits import Label

__all__ = ("STEP_M", "follow_avatar", "halt", "lose_followers", "show_self", "stop_moving", "turn_to", "walk_to")

STEP_M: Final = 5.0
"""A walking body is seen anew after so many metres."""
_NEAR_M: Final = 0.05
_NEAR_ENOUGH_M: Final = 0.5
"""A follower has caught up when the distance is no more than this longer than wanted."""
_CATCH_UP_M: Final = 2.0
"""It sets out again when the distance is this much longer, so that it does not shuffle along."""


def turn_to(state: State, avatar: Avatar, body: Body, action: TurnTo, reference: Label) -> None:
    """Face a heading."""
    if body.transit is not None:
        state.refuse(avatar, reference, Refusal.IN_TRANSIT)
        return
    body.heading_deg = action.heading_deg
    show_self(state, avatar, body)


def walk_to(state: State, avatar: Avatar, body: Body, action: WalkTo, reference: Label) -> None:
    """Walk to a point of the region; the ground decides the height."""
    reason = _rooted(body)
    if reason is None and not body.region.contains(action.position):
        reason = Refusal.OUTSIDE_REGION
    if reason is None and not body.region.parcel_at(action.position).may_enter(avatar.avatar_id):
        reason = Refusal.NO_ACCESS
    if reason is not None:
        state.refuse(avatar, reference, reason)
        return
    halt(state, avatar, body)
    target = Position(x=float(action.position.x), y=float(action.position.y), z=GROUND_M)
    _set_out(state, avatar, body, target, reference)


def follow_avatar(state: State, avatar: Avatar, body: Body, action: FollowAvatar, reference: Label) -> None:
    """Walk after somebody until told to stop."""
    target = state.avatars.get(action.avatar_id)
    reason = _rooted(body)
    if reason is None and target is avatar:
        reason = Refusal.NOT_YOURSELF
    if reason is None and (target is None or target.body is None or target.body.region is not body.region):
        reason = Refusal.NOT_HERE if target is not None else Refusal.UNKNOWN_AVATAR
    if reason is not None:
        state.refuse(avatar, reference, reason)
        return
    assert target is not None  # noqa: S101 - refused above
    assert target.body is not None  # noqa: S101 - refused above
    halt(state, avatar, body)
    body.follow = Follow(target_id=target.avatar_id, distance_m=action.distance_m, reference=reference)
    target.body.followers[avatar.avatar_id] = None
    _keep_up(state, avatar, body)


def stop_moving(state: State, avatar: Avatar, body: Body, action: StopMoving, reference: Label) -> None:
    """Stop where the body is."""
    del action, reference
    walked = body.walk is not None
    halt(state, avatar, body)
    show_self(state, avatar, body)
    if walked:
        state.show_to_others(avatar, body)


def halt(state: State, avatar: Avatar, body: Body) -> None:
    """End walking and following without telling where; whoever asked for it is told that it was superseded."""
    walk, follow = body.walk, body.follow
    if walk is not None:
        body.position = body.position_at(state.now)
        body.walk = None
        walk.timer.cancel()
    if follow is not None:
        body.follow = None
        # `lose_followers` ends following before a body goes, so the target is in the world.
        del state.body(state.avatars[follow.target_id]).followers[avatar.avatar_id]
        if not follow.caught_up:
            state.refuse(avatar, follow.reference, Refusal.SUPERSEDED)
    elif walk is not None:
        state.refuse(avatar, walk.reference, Refusal.SUPERSEDED)


def lose_followers(state: State, body: Body) -> None:
    """Tell everybody who walks after this body that it is gone."""
    for follower_id in tuple(body.followers):
        follower = state.avatars[follower_id]
        following = state.body(follower)
        halt(state, follower, following)
        show_self(state, follower, following)


def show_self(state: State, avatar: Avatar, body: Body, *, moving: bool = False) -> None:
    """Tell an avatar where it is."""
    state.tell(
        avatar,
        SelfMoved(
            region=body.region.name,
            position=body.position_at(state.now),
            heading_deg=body.heading_deg,
            moving=moving,
        ),
    )


def _rooted(body: Body) -> Refusal | None:
    """Tell why a body cannot walk, if so."""
    if body.transit is not None:
        return Refusal.IN_TRANSIT
    if body.posture in {Posture.SITTING, Posture.SITTING_ON_GROUND}:
        return Refusal.SEATED
    return None


def _set_out(state: State, avatar: Avatar, body: Body, target: Position, reference: Label) -> None:
    """Begin one segment."""
    start = body.position
    length = start.distance_to(target)
    if length < _NEAR_M:
        _arrive(state, avatar, body)
        return
    body.heading_deg = math.degrees(math.atan2(target.y - start.y, target.x - start.x)) % 360.0
    now = state.now
    ends_at = now + length / state.settings.walk_speed_m_s
    timer = state.timers.at(_next_told(state, ends_at), partial(_step, state, avatar, body))
    body.walk = Walk(start=start, target=target, started_at=now, ends_at=ends_at, reference=reference, timer=timer)
    _show_walk(state, avatar, body)


def _next_told(state: State, ends_at: float) -> float:
    return min(state.now + STEP_M / state.settings.walk_speed_m_s, ends_at)


def _show_walk(state: State, avatar: Avatar, body: Body) -> None:
    show_self(state, avatar, body, moving=True)
    state.show_parcel(avatar, body)
    state.show_to_others(avatar, body)
    _lead(state, body)


def _step(state: State, avatar: Avatar, body: Body) -> None:
    """Tell everybody where a walk is, or that it has ended; the next step is a few metres on."""
    walk = body.walk
    assert walk is not None  # noqa: S101 - `halt` cancels the timer with the walk
    if state.now >= walk.ends_at:
        body.position = walk.target
        body.walk = None
        _arrive(state, avatar, body)
    elif body.follow is not None:
        # Aim anew, or two who follow each other would change places for ever.
        body.position = body.position_at(state.now)
        body.walk = None
        _keep_up(state, avatar, body)
        if body.walk is None:
            _rest(state, avatar, body)
    else:
        walk.timer = state.timers.at(_next_told(state, walk.ends_at), partial(_step, state, avatar, body))
        _show_walk(state, avatar, body)


def _rest(state: State, avatar: Avatar, body: Body) -> None:
    """Tell everybody where a walk has ended."""
    show_self(state, avatar, body)
    state.show_parcel(avatar, body)
    state.show_to_others(avatar, body)
    _lead(state, body)


def _arrive(state: State, avatar: Avatar, body: Body) -> None:
    _rest(state, avatar, body)
    if body.follow is not None:
        _keep_up(state, avatar, body)


def _lead(state: State, body: Body) -> None:
    """Let followers see that this body has moved."""
    for follower_id in tuple(body.followers):
        follower = state.avatars[follower_id]
        _keep_up(state, follower, state.body(follower))


def _keep_up(state: State, avatar: Avatar, body: Body) -> None:
    """Walk up to the followed avatar, or note that the follower has caught up."""
    follow = body.follow
    if follow is None or body.walk is not None:
        return
    there = state.body(state.avatars[follow.target_id]).position_at(state.now)
    here = body.position
    gap = math.hypot(there.x - here.x, there.y - here.y)
    if gap <= follow.distance_m + _NEAR_ENOUGH_M:
        if not follow.caught_up:
            follow.caught_up = True
            show_self(state, avatar, body)
        return
    if follow.caught_up and gap <= follow.distance_m + _CATCH_UP_M:
        return
    share = (gap - follow.distance_m) / gap
    point = Position(x=here.x + (there.x - here.x) * share, y=here.y + (there.y - here.y) * share, z=GROUND_M)
    _set_out(state, avatar, body, point, follow.reference)
