"""Where a turn is, and what moves it, as one table.

Owns the states, their inputs and the transitions; `gridagent.turn.loop` walks it. Pure data.

Invariant: an ended turn never moves again (Spec: MND-11, BND-11).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gridagent.state_table import StateTable

__all__ = ("TURN", "TurnInput", "TurnState")


class TurnState(StrEnum):
    """Where one turn is."""

    READY = "ready"
    """The model is to be asked next."""
    ASKING = "asking"
    """A request is out."""
    ACTING = "acting"
    """Calls of the last reply run, or wait for those before them."""
    ENDED = "ended"
    """It has its result; whatever comes now is late."""


class TurnInput(StrEnum):
    """What moves a turn."""

    ASK = "ask"
    """The request was handed out."""
    CALL = "call"
    """A reply with calls came."""
    SETTLE = "settle"
    """Every call of the reply has its result."""
    AGAIN = "again"
    """The reply, or the failure, is one that asking differently may mend."""
    END = "end"
    """It answers, is silent, fails, has used up what it may, or is given up."""


_S, _I = TurnState, TurnInput

TURN: Final = StateTable(
    "turn",
    initial=_S.READY,
    transitions={
        (_S.READY, _I.ASK): _S.ASKING,
        (_S.READY, _I.END): _S.ENDED,
        (_S.ASKING, _I.CALL): _S.ACTING,
        (_S.ASKING, _I.AGAIN): _S.READY,
        (_S.ASKING, _I.END): _S.ENDED,
        (_S.ACTING, _I.SETTLE): _S.READY,
        (_S.ACTING, _I.END): _S.ENDED,
    },
    terminal=frozenset({_S.ENDED}),
)
