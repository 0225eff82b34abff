"""Only people who speak now, to people, are listened to.

An object's words are never its owner's, and a message from before is not answered as if it were new.
"""

from __future__ import annotations

from gridagent.events import ChatHeard, SpeakerKind
from gridagent.ids import is_canonical_uuid
from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:  # noqa: ARG001 - a rule's shape
    """Stay quiet on objects, the system, other chat channels, offline messages and wordless utterances."""
    event = heard.event
    if event.source.kind is not SpeakerKind.AVATAR or not is_canonical_uuid(event.source.id):
        return AttentionCode.NOT_A_PERSON
    if isinstance(event, ChatHeard):
        if event.chat_channel != 0:
            return AttentionCode.OTHER_CHANNEL
    elif event.offline:
        return AttentionCode.OFFLINE_MESSAGE
    return None if heard.words else AttentionCode.NOTHING_SAID
