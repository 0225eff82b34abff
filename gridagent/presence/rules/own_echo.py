"""The avatar's own words, which come back to it, are no utterance."""

from __future__ import annotations

from gridagent.events import SpeakerKind
from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:  # noqa: ARG001 - a rule's shape
    """Stay quiet on what the avatar said itself, by the simulator's word or by UUID."""
    source = heard.event.source
    is_own = source.kind is SpeakerKind.SELF or (heard.self_id is not None and source.id == heard.self_id)
    return AttentionCode.OWN_ECHO if is_own else None
