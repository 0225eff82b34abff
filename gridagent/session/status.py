"""What a session says of itself when asked.

Owns the status struct; everything in it is a value, nothing can be caused through it.
"""

from __future__ import annotations

import msgspec

from gridagent.actions import Position
from gridagent.events import GridProfile, PartHealth
from gridagent.ids import AvatarId, AvatarKey, Generation
from gridagent.limits import Label
from gridagent.observations import AgentState, LinkState
from gridagent.policy import GatewayStatus
from gridagent.runtime.channels import ChannelStatistics

__all__ = ("SessionStatus",)


class SessionStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One avatar at one moment."""

    key: AvatarKey
    agent: AgentState
    link: LinkState
    generation: Generation
    avatar_id: AvatarId | None
    name: str
    region: str
    position: Position | None
    balance: int | None
    near: int
    """How many avatars are near."""
    workers: int
    """Actions in flight."""
    fenced: int
    """Late results dropped since the start."""
    last_error: str
    """Stable code of the last failure; empty when there was none."""
    sick: tuple[Label, ...] = ()
    """Parts of the connection that are sick (Spec: LIV-12)."""
    retry_in_s: float | None = None
    """Seconds until the next attempt to connect; None while none is planned."""
    profile: GridProfile | None = None
    """What the grid can do, as it showed at the login; None while the avatar is not in the world (Spec: LIV-11)."""
    vitals: tuple[PartHealth, ...] = ()
    """How the connection's parts are, where a grid has a wire (Spec: LIV-12)."""
    queues: tuple[ChannelStatistics, ...]
    gateway: GatewayStatus
