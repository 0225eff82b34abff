"""What a session needs of whoever keeps its effects durable: one question before something costly is sent.

Owns the protocol and the twin that keeps nothing; knows no database (`gridagent.storage.AvatarStore` is the real
one). Its invariant is the keeper's: after `sending` returned None, a crash at any instant leaves the effect
known as sent (Spec: EFX-2).
"""

from __future__ import annotations

from typing import Protocol

import trio

from gridagent.actions import Refused
from gridagent.ids import EffectKey

__all__ = ("Keeper", "NoKeeper")


class Keeper(Protocol):
    """Makes durable what a session says."""

    @property
    def keeps(self) -> bool:
        """Whether intents must be told before they are redeemed."""
        ...

    async def sending(self, effect: EffectKey, wall: float) -> Refused | None:
        """Ask before something that costs anything is sent; None means go on.

        Cancellation: nothing was sent; the effect is to be settled as refused.
        """
        ...

    async def durable(self) -> bool:
        """Wait until everything said so far survives; False when that cannot be promised."""
        ...


class NoKeeper:
    """Keeps nothing: an avatar whose effects need not survive its process."""

    keeps = False

    async def sending(self, effect: EffectKey, wall: float) -> Refused | None:  # noqa: ARG002 - a protocol's shape
        """Let everything be sent."""
        await trio.lowlevel.checkpoint()
        return None

    async def durable(self) -> bool:
        """Promise nothing, at once."""
        await trio.lowlevel.checkpoint()
        return True
