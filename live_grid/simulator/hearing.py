"""What the world tells an avatar, said to its client in the protocol's words.

Owns one table, event class → what is sent; the world calls it and must not be called back from here. Things that are
seen are only marked, and shown by the visit as acks allow; words go out at once. An event without a row means nothing
on the wire, and the table says which those are (Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from gridagent import events as told
from gridagent.actions import Position, Volume
from gridagent.events import GridEvent, Speaker, SpeakerKind
from gridagent.ids import NIL_UUID, AvatarId, ObjectId
from live_grid.llsd import write_llsd_xml
from live_grid.messages import NIL
from live_grid.messages.avatars import AvatarAnimation
from live_grid.messages.people import OfflineNotification, OnlineNotification, TerminateFriendship
from live_grid.messages.speech import (
    AgentAlertMessage,
    AlertMessage,
    ChatFromSimulator,
)
from live_grid.simulator import dialogs, greeting, hearing_offers, holdings, travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import conversation_id, derived_id, wire_id
from live_grid.simulator.instant import im, kick
from live_grid.simulator.paying import balance_reply
from live_grid.simulator.refusing import teleport_words, tell_refusal
from live_grid.simulator.wording import long_text, short_text

__all__ = ("UNSPOKEN", "hear")

_AUDIBLE: Final = 1
_SYSTEM, _AGENT, _OBJECT = 0, 1, 2
_VOLUMES: Final = {Volume.WHISPER: 0, Volume.SAY: 1, Volume.SHOUT: 2}
_TYPING_STARTS, _TYPING_ENDS = 4, 5
_SOURCES: Final = {SpeakerKind.SELF: _AGENT, SpeakerKind.AVATAR: _AGENT, SpeakerKind.OBJECT: _OBJECT}
_NOWHERE: Final = (0.0, 0.0, 0.0)


# --- words ---------------------------------------------------------------------------------------


def _where(agent: Agent, source_id: str) -> tuple[float, float, float]:
    """Return where somebody or something in the agent's region is."""
    body = agent.avatar.body
    assert body is not None  # noqa: S101 - who hears is in the world
    avatar = body.region.avatars.get(AvatarId(source_id))
    thing = body.region.objects.get(ObjectId(source_id))
    found: Position | None = None
    if avatar is not None and avatar.body is not None:
        found = avatar.body.position_at(agent.stage.world.now)
    elif thing is not None:
        found = thing.position
    return _NOWHERE if found is None else (found.x, found.y, found.z)


def _chat(agent: Agent, source: Speaker, kind: int, text: str) -> None:
    owner = source.owner_id if source.owner_id is not None else source.id
    agent.say(
        ChatFromSimulator(
            chat_data=ChatFromSimulator.ChatData(
                from_name=short_text(source.name),
                source_id=wire_id(source.id),
                owner_id=wire_id(owner),
                source_type=_SOURCES.get(source.kind, _SYSTEM),
                chat_type=kind,
                audible=_AUDIBLE,
                position=_where(agent, source.id),
                message=long_text(text),
            )
        )
    )


def _chat_heard(agent: Agent, event: told.ChatHeard) -> None:
    _chat(agent, event.source, _VOLUMES[event.volume], event.text)


def _typing_seen(agent: Agent, event: told.TypingSeen) -> None:
    typist = agent.stage.world.avatar(event.avatar_id)
    _chat(agent, typist.speaker(), _TYPING_STARTS if event.typing else _TYPING_ENDS, "")


def _im_received(agent: Agent, event: told.ImReceived) -> None:
    source = event.source
    if source.kind is SpeakerKind.OBJECT:
        message = im(agent, source, dialogs.FROM_OBJECT, event.text, id=wire_id(source.id), offline=event.offline)
    else:
        conversation = conversation_id(wire_id(source.id), agent.agent_id)
        message = im(agent, source, dialogs.MESSAGE, event.text, id=conversation, offline=event.offline)
    if event.offline:
        # Stored messages wait until the client asks for them.
        agent.stored_ims.append(message)
    else:
        agent.say(message)


