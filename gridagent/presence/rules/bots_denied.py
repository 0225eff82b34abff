"""Where bots may not be, the avatar says nothing in public (Spec: PRS-5)."""

from __future__ import annotations

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room

__all__ = ("judge",)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet in public where the grid or the parcel allows no bots; IMs disturb nobody there."""
    is_denied = heard.in_public and not (room.grid_allows_bots and room.parcel_allows_bots)
    return AttentionCode.BOTS_NOT_ALLOWED if is_denied else None
