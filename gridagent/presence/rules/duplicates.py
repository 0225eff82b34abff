"""An utterance that arrives twice is answered once."""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import SEEN_MAX, Heard, Room

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on an id that was seen among the last `SEEN_MAX`; an adapter that has no id gives none."""
    utterance_id = heard.event.utterance_id
    if not utterance_id:
        return None
    if utterance_id in room.seen:
        return AttentionCode.DUPLICATE
    room.seen[utterance_id] = None
    if len(room.seen) > SEEN_MAX:
        room.seen.popitem(last=False)
    return None
