"""The built-in offline model: rules instead of a language model, and open about it; no network, no chance.

It speaks the same port as every other model, so everything works with nothing configured.
"""

from __future__ import annotations

from gridagent.llm.offline.model import OfflineModel as OfflineModel

__all__ = ("OfflineModel",)
