"""What words do to our world: chat, alerts, kicks, pages, and what scripts ask.

Owns the reducers of the family. Who speaks is what the simulator says in its own fields; a name, or what a text claims
about itself, decides nothing (Spec: LIV-6; Fault: 14, 15, 16, 17, 20).
"""

from __future__ import annotations

import re
from typing import Final

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import read_llsd_untrusted
from live_grid.llsd.values import LlsdValue
from live_grid.messages import NIL
from live_grid.messages.circuits import KickUser, LogoutReply
from live_grid.messages.speech import (
    AgentAlertMessage,
    AlertMessage,
    ChatFromSimulator,
    LoadURL,
    ScriptDialog,
    ScriptQuestion,
)
from live_grid.world.bounds import BUTTONS_MAX, LABEL_MAX_CHARACTERS, LONG_MAX_CHARACTERS, URL_MAX_CHARACTERS
from live_grid.world.events import (
    AlertShown,
    ChatHeard,
    Kicked,
    LogoutConfirmed,
    OfferLapsed,
    OfferMade,
    RestartAnnounced,
    SourceKind,
    TypingShown,
    UrlShown,
    WorldEvent,
)
from live_grid.world.offers import Dialog, Offer, OfferKind, Permissions
from live_grid.world.state import Region, World
from live_grid.world.text import clean_name, clean_text

__all__ = (
    "keep_offer",
    "reduce_agent_alert",
    "reduce_alert",
    "reduce_chat",
    "reduce_kick",
    "reduce_logout_reply",
    "reduce_script_dialog",
    "reduce_script_question",
    "reduce_url",
)

_SYSTEM, _AGENT, _OBJECT = 0, 1, 2
_TYPING_STARTS, _TYPING_ENDS = 4, 5
_DAY_S: Final = 86_400
_PARAMS_MAX_BYTES: Final = 255
_RESTART: Final = {"RegionRestartMinutes": ("MINUTES", 60.0), "RegionRestartSeconds": ("SECONDS", 1.0)}
_RESTART_TEXT: Final = re.compile(
    r"(?=.*\bregion\b)(?=.*\brestart).*?\b(\d{1,4})\s*(second|minute)s?\b(?:[^\d]{0,12}(\d{1,2})\s*seconds?\b)?",
    re.IGNORECASE | re.DOTALL,
)
"""OpenSimulator lets its operator word the notice; this is what the shipped wording has in common."""


def keep_offer(world: World, offer: Offer) -> tuple[WorldEvent, ...]:
    """Keep an offer and tell of it, and of the one that made room."""
    lapsed = world.offers.put(offer)
    made = OfferMade(offer.offer_id)
    return (made,) if lapsed is None else (OfferLapsed(lapsed.offer_id), made)


def _kind_of(world: World, source_type: int, source_id: bytes) -> SourceKind:
    if source_type == _AGENT:
        return SourceKind.SELF if source_id == world.agent_id else SourceKind.AVATAR
    return SourceKind.OBJECT if source_type == _OBJECT else SourceKind.SYSTEM


def reduce_chat(world: World, region: Region, message: ChatFromSimulator) -> tuple[WorldEvent, ...]:
    """Hear somebody or something."""
    del region
    data = message.chat_data
    kind = _kind_of(world, data.source_type, data.source_id)
    if data.chat_type in {_TYPING_STARTS, _TYPING_ENDS}:
        if kind is not SourceKind.AVATAR:
            return ()
        return (TypingShown(data.source_id, data.chat_type == _TYPING_STARTS),)
    text = clean_text(data.message)
    if not text:
        return ()
    return (
        ChatHeard(
            kind,
            data.source_id,
            data.owner_id,
            clean_name(data.from_name),
            text,
            data.chat_type,
            data.position,
        ),
    )


def _seconds(key: str, params: bytes) -> float | None:
    row = _RESTART.get(key)
    if row is None:
        return None
    try:
        value: LlsdValue = read_llsd_untrusted(params.rstrip(b"\0"), size_max=_PARAMS_MAX_BYTES)
    except RemoteProtocolError:
        value = None
    number = value.get(row[0]) if isinstance(value, dict) else None
    return number * row[1] if isinstance(number, int | float) and 0 <= number <= _DAY_S else 0.0


