"""One turn: from what was said, over the model and its calls, to what is answered; nothing here performs anything."""

from gridagent.turn.brief import AskModel as AskModel
from gridagent.turn.brief import Brief as Brief
from gridagent.turn.brief import GiveUp as GiveUp
from gridagent.turn.brief import Perform as Perform
from gridagent.turn.brief import Recalled as Recalled
from gridagent.turn.brief import StopReason as StopReason
from gridagent.turn.brief import TurnEffect as TurnEffect
from gridagent.turn.brief import TurnLimits as TurnLimits
from gridagent.turn.brief import TurnResult as TurnResult
from gridagent.turn.loop import Turn as Turn

__all__ = (
    "AskModel",
    "Brief",
    "GiveUp",
    "Perform",
    "Recalled",
    "StopReason",
    "Turn",
    "TurnEffect",
    "TurnLimits",
    "TurnResult",
)
