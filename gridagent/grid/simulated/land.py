"""Keeping order on land: sending somebody off a parcel.

Owns the verb eject. Whoever is sent off goes home, or to the first other region that takes them, and
stays out: the parcel bans them. Invariant: nobody is ejected from land the ejector may not manage.
"""

from __future__ import annotations

from gridagent.actions import EjectAvatar
from gridagent.errors import LimitExceeded
from gridagent.events import AlertShown
from gridagent.grid.simulated.avatars import Avatar, Body, Place
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.state import State
from gridagent.grid.simulated.teleport import send
from gridagent.limits import Label

__all__ = ("eject_avatar",)


def eject_avatar(state: State, avatar: Avatar, body: Body, action: EjectAvatar, reference: Label) -> None:
    """Send somebody off the parcel they stand on."""
    target = state.avatars.get(action.avatar_id)
    if target is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_AVATAR)
    elif target is avatar:
        state.refuse(avatar, reference, Refusal.NOT_YOURSELF)
    elif target.body is None or target.body.region is not body.region:
        state.refuse(avatar, reference, Refusal.NOT_HERE)
    elif not body.region.parcel_at(target.body.position_at(state.now)).may_manage(avatar.avatar_id):
        state.refuse(avatar, reference, Refusal.NO_LAND_RIGHTS)
    else:
        _send_off(state, avatar, target, target.body, reference)


def _send_off(state: State, avatar: Avatar, target: Avatar, body: Body, reference: Label) -> None:
    refuge = _refuge(state, target, body)
    if refuge is None:
        state.refuse(avatar, reference, Refusal.NOWHERE_TO_SEND)
        return
    region = state.region(refuge.region)
    try:
        body.region.parcel_at(body.position_at(state.now)).ban(target.avatar_id)
    except LimitExceeded:
        state.refuse(avatar, reference, Refusal.BAN_LIST_FULL)
        return
    if body.transit is not None:
        body.transit.timer.cancel()
        body.transit = None
    state.tell(target, AlertShown(text=f"You have been ejected from {body.region.name}.", modal=True))
    send(state, target, body, region, refuge.position, how="ejected")


def _refuge(state: State, target: Avatar, body: Body) -> Place | None:
    """Find a place in another region: home, else any that is open."""
    home = state.atlas.find(target.home.region)
    if home is not None and home is not body.region and home.up and home.has_room():
        return target.home
    for region in state.atlas:
        if region is not body.region and region.up and region.has_room():
            return Place(region=region.name, position=region.centre())
    return None
