"""Whoever floods, or uses a blocked phrase, is not listened to.

A flood is met with silence for a time, and goes on being met with it while it lasts. Each person has a rate of
their own, so that a flood by one never keeps another from being heard.
"""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Exemption

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on too many messages and on blocked phrases."""
    if not heard.is_exempt(Exemption.FLOOD):
        peer = heard.peer
        if not room.take_message(peer, heard.now):
            peer.ignored_until = heard.now + room.section.flood_pause_s
        if heard.now < peer.ignored_until:
            return AttentionCode.FLOOD
    if room.phrases.find(heard.words) >= 0 and not heard.is_exempt(Exemption.PHRASES):
        return AttentionCode.BLOCKED_PHRASE
    return None