def _group_im_seen(agent: Agent, event: told.GroupImSeen) -> None:
    group = derived_id("group", event.group)
    source = Speaker(kind=SpeakerKind.SYSTEM, id=NIL_UUID, name=event.group)
    agent.say(
        im(
            agent,
            source,
            dialogs.SESSION_SEND,
            "The group talks.",
            id=group,
            bucket=short_text(event.group),
            from_group=True,
        )
    )


def _alert_shown(agent: Agent, event: told.AlertShown) -> None:
    agent.say(
        AgentAlertMessage(
            agent_data=AgentAlertMessage.AgentData(agent.agent_id),
            alert_data=AgentAlertMessage.AlertData(event.modal, short_text(event.text)),
        )
    )


def _region_restarting(agent: Agent, event: told.RegionRestarting) -> None:
    seconds = int(event.seconds)
    words = short_text(f"Region {event.region} will restart in {seconds} seconds.")
    keyed: tuple[AlertMessage.AlertInfo, ...] = ()
    if not agent.stage.profile.restart_as_text:
        params = write_llsd_xml({"NAME": event.region[:64], "SECONDS": seconds})
        keyed = (AlertMessage.AlertInfo(short_text("RegionRestartSeconds"), params[:255]),)
    agent.say(AlertMessage(alert_data=AlertMessage.AlertData(words), alert_info=keyed))


def _kicked(agent: Agent, event: told.Kicked) -> None:
    agent.say(kick(agent, event.reason))


# --- what is seen --------------------------------------------------------------------------------


def _mark(agent: Agent, thing_id: str) -> None:
    eyes = agent.eyes
    if eyes is not None:
        eyes.mark(thing_id)
        agent.stage.wake()


def _gone(agent: Agent, thing_id: str) -> None:
    eyes = agent.eyes
    if eyes is not None:
        eyes.forget(thing_id)


def _avatar_seen(agent: Agent, event: told.AvatarSeen) -> None:
    _mark(agent, event.avatar.avatar_id)


def _avatar_left(agent: Agent, event: told.AvatarLeft) -> None:
    _gone(agent, event.avatar_id)


def _object_seen(agent: Agent, event: told.ObjectSeen) -> None:
    seen = event.object
    if agent.eyes is not None and seen.owner_id == agent.avatar_id and seen.reference.startswith("rez-"):
        agent.eyes.selected[seen.object_id] = None
    _mark(agent, seen.object_id)


def _object_gone(agent: Agent, event: told.ObjectGone) -> None:
    _gone(agent, event.object_id)


def _self_moved(agent: Agent, event: told.SelfMoved) -> None:
    _mark(agent, agent.avatar_id)
    steering = agent.steering
    if event.moving or steering.beyond is None or steering.border is None:
        return
    if event.position.distance_to(steering.border) < 1.0:
        agent.stage.defer(partial(_cross, agent, steering.beyond))
    steering.forget_border()


def _cross(agent: Agent, beyond: tuple[float, float], now: float) -> None:
    travel.cross_border(agent, beyond, now)


def _posture_changed(agent: Agent, event: told.PostureChanged) -> None:
    del event
    _mark(agent, agent.avatar_id)
    # Sitting on the ground shows in an animation only.
    agent.say(greeting.standing(agent.avatar))


def _animation_changed(agent: Agent, event: told.AnimationChanged) -> None:
    del event
    animation: AvatarAnimation = greeting.standing(agent.avatar)
    agent.say(animation)


def _parcel_seen(agent: Agent, event: told.ParcelSeen) -> None:
    del event
    travel.tell_parcel(agent)


def _teleport_finished(agent: Agent, event: told.TeleportFinished) -> None:
    travel.teleport_landed(agent, event, agent.stage.world.now)


def _teleport_failed(agent: Agent, event: told.TeleportFailed) -> None:
    travel.teleport_failed(agent, teleport_words(event.reason))


# --- people, inventory, money --------------------------------------------------------------------


