"""One avatar's session: states, generations, controls, observations, and the performing of actions.

`core` decides, `actor` performs, `handle` is how others reach it; see `gridagent.session.core` first.
"""

from gridagent.mind import Attention as Attention
from gridagent.mind import Mind as Mind
from gridagent.mind import Proposal as Proposal
from gridagent.mind import QuietMind as QuietMind
from gridagent.mind import Surroundings as Surroundings
from gridagent.mind import Thought as Thought
from gridagent.session.actor import Session as Session
from gridagent.session.handle import SessionHandle as SessionHandle
from gridagent.session.orders import Reloaded as Reloaded
from gridagent.session.settings import OnBackendFailure as OnBackendFailure
from gridagent.session.settings import SessionSettings as SessionSettings
from gridagent.session.status import SessionStatus as SessionStatus
from gridagent.session.surroundings import Look as Look

__all__ = (
    "Attention",
    "Look",
    "Mind",
    "OnBackendFailure",
    "Proposal",
    "QuietMind",
    "Reloaded",
    "Session",
    "SessionHandle",
    "SessionSettings",
    "SessionStatus",
    "Surroundings",
    "Thought",
)
