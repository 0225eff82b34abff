"""The world's refusals in the words that simulators use.

Owns the table from stable codes to text, and which message carries it: a failed payment has a reply of its own,
a failed teleport too, everything else is an alert (Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gridagent.events import ActionRefused, BalanceChanged
from gridagent.grid.simulated.refusals import Refusal
from live_grid.messages.speech import AgentAlertMessage
from live_grid.simulator import travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.paying import balance_reply
from live_grid.simulator.wording import short_text

__all__ = ("QUIET", "teleport_words", "tell_refusal")

_TELEPORT: Final[Mapping[str, str]] = MappingProxyType(
    {
        Refusal.REGION_NOT_FOUND.value: "The region you tried to teleport to was not found.",
        Refusal.REGION_DOWN.value: "The region you tried to teleport to is not available.",
        Refusal.REGION_FULL.value: "The region you tried to teleport to is full.",
        Refusal.NO_ACCESS.value: "Not allowed at destination: you are banned from this parcel.",
        Refusal.IN_TRANSIT.value: "Agent is already in transit.",
    }
)
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Refusal.CANNOT_SIT.value: "There is no suitable surface to sit on, try another spot.",
        Refusal.SEAT_TAKEN.value: "Sorry, this seat is taken.",
        Refusal.NO_BUILD_RIGHTS.value: "You can't create objects here. The owner of this land does not allow it.",
        Refusal.PRIM_LIMIT.value: "Can't rez object: the parcel is full.",
        Refusal.INSUFFICIENT_FUNDS.value: "You do not have enough L$.",
        Refusal.NO_ACCESS.value: "You are not allowed on this parcel.",
    }
)
_NEVER_BEGUN: Final = frozenset({Refusal.IN_TRANSIT.value, Refusal.UNKNOWN_OFFER.value, Refusal.WRONG_KIND.value})
"""Refusals that no event of a teleport's end comes with."""
QUIET: Final = frozenset({"say", "typing", "turn", "walk", "stop", "stand", "touch", "animate", "lure", "request"})
"""Verbs whose refusal no simulator tells."""


def teleport_words(code: str) -> str:
    """Say why a teleport failed."""
    return _TELEPORT.get(code, f"Teleport failed: {code.replace('_', ' ')}.")


def _words(code: str) -> str:
    return _WORDS.get(code, f"The grid refused: {code.replace('_', ' ')}.")


def tell_refusal(agent: Agent, event: ActionRefused) -> None:
    """Tell a client that its avatar's action came to nothing."""
    verb = event.reference.partition("-")[0]
    if verb == "teleport":
        # A teleport that failed is told by its own event, but for one that never began.
        if event.reason in _NEVER_BEGUN:
            travel.teleport_failed(agent, teleport_words(event.reason))
    elif verb == "pay":
        balance = BalanceChanged(balance=agent.avatar.balance, description=_words(event.reason))
        agent.say(balance_reply(agent, balance, success=False))
    elif verb not in QUIET:
        words = _words(event.reason)
        agent.say(
            AgentAlertMessage(
                agent_data=AgentAlertMessage.AgentData(agent.agent_id),
                alert_data=AgentAlertMessage.AlertData(False, short_text(words)),
            )
        )
