"""Language models: the port, clients for endpoints, and models that need none.

What is asked and answered is in `gridagent.language`. `gridagent.llm.transport`, the only module that imports
httpx, is left out here: what needs no network does not load it.
"""

from __future__ import annotations

from gridagent.llm.base import LanguageModel as LanguageModel
from gridagent.llm.base import ModelStream as ModelStream
from gridagent.llm.base import Transport as Transport
from gridagent.llm.real_requests import RealRequests as RealRequests
from gridagent.llm.real_requests import allow_real_requests as allow_real_requests
from gridagent.llm.retry import RetryPolicy as RetryPolicy
from gridagent.llm.slots import Slots as Slots

__all__ = ("LanguageModel", "ModelStream", "RealRequests", "RetryPolicy", "Slots", "Transport", "allow_real_requests")
