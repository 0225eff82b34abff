"""Moving: turning, walking, following, stopping, and teleporting.

Owns the rows of the catalogue that move the one body an avatar has; all occupy it, so none runs beside another
(Spec: MND-6, MND-13, LIV-7).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import FollowAvatar, StopMoving, TeleportHome, TeleportTo, TurnTo, WalkTo
from gridagent.tools.native import act

__all__ = ("MOVE",)

MOVE: Final = (
    act(
        TurnTo,
        "Turn on the spot.",
        {"heading_deg": "Where to face in degrees: 0 is east, 90 north, 180 west, 270 south."},
    ),
    act(
        WalkTo,
        "Walk to a point of this region. Look round first to know where things are.",
        {"position": "Where to, in metres from the region's south-west corner."},
    ),
    act(
        FollowAvatar,
        "Walk after an avatar until told to stop.",
        {"avatar_id": "UUID of the avatar.", "distance_m": "How close to stay, in metres."},
    ),
    act(StopMoving, "Stop walking or following.", {}),
    act(
        TeleportTo,
        "Teleport to a point of a region.",
        {
            "region": "Name of the region, exactly as the map has it.",
            "position": "Where to arrive, in metres from the region's south-west corner.",
        },
        calls_max=4,
    ),
    act(TeleportHome, "Teleport home.", {}, calls_max=4),
)
"""The moving tools."""
