"""Where a session stands, and where each of its circuits stands: the two transition tables.

Owns states and inputs; what follows from a step is done in `live_grid.handover.travel` and `live_grid.handover.link`.
The rows hold the rules of going elsewhere: one journey at a time, a failure that comes before arrival brings us back,
and one that comes after it is no input any more (Spec: LIV-7; Fault: 9).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from live_grid.state_table import StateTable

__all__ = ("LINK_TABLE", "TRAVEL_TABLE", "LinkInput", "LinkState", "TravelInput", "TravelState")


class LinkState(Enum):
    """Where the circuit to one region stands."""

    OPENING = "opening"
    """The code is on its way."""
    CHILD = "child"
    """The region knows us and we are elsewhere."""
    ENTERING = "entering"
    """We asked to be present."""
    ROOT = "root"
    """We are present."""
    CLOSED = "closed"


class LinkInput(Enum):
    """What can happen to it."""

    CODE_DELIVERED = "code_delivered"
    COMPLETE = "complete"
    """We ask to be present."""
    PRESENT = "present"
    """The region says that we are."""
    STEP_BACK = "step_back"
    """We are present elsewhere, or the journey came to nothing."""
    CLOSE = "close"


_L, _I = LinkState, LinkInput
LINK_TABLE: Final[StateTable[LinkState, LinkInput]] = StateTable(
    "region link",
    initial=_L.OPENING,
    transitions={
        (_L.OPENING, _I.CODE_DELIVERED): _L.CHILD,
        (_L.OPENING, _I.CLOSE): _L.CLOSED,
        (_L.CHILD, _I.COMPLETE): _L.ENTERING,
        (_L.CHILD, _I.CLOSE): _L.CLOSED,
        (_L.ENTERING, _I.PRESENT): _L.ROOT,
        (_L.ENTERING, _I.STEP_BACK): _L.CHILD,
        (_L.ENTERING, _I.CLOSE): _L.CLOSED,
        (_L.ROOT, _I.STEP_BACK): _L.CHILD,
        (_L.ROOT, _I.CLOSE): _L.CLOSED,
    },
    terminal=frozenset({_L.CLOSED}),
)


class TravelState(Enum):
    """Where a session stands."""

    ENTERING = "entering"
    """Logged in; no region has said yet that we are present."""
    PRESENT = "present"
    ASKED = "asked"
    """A teleport was asked for; we are still where we were."""
    MOVING = "moving"
    """We were sent elsewhere and are not there yet: no region has authority over us."""
    DOUBTFUL = "doubtful"
    """The grid has gone quiet in the middle of a journey."""
    LEAVING = "leaving"
    """Logging out."""
    ENDED = "ended"


class TravelInput(Enum):
    """What can happen to it."""

    ARRIVED = "arrived"
    """The region we enter says that we are present."""
    ASK = "ask"
    ELSEWHERE = "elsewhere"
    """The grid sends us to another region: a teleport goes on, or a border was crossed."""
    LOCAL = "local"
    """The teleport ended in the region we are in."""
    REFUSED = "refused"
    LATE = "late"
    BROKEN = "broken"
    """An answer of the event queue was lost, and with it perhaps the news."""
    STILL_HERE = "still_here"
    """The region we were in goes on talking to us."""
    LOG_OUT = "log_out"
    FINISHED = "finished"
    """The grid has saved us, or time is up."""
    LOST = "lost"


_S, _T = TravelState, TravelInput
_ON_THE_WAY: Final = (_S.ENTERING, _S.PRESENT, _S.ASKED, _S.MOVING, _S.DOUBTFUL)
TRAVEL_TABLE: Final[StateTable[TravelState, TravelInput]] = StateTable(
    "journey",
    initial=_S.ENTERING,
    transitions={
        (_S.ENTERING, _T.ARRIVED): _S.PRESENT,
        (_S.PRESENT, _T.ASK): _S.ASKED,
        # Scripts, landowners and borders move us without our asking.
        (_S.PRESENT, _T.ELSEWHERE): _S.MOVING,
        (_S.ASKED, _T.LOCAL): _S.PRESENT,
        (_S.ASKED, _T.REFUSED): _S.PRESENT,
        (_S.ASKED, _T.ELSEWHERE): _S.MOVING,
        (_S.ASKED, _T.LATE): _S.DOUBTFUL,
        # OpenSimulator forgets events as it writes them: a broken answer may have held our TeleportFinish.
        (_S.ASKED, _T.BROKEN): _S.DOUBTFUL,
        (_S.MOVING, _T.ARRIVED): _S.PRESENT,
        # It comes over UDP, up to half a minute after TeleportFinish, and the old region has us back.
        (_S.MOVING, _T.REFUSED): _S.PRESENT,
        (_S.MOVING, _T.ELSEWHERE): _S.MOVING,
        (_S.MOVING, _T.LATE): _S.DOUBTFUL,
        (_S.DOUBTFUL, _T.ARRIVED): _S.PRESENT,
        (_S.DOUBTFUL, _T.REFUSED): _S.PRESENT,
        (_S.DOUBTFUL, _T.LOCAL): _S.PRESENT,
        (_S.DOUBTFUL, _T.ELSEWHERE): _S.MOVING,
        (_S.DOUBTFUL, _T.STILL_HERE): _S.PRESENT,
        **{(state, _T.LOG_OUT): _S.LEAVING for state in _ON_THE_WAY},
        **{(state, _T.LOST): _S.ENDED for state in (*_ON_THE_WAY, _S.LEAVING)},
        (_S.LEAVING, _T.FINISHED): _S.ENDED,
    },
    terminal=frozenset({_S.ENDED}),
)
