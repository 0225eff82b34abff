"""Coming into the world and leaving it: login, logout, and what a newcomer is shown.

Owns bodies' arrival in and departure from regions, and the end of sessions. A second login of somebody
who is in the world is refused once and ends the stale session, as OpenSim does, so that the next try
succeeds. Invariant: a body is in exactly one region's list, the one it names.
"""

from __future__ import annotations

from gridagent.actions import Position
from gridagent.errors import BackendError, OperatorError
from gridagent.events import (
    AvatarLeft,
    AvatarSeen,
    BackendReady,
    BalanceChanged,
    DisconnectCause,
    FriendChanged,
    Kicked,
    ObjectSeen,
    RegionEntered,
    TransportUp,
)
from gridagent.grid.simulated.avatars import Avatar, Body, Place
from gridagent.grid.simulated.messages import hand_over_offline
from gridagent.grid.simulated.postures import get_up
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.sessions import OnEnd, OnEvent, Session
from gridagent.grid.simulated.social import tell_friends
from gridagent.grid.simulated.state import State, distance_m
from gridagent.grid.simulated.walking import halt, lose_followers

__all__ = ("arrive", "attach", "depart", "end_session", "log_in", "log_out")


def log_in(state: State, avatar: Avatar) -> Session:
    """Put an avatar into the world.

    Raises:
        BackendError: ``already_logged_in`` (the stale session ends with this refusal), or
            ``maintenance`` when no region is up with room for one more.
    """
    stale = avatar.session
    if stale is not None:
        state.sessions.totals(avatar.avatar_id).refused += 1
        state.tell(avatar, Kicked(reason="You logged in from another place."))
        end_session(state, avatar, DisconnectCause.KICKED)
        raise BackendError(DisconnectCause.ALREADY_LOGGED_IN)
    place = _place_for(state, avatar)
    if place is None:
        raise BackendError(DisconnectCause.MAINTENANCE)
    region, position = place
    avatar.session = state.sessions.open(avatar.avatar_id, state.now)
    avatar.body = Body(region=region, position=region.clamp(position))
    region.avatars[avatar.avatar_id] = avatar
    state.show_to_others(avatar, avatar.body)
    tell_friends(state, avatar)
    return avatar.session


def _place_for(state: State, avatar: Avatar) -> tuple[Region, Position] | None:
    """Find where a login may go: where the avatar was, else home, else anywhere."""
    wanted = [(state.region(place.region), place.position) for place in (avatar.last, avatar.home)]
    anywhere = ((region, region.centre()) for region in state.atlas)
    for region, position in (*wanted, *anywhere):
        if region.up and region.has_room() and region.parcel_at(position).may_enter(avatar.avatar_id):
            return region, position
    return None


def attach(state: State, avatar: Avatar, on_event: OnEvent, on_end: OnEnd | None) -> None:
    """Connect somebody's senses to the body, and show them where they are.

    Raises:
        OperatorError: the avatar is away, or already has somebody.
    """
    session, body = avatar.session, state.body(avatar)
    if session is None or session.on_event is not None:
        raise OperatorError(f"{avatar.name} is already attached; one session has one pair of eyes")
    session.on_event = on_event
    session.on_end = on_end
    state.tell(avatar, TransportUp(avatar_id=avatar.avatar_id, name=avatar.name))
    state.tell(
        avatar,
        BackendReady(
            avatar_id=avatar.avatar_id,
            name=avatar.name,
            region=body.region.name,
            position=body.position,
            profile=state.settings.profile,
        ),
    )
    state.tell(avatar, BalanceChanged(balance=avatar.balance))
    _show_region(state, avatar, body, "login")
    for friend_id in avatar.friends:
        online = state.avatars[friend_id].online
        state.tell(avatar, FriendChanged(avatar_id=friend_id, friend=True, online=online))
    hand_over_offline(state, avatar)
    for offer in state.offers.open_to(avatar.avatar_id):
        state.tell(avatar, offer.shown)


def _show_region(state: State, avatar: Avatar, body: Body, how: str) -> None:
    """Show a newcomer the region, its people and its things."""
    region, here = body.region, body.position
    state.tell(avatar, RegionEntered(region=region.name, position=here, size_m=region.size_m, how=how))
    body.parcel = None
    state.show_parcel(avatar, body)
    for other in tuple(region.avatars.values()):
        if other is not avatar and other.body is not None:
            there = other.body.position_at(state.now)
            state.tell(avatar, AvatarSeen(avatar=other.view(there, distance_m(here, there))))
    for thing in tuple(region.objects.values()):
        state.tell(avatar, ObjectSeen(object=thing.view()))


def depart(state: State, avatar: Avatar, body: Body) -> None:
    """Take a body out of its region; everybody who stays sees it go."""
    halt(state, avatar, body)
    lose_followers(state, body)
    get_up(state, body)
    del body.region.avatars[avatar.avatar_id]
    state.tell_region(body.region, AvatarLeft(avatar_id=avatar.avatar_id))


def arrive(state: State, avatar: Avatar, body: Body, region: Region, position: Position, how: str) -> None:
    """Put a body that has departed into a region, and show it the place."""
    body.region = region
    body.position = region.clamp(position)
    region.avatars[avatar.avatar_id] = avatar
    state.show_to_others(avatar, body)
    _show_region(state, avatar, body, how)


def _leave_world(state: State, avatar: Avatar, session: Session, body: Body) -> None:
    # Senses go first: what was under way is in doubt, and nobody is there to be told that it ended.
    session.on_event = None
    if body.transit is not None:
        body.transit.timer.cancel()
        body.transit = None
    avatar.last = Place(region=body.region.name, position=body.position_at(state.now))
    depart(state, avatar, body)
    avatar.body = None


def end_session(state: State, avatar: Avatar, cause: DisconnectCause) -> None:
    """End the session of somebody who is in the world, from the grid's side."""
    session, body = avatar.session, state.body(avatar)
    assert session is not None  # noqa: S101 - a body is there exactly while a session is
    on_end = session.on_end
    _leave_world(state, avatar, session, body)
    avatar.session = None
    state.sessions.close(session, state.now, cause.value)
    tell_friends(state, avatar)
    if on_end is not None:
        on_end(cause)


def log_out(state: State, avatar: Avatar, session: Session) -> None:
    """Take a client's request to log out; one for a session that is over is counted and does nothing."""
    state.sessions.count_logout(session)
    if not session.live:
        return
    body = state.body(avatar)
    _leave_world(state, avatar, session, body)
    avatar.session = None
    state.sessions.close(session, state.now, "logout")
    tell_friends(state, avatar)
