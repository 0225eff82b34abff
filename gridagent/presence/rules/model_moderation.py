"""Let the model look at what is overheard, as a moderator that never speaks; optional (Spec: MND-16)."""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode, PresenceMode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import OVERSEERS

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Open a moderator's turn on what is overheard, as often as the configuration lets it; overseers are left alone."""
    section = room.section
    if not section.moderate_by_model or heard.mode is not None or heard.standing in OVERSEERS:
        return None
    if heard.now - room.moderated_at < section.moderation_pause_s:
        return None
    room.moderated_at = heard.now
    heard.mode = PresenceMode.MODERATION
    return AttentionCode.MODERATION
