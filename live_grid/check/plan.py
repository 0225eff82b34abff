"""What a check is made with: accounts, places, and whoever lends a hand.

Owns the choices and nothing else; `live_grid.check.command` reads them from a command line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final

import attrs
import trio

from live_grid.backend import LiveAccount, LiveSettings

__all__ = ("HEIGHT_M", "Border", "Hands", "Plan", "no_hands")

MIDDLE_M: Final = 128
HEIGHT_M: Final = 25
"""Above the ground of most regions; a grid puts us down on what there is."""
Hands = Callable[[str, str], Awaitable[bool]]
"""Asks an administrator of the grid for something: name of the step, and what to do. False if nobody is there."""


class Border(StrEnum):
    """The side of the first region on which another one lies."""

    EAST = "east"
    WEST = "west"
    NORTH = "north"
    SOUTH = "south"


async def no_hands(step: str, what: str) -> bool:
    """Have nobody there to help."""
    del step, what
    await trio.lowlevel.checkpoint()
    return False


@attrs.frozen(kw_only=True, eq=False)
class Plan:
    """One check."""

    account: LiveAccount
    settings: LiveSettings
    companion: LiveAccount | None = None
    """Somebody to talk to; without them nothing that needs two is judged."""
    region: str = ""
    """Where to log in; empty for where we were last."""
    other_region: str = ""
    """Where to teleport to and back; empty to leave that out."""
    border: Border | None = None
    """Where to walk out of the first region; None to leave that out."""
    hands: Hands = no_hands
    hand_s: float = 180.0
    """How long an administrator has for each request."""
    step_s: float = 120.0
    """Longest any other step may take."""
    only: frozenset[str] = frozenset()
    """Names of the steps to perform; empty for all. Logging in is always performed."""

    @property
    def start(self) -> str:
        """Where to log in, as an account says it."""
        return f"{self.region}/{MIDDLE_M}/{MIDDLE_M}/{HEIGHT_M}" if self.region else "last"
