"""What a session knows of where its avatar is, and whom its mind may look at.

Owns the avatar's own identity, region, position and balance as last told by the grid, and a read-only
view of the live backend. Reading causes nothing; nothing of an ended generation can be read.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gridagent.actions import Position
from gridagent.events import AvatarView, GridProfile, ObjectView, Posture
from gridagent.grid.base import GridBackend
from gridagent.ids import AvatarId
from gridagent.policy import Gateway, Policy

__all__ = ("Look", "Whereabouts")


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What an avatar sees at one moment; nearest first, at most 256 of each."""

    region: str
    position: Position
    avatars: tuple[AvatarView, ...]
    objects: tuple[ObjectView, ...]


class Whereabouts:
    """The avatar's own place; implements `gridagent.mind.Surroundings`.

    Args:
        gateway: whose policy and kill switch are shown.
    """

    __slots__ = (
        "_gateway",
        "backend",
        "balance",
        "generation",
        "name",
        "position",
        "posture",
        "profile",
        "region",
        "self_id",
    )

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.clear()

    def clear(self) -> None:
        """Know nothing: the generation ended."""
        self.backend: GridBackend | None = None
        self.generation = 0
        self.self_id: AvatarId | None = None
        self.name = ""
        self.region = ""
        self.position: Position | None = None
        self.posture: Posture | None = None
        self.balance: int | None = None
        self.profile: GridProfile | None = None

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._gateway.policy

    @property
    def held(self) -> bool:
        """Whether the kill switch is on."""
        return self._gateway.held

    def avatars(self) -> Sequence[AvatarView]:
        """Who is near, nearest first; nobody while not connected."""
        return () if self.backend is None else self.backend.avatars()

    def objects(self) -> Sequence[ObjectView]:
        """What is near, nearest first; nothing while not connected."""
        return () if self.backend is None else self.backend.objects()

    def look(self) -> Look | None:
        """Return what is seen now; None while the avatar is not in the world."""
        if self.backend is None or self.position is None:
            return None
        return Look(
            region=self.region,
            position=self.position,
            avatars=tuple(self.avatars()),
            objects=tuple(self.objects()),
        )