def _announced(text: str) -> float | None:
    found = _RESTART_TEXT.match(text)
    if found is None:
        return None
    seconds = int(found[1]) * (60.0 if found[2].lower() == "minute" else 1.0)
    return seconds + (int(found[3]) if found[3] and found[2].lower() == "minute" else 0)


def _alert(text: str, key: str, *, params: bytes = b"", modal: bool = False) -> tuple[WorldEvent, ...]:
    seconds = _seconds(key, params)
    if seconds is None:
        seconds = _announced(text)
    shown = (AlertShown(text, key, modal),) if text or key else ()
    return shown if seconds is None else (RestartAnnounced(seconds), *shown)


def reduce_alert(world: World, region: Region, message: AlertMessage) -> tuple[WorldEvent, ...]:
    """Take a notice of the region; a restart it announces is told apart."""
    del world, region
    key, params = "", b""
    for info in message.alert_info[:1]:
        key, params = clean_name(info.message, LABEL_MAX_CHARACTERS), info.extra_params
    return _alert(clean_text(message.alert_data.message, LONG_MAX_CHARACTERS), key, params=params)


def reduce_agent_alert(world: World, region: Region, message: AgentAlertMessage) -> tuple[WorldEvent, ...]:
    """Take a notice to us alone."""
    del world, region
    data = message.alert_data
    return _alert(clean_text(data.message, LONG_MAX_CHARACTERS), "", modal=data.modal)


def reduce_kick(world: World, region: Region, message: KickUser) -> tuple[WorldEvent, ...]:
    """Take notice that we are thrown out, if it is us."""
    info = message.user_info
    if region is not world.here or info.agent_id not in {world.agent_id, NIL}:
        return ()
    return (Kicked(clean_text(info.reason, LONG_MAX_CHARACTERS)),)


def reduce_logout_reply(world: World, region: Region, message: LogoutReply) -> tuple[WorldEvent, ...]:
    """Take notice that the grid has saved us."""
    del region
    return (LogoutConfirmed(),) if message.agent_data.agent_id == world.agent_id else ()


def reduce_url(world: World, region: Region, message: LoadURL) -> tuple[WorldEvent, ...]:
    """Take notice of a page; nobody opens it."""
    del world, region
    data = message.data
    return (
        UrlShown(
            data.object_id,
            data.owner_id,
            clean_name(data.object_name),
            clean_text(data.message, LONG_MAX_CHARACTERS),
            clean_name(data.url, URL_MAX_CHARACTERS),
        ),
    )


def reduce_script_dialog(world: World, region: Region, message: ScriptDialog) -> tuple[WorldEvent, ...]:
    """Keep a script's dialog for an answer."""
    del region
    data = message.data
    labels = tuple(button.button_label for button in message.buttons[:BUTTONS_MAX])
    offer = Dialog(
        offer_id=world.offers.next_id(OfferKind.DIALOG),
        source_id=data.object_id,
        name=clean_name(data.object_name),
        owner_id=message.owner_data[0].owner_id if message.owner_data else NIL,
        owner_name=clean_name(data.first_name.rstrip(b"\0") + b" " + data.last_name),
        text=clean_text(data.message),
        buttons=tuple(clean_name(label, LABEL_MAX_CHARACTERS) for label in labels),
        labels=labels,
        channel=data.chat_channel,
    )
    return keep_offer(world, offer)


def reduce_script_question(world: World, region: Region, message: ScriptQuestion) -> tuple[WorldEvent, ...]:
    """Keep a script's request for permissions for an answer."""
    del region
    data = message.data
    offer = Permissions(
        offer_id=world.offers.next_id(OfferKind.PERMISSIONS),
        source_id=data.task_id,
        name=clean_name(data.object_name),
        item_id=data.item_id,
        owner_name=clean_name(data.object_owner),
        bits=data.questions & 0xFFFF_FFFF,
    )
    return keep_offer(world, offer)
