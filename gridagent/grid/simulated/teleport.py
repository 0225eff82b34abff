"""Teleports: from asking to arriving, with latency and the ways it can fail.

Owns the way between regions. A teleport takes a random time within the world's range; while it runs the
body stands where it was and may do nothing else with its legs. The destination is checked when it is
asked for and again on arrival, as a region can restart in between. Invariant: one teleport at a time an
avatar; it ends in exactly one of finished, failed or logged out.
"""

from __future__ import annotations

from functools import partial

from gridagent.actions import AnswerTeleportOffer, Position, TeleportHome, TeleportTo
from gridagent.events import OfferClosed, PostureChanged, TeleportFinished
from gridagent.grid.simulated.avatars import Avatar, Body, Place, Transit
from gridagent.grid.simulated.offers import Lure
from gridagent.grid.simulated.postures import get_up
from gridagent.grid.simulated.presence import arrive, depart
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import State
from gridagent.grid.simulated.walking import halt, show_self
from gridagent.ids import OfferId
from gridagent.limits import Label

__all__ = ("answer_teleport_offer", "send", "teleport_home", "teleport_to")


def teleport_to(state: State, avatar: Avatar, body: Body, action: TeleportTo, reference: Label) -> None:
    """Teleport to a named region."""
    _set_off(state, avatar, body, Place(region=action.region, position=action.position), reference)


def teleport_home(state: State, avatar: Avatar, body: Body, action: TeleportHome, reference: Label) -> None:
    """Teleport to the avatar's home."""
    del action
    _set_off(state, avatar, body, avatar.home, reference)


def answer_teleport_offer(
    state: State, avatar: Avatar, body: Body, action: AnswerTeleportOffer, reference: Label
) -> None:
    """Accept an invitation and go, or decline it; an accepted one closes on arrival."""
    offer = state.offers.find(avatar.avatar_id, action.offer_id)
    if offer is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OFFER)
    elif not isinstance(offer, Lure):
        state.refuse(avatar, reference, Refusal.WRONG_KIND)
    elif action.accept:
        _set_off(state, avatar, body, offer.place, reference, offer.offer_id)
    else:
        state.offers.close(offer)
        state.tell(avatar, OfferClosed(offer_id=offer.offer_id, accepted=False, answer="declined"))


def _set_off(
    state: State, avatar: Avatar, body: Body, place: Place, reference: Label, offer_id: OfferId | None = None
) -> None:
    if body.transit is not None:
        # No TeleportFailed here: it has no reference and would be taken for the running teleport's end.
        state.refuse(avatar, reference, Refusal.IN_TRANSIT)
        return
    region = state.atlas.find(place.region)
    reason = _closed_to(avatar, body, region, place.position)
    if reason is not None or region is None:
        state.fail_teleport(avatar, reference, reason or Refusal.REGION_NOT_FOUND)
        return
    halt(state, avatar, body)
    shortest, longest = state.settings.teleport_s
    delay_s = state.rng.uniform(shortest, longest)
    timer = state.after(delay_s, partial(_land, state, avatar, body, region, place.position))
    body.transit = Transit(timer=timer, reference=reference, offer_id=offer_id)


def _closed_to(avatar: Avatar, body: Body, region: Region | None, position: Position) -> Refusal | None:
    """Tell why an avatar cannot come in, if so."""
    if region is None:
        return Refusal.REGION_NOT_FOUND
    if not region.up:
        return Refusal.REGION_DOWN
    if region is not body.region and not region.has_room():
        return Refusal.REGION_FULL
    if not region.parcel_at(position).may_enter(avatar.avatar_id):
        return Refusal.NO_ACCESS
    return None


def _land(state: State, avatar: Avatar, body: Body, region: Region, position: Position) -> None:
    """End a teleport; the body is still in the world, or its timer would have been cancelled."""
    transit = body.transit
    assert transit is not None  # noqa: S101 - the timer lives and dies with it
    body.transit = None
    reason = _closed_to(avatar, body, region, position)
    if reason is not None:
        state.fail_teleport(avatar, transit.reference, reason)
        return
    send(state, avatar, body, region, position, how="teleport")
    offer = None if transit.offer_id is None else state.offers.find(avatar.avatar_id, transit.offer_id)
    if offer is not None:
        state.offers.close(offer)
        state.tell(avatar, OfferClosed(offer_id=offer.offer_id, accepted=True, answer="accepted"))


def send(state: State, avatar: Avatar, body: Body, region: Region, position: Position, *, how: str) -> None:
    """Put a body somewhere else at once, standing."""
    was = body.posture
    where = region.clamp(position)
    if region is body.region:
        halt(state, avatar, body)
        get_up(state, body)
        body.position = where
        state.tell(avatar, TeleportFinished(region=region.name, position=where))
        show_self(state, avatar, body)
        state.show_parcel(avatar, body)
        state.show_to_others(avatar, body)
    else:
        depart(state, avatar, body)
        state.tell(avatar, TeleportFinished(region=region.name, position=where))
        arrive(state, avatar, body, region, where, how)
    if body.posture is not was:
        state.tell(avatar, PostureChanged(posture=body.posture))
