"""Who is being spoken to, when to keep quiet, who one is and how one speaks; pure.

`PresenceChain` decides on each utterance by the rules of `gridagent.presence.rules`, in one order; `Protected` is the
one list of who is exempt from what; `Persona` comes from a Markdown file; `plan_speech` parts and paces a reply. Time,
chance and files are handed in. The contract is ``docs/reference/presence.md``.
"""

from gridagent.presence.chain import PresenceChain as PresenceChain
from gridagent.presence.decision import AttentionCode as AttentionCode
from gridagent.presence.decision import PresenceDecision as PresenceDecision
from gridagent.presence.persona import Persona as Persona
from gridagent.presence.persona import parse_persona as parse_persona
from gridagent.presence.protected import OwnAvatars as OwnAvatars
from gridagent.presence.protected import Protected as Protected
from gridagent.presence.reflex import ReflexMind as ReflexMind
from gridagent.presence.speech import SpeechPlan as SpeechPlan
from gridagent.presence.speech import plan_speech as plan_speech

__all__ = (
    "AttentionCode",
    "OwnAvatars",
    "Persona",
    "PresenceChain",
    "PresenceDecision",
    "Protected",
    "ReflexMind",
    "SpeechPlan",
    "parse_persona",
    "plan_speech",
)
