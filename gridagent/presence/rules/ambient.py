"""Joining in where the avatar was not spoken to: seldom, by chance, and never with a bot.

The pause and the number an hour are ceilings: no chance, configuration of people or run of luck passes them.
"""

from __future__ import annotations

from typing import Final

from gridagent.presence.decision import AttentionCode, PresenceMode
from gridagent.presence.hearing import Heard, Room

__all__ = ("judge",)

_HOUR_S: Final = 3_600.0


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on what is overheard, unless chance lets the avatar join in."""
    if heard.mode is not None:
        return None
    if not _may_join(heard, room) or room.rng.random() >= room.section.ambient_probability:
        return AttentionCode.NOT_ADDRESSED
    room.joined_at.append(heard.now)
    heard.mode, heard.reached = PresenceMode.AMBIENT, AttentionCode.AMBIENT
    return None


def _may_join(heard: Heard, room: Room) -> bool:
    section, now, joined = room.section, heard.now, room.joined_at
    if section.ambient_probability <= 0.0 or now < room.ambient_quiet_until or heard.distance_m > section.hearing_m:
        return False
    if room.quiet_hours.hold(heard.wall):
        return False  # the owner, who is answered then, is not joined either
    if joined and now - joined[-1] < section.ambient_pause_s:
        return False
    if sum(now - at < _HOUR_S for at in joined) >= section.ambient_per_hour:
        return False
    return not heard.is_like_a_bot()
