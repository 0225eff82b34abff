"""In the operator's quiet hours only the owner is answered, in public or by IM, and the avatar joins in nowhere."""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Exemption

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on everybody but the owner while a quiet span holds."""
    if not room.quiet_hours.hold(heard.wall) or heard.is_exempt(Exemption.QUIET_HOURS):
        return None
    return AttentionCode.QUIET_HOURS
