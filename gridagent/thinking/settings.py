"""How one avatar thinks: what a turn may take, what waits, and what a newer message does.

Owns one struct; the composition root fills it from the configuration. Pure.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from gridagent.config.model import NewerMessage
from gridagent.limits import LLM_REQUESTS_MAX, Bounded
from gridagent.thinking.lanes import WAITING_MAX
from gridagent.turn import TurnLimits

__all__ = ("ThinkerSettings",)


class ThinkerSettings(Bounded, frozen=True, kw_only=True):
    """Bounds and habits of one avatar's thinking."""

    turns: TurnLimits = TurnLimits()
    """What one turn may take."""
    newer: NewerMessage = NewerMessage.JOIN
    """What a newer message of the same conversation does to a turn that has not acted yet (Spec: MND-11)."""
    turns_max: Annotated[int, Meta(ge=1, le=LLM_REQUESTS_MAX)] = LLM_REQUESTS_MAX
    """Conversations that are thought about at one time; others wait (Spec: MND-15)."""
    waiting_max: Annotated[int, Meta(ge=1, le=WAITING_MAX)] = 8
    """Turns that wait in one conversation; a message more is not answered (Spec: MND-15)."""
