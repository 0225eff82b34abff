"""All that a front may see of a service: handles, controls, observations and status; nothing else.

Fronts import this module and the vocabulary, and hold no executor: what they want done is a control,
and every action in it is decided by the policy gateway (Spec: MND-18).
"""

from gridagent.runtime.channels import Lagged as Lagged
from gridagent.service.progress import Part as Part
from gridagent.service.progress import PartState as PartState
from gridagent.service.progress import Progress as Progress
from gridagent.service.service import Service as Service
from gridagent.session.handle import SessionHandle as SessionHandle
from gridagent.session.status import SessionStatus as SessionStatus

__all__ = ("Lagged", "Part", "PartState", "Progress", "Service", "SessionHandle", "SessionStatus")
