"""Whom the operator muted is never answered."""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Exemption

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on whoever is on the list, by UUID."""
    if heard.speaker_id in room.muted and not heard.is_exempt(Exemption.MUTING):
        return AttentionCode.MUTED
    return None
