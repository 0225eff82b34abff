"""What the session core wants its shell to perform.

Owns the words between `gridagent.session.core`, which decides, and `gridagent.session.actor`, which does.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from gridagent.ids import EffectKey
from gridagent.mind import Errand
from gridagent.policy import Authorized
from gridagent.runtime.generation import Generation

__all__ = (
    "CancelErrand",
    "CancelWork",
    "Effect",
    "Finish",
    "Halt",
    "OpenConnection",
    "Perform",
    "ReportFault",
    "RunErrand",
)


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


class RunErrand(msgspec.Struct, frozen=True, kw_only=True):
    """Have the mind's errand answered under this generation and report its end once."""

    generation: Generation
    number: int
    """Tells errands apart for as long as the session lives."""
    errand: Errand


class CancelErrand(msgspec.Struct, frozen=True, kw_only=True):
    """Give one errand up."""

    number: int


class Halt(msgspec.Struct, frozen=True, kw_only=True):
    """Cease everything that the backend goes on doing by itself."""


class ReportFault(msgspec.Struct, frozen=True, kw_only=True):
    """Write an error of our own to the log, whole."""

    code: str
    error: Exception


class Finish(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is over; end the coordinator."""


Effect: TypeAlias = OpenConnection | Perform | CancelWork | RunErrand | CancelErrand | Halt | ReportFault | Finish
