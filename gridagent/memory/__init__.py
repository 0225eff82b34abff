"""What an avatar remembers beyond a conversation, and who may be told; pure."""

from gridagent.memory.facts import PUBLIC as PUBLIC
from gridagent.memory.facts import Fact as Fact
from gridagent.memory.facts import FactKept as FactKept
from gridagent.memory.facts import NotKept as NotKept
from gridagent.memory.facts import Reader as Reader
from gridagent.memory.facts import learn as learn
from gridagent.memory.recall import terms_of as terms_of

__all__ = ("PUBLIC", "Fact", "FactKept", "NotKept", "Reader", "learn", "terms_of")
