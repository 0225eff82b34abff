"""Public speech: who hears what, how far, and on which chat channel.

Owns the verbs say, emote and typing, and the words of objects. Whisper carries 10 m, say 20 m and shout
100 m, within one region. Avatars hear chat channel 0; objects with a script hear every channel, as
listening is theirs to filter. The speaker's own words come back to them as ``self`` and are the evidence
(Spec: EFX-1); words on another channel are only acknowledged, as on every grid.
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import Emote, Position, Say, SetTyping, Volume
from gridagent.events import ChatHeard, Speaker, SpeakerKind, TypingSeen
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.objects import GridObject
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import State, distance_m
from gridagent.limits import Label

__all__ = ("RANGE_M", "emote", "hear", "object_say", "say", "set_typing")

RANGE_M: Final = {Volume.WHISPER: 10.0, Volume.SAY: 20.0, Volume.SHOUT: 100.0}
"""How far each volume carries, in metres."""


def say(state: State, avatar: Avatar, body: Body, action: Say, reference: Label) -> None:
    """Speak in public."""
    _speak(state, avatar, body, action.text, action.volume, action.chat_channel, reference)


def emote(state: State, avatar: Avatar, body: Body, action: Emote, reference: Label) -> None:
    """Describe what the avatar does."""
    _speak(state, avatar, body, f"/me {action.text}", Volume.SAY, 0, reference)


def set_typing(state: State, avatar: Avatar, body: Body, action: SetTyping, reference: Label) -> None:
    """Show or hide the typing indicator to whoever is in earshot."""
    here = body.position_at(state.now)
    body.typing = action.typing
    shown = TypingSeen(avatar_id=avatar.avatar_id, typing=action.typing)
    for other, _ in _avatars_within(state, body.region, here, RANGE_M[Volume.SAY]):
        if other is not avatar:
            state.tell(other, shown)
    state.deliver(avatar, reference)


def object_say(state: State, thing: GridObject, text: str, volume: Volume, chat_channel: int) -> None:
    """Let an object speak."""
    hear(state, thing.region, thing.position, thing.speaker(), text, volume=volume, chat_channel=chat_channel)


def hear(
    state: State,
    region: Region,
    here: Position,
    source: Speaker,
    text: str,
    *,
    volume: Volume = Volume.SAY,
    chat_channel: int = 0,
) -> None:
    """Carry words from a point to everybody in range but their source, in the order in which they came."""
    reach = RANGE_M[volume]
    utterance_id = state.utterance_id()
    if chat_channel == 0:
        for listener, metres in _avatars_within(state, region, here, reach):
            if listener.avatar_id != source.id:
                state.tell(
                    listener,
                    ChatHeard(utterance_id=utterance_id, source=source, text=text, volume=volume, distance_m=metres),
                )
    for thing in tuple(region.listeners.values()):
        metres = distance_m(here, thing.position)
        if metres <= reach and thing.object_id != source.id and thing.script is not None:
            thing.script(
                ChatHeard(
                    utterance_id=utterance_id,
                    source=source,
                    text=text,
                    volume=volume,
                    chat_channel=chat_channel,
                    distance_m=metres,
                )
            )


def _speak(
    state: State, avatar: Avatar, body: Body, text: str, volume: Volume, chat_channel: int, reference: Label
) -> None:
    here = body.position_at(state.now)
    if chat_channel == 0:
        state.tell(
            avatar,
            ChatHeard(
                utterance_id=state.utterance_id(),
                source=avatar.speaker(SpeakerKind.SELF),
                text=text,
                volume=volume,
                reference=state.carried(reference),
            ),
        )
    else:
        state.deliver(avatar, reference)
    hear(state, body.region, here, avatar.speaker(), text, volume=volume, chat_channel=chat_channel)


def _avatars_within(state: State, region: Region, here: Position, reach: float) -> list[tuple[Avatar, float]]:
    """Return who is in range and how far away, in the order in which they came."""
    found = []
    for avatar in region.avatars.values():
        metres = distance_m(here, state.body(avatar).position_at(state.now))
        if metres <= reach:
            found.append((avatar, metres))
    return found
