"""The end of the chain: the turn is counted, if everybody together has one left.

A crowd of new faces, each within their own bounds, is bounded here; overseers do not count.
"""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Exemption

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet where everybody together had all the answers of a minute; count this one otherwise."""
    if not heard.is_exempt(Exemption.CROWD) and not room.take_answer(heard.now):
        return AttentionCode.CROWDED
    heard.peer.turns += 1
    return None