def _friend_changed(agent: Agent, event: told.FriendChanged) -> None:
    friend = wire_id(event.avatar_id)
    if not event.friend:
        agent.friends.pop(event.avatar_id, None)
        agent.say(TerminateFriendship(agent_data=agent.identity, ex_block=TerminateFriendship.ExBlock(friend)))
        return
    if event.avatar_id not in agent.friends:
        agent.friends[event.avatar_id] = None
        if not agent.answers_friendship:
            # Our offer was accepted: by whom is said in their name.
            other = agent.stage.world.avatar(event.avatar_id)
            agent.say(im(agent, other.speaker(), dialogs.FRIENDSHIP_ACCEPTED, "", id=friend))
    if event.online:
        agent.say(OnlineNotification(agent_block=(OnlineNotification.AgentBlock(friend),)))
    else:
        agent.say(OfflineNotification(agent_block=(OfflineNotification.AgentBlock(friend),)))


def _gift_answered(agent: Agent, event: told.GiftAnswered) -> None:
    receiver = agent.stage.world.avatar(event.to)
    transaction = agent.gifts.take((event.item_id, event.to)) or NIL
    if agent.stage.profile.gifts_answered_as_copies:
        transaction = derived_id("copy", event.item_id, event.to)
    dialog = dialogs.GIFT_ACCEPTED if event.accepted else dialogs.GIFT_DECLINED
    agent.say(im(agent, receiver.speaker(), dialog, "", id=transaction))


def _inventory_changed(agent: Agent, event: told.InventoryChanged) -> None:
    callback = agent.makings.take((event.item.kind, event.item.name))
    if callback is None and agent.stage.profile.gifts_over_queue and agent.root is not None:
        agent.root.mailbox.put("BulkUpdateInventory", holdings.queued_item(agent.avatar_id, event.item))
    else:
        agent.say(holdings.new_item(agent.avatar_id, event.item, callback or 0))


def _balance_changed(agent: Agent, event: told.BalanceChanged) -> None:
    if event.change == 0:
        return  # the greeting of a login: nobody has asked yet
    agent.say(balance_reply(agent, event))


_TABLE: Final[Mapping[type[GridEvent], Callable[..., None]]] = MappingProxyType(
    {
        told.ActionRefused: tell_refusal,
        told.AlertShown: _alert_shown,
        told.AnimationChanged: _animation_changed,
        told.AvatarLeft: _avatar_left,
        told.AvatarSeen: _avatar_seen,
        told.BalanceChanged: _balance_changed,
        told.ChatHeard: _chat_heard,
        told.DialogOpened: hearing_offers.dialog_opened,
        told.FriendChanged: _friend_changed,
        told.FriendshipOffered: hearing_offers.friendship_offered,
        told.GiftAnswered: _gift_answered,
        told.GroupImSeen: _group_im_seen,
        told.ImReceived: _im_received,
        told.InventoryChanged: _inventory_changed,
        told.InventoryOffered: hearing_offers.inventory_offered,
        told.Kicked: _kicked,
        told.ObjectGone: _object_gone,
        told.ObjectSeen: _object_seen,
        told.ParcelSeen: _parcel_seen,
        told.PermissionAsked: hearing_offers.permission_asked,
        told.PostureChanged: _posture_changed,
        told.RegionRestarting: _region_restarting,
        told.SelfMoved: _self_moved,
        told.TeleportAsked: hearing_offers.teleport_asked,
        told.TeleportFailed: _teleport_failed,
        told.TeleportFinished: _teleport_finished,
        told.TeleportOffered: hearing_offers.teleport_offered,
        told.TypingSeen: _typing_seen,
        told.UrlShown: hearing_offers.url_shown,
    }
)
UNSPOKEN: Final = frozenset(
    {
        told.BackendReady,  # what a login reply says
        told.Delivered,  # what an ack says
        told.EventsShed,
        told.InventoryRemoved,  # no message of a known layout says so: clients look again
        told.NotecardRead,
        told.OfferClosed,  # the client closes what it answers; a withdrawn offer dies when it is answered
        told.PartDegraded,
        told.PartRecovered,
        told.RegionEntered,  # what presence says
        told.TransportUp,
    }
)
"""Events that mean nothing on the wire."""


def hear(agent: Agent, event: GridEvent) -> None:
    """Say to a client what its avatar is told."""
    say = _TABLE.get(type(event))
    if say is not None:
        say(agent, event)
        agent.stage.wake()
