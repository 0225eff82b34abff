"""The mind that thinks: from what is heard, over turns with a language model, to what is wanted and said; pure."""

from gridagent.thinking.settings import ThinkerSettings as ThinkerSettings
from gridagent.thinking.thinker import Thinker as Thinker

__all__ = ("Thinker", "ThinkerSettings")
