"""What the session core wants its shell to perform.

Owns the words between `gridagent.session.core`, which decides, and `gridagent.session.actor`, which does.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from gridagent.ids import EffectKey
from gridagent.policy import Authorized
from gridagent.runtime.generation import Generation

__all__ = ("CancelWork", "Effect", "Finish", "Halt", "OpenConnection", "Perform")


class OpenConnection(msgspec.Struct, frozen=True, kw_only=True):
    """Make a backend for this generation and run it until it ends or the fence cancels it."""

    generation: Generation


class Perform(msgspec.Struct, frozen=True, kw_only=True):
    """Apply an authorised action under this generation and report its end once."""

    generation: Generation
    authorized: Authorized


class CancelWork(msgspec.Struct, frozen=True, kw_only=True):
    """Cancel the worker of one effect, or of all."""

    effect: EffectKey | None
    reason: str


class Halt(msgspec.Struct, frozen=True, kw_only=True):
    """Cease everything that the backend goes on doing by itself."""


class Finish(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is over; end the coordinator."""


Effect: TypeAlias = OpenConnection | Perform | CancelWork | Halt | Finish
