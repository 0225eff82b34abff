"""What the thinker asks of whoever answers its errands: values, one a kind of question.

Owns the words between `gridagent.thinking.thinker`, which asks, and the faculties of the session, which answer;
performs nothing. Pure.

Invariant: nothing here can cause anything in the world; the answer to each is a value (Spec: MND-18).
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import msgspec

from gridagent.language import LlmReply, LlmRequest
from gridagent.memory.facts import Fact, Reader
from gridagent.memory.recall import RecallQuestion
from gridagent.tools.look import FindRegion, SearchInventory

__all__ = ("AskGrid", "AskMemory", "AskSql", "KeepFact", "Purse", "Question", "Think")


class Think(msgspec.Struct, frozen=True):
    """Put this to the language model; an `LlmReply` comes back, or an `LlmFailure`."""

    request: LlmRequest


class AskGrid(msgspec.Struct, frozen=True):
    """Look this up in the grid; the query's answer comes back, or None where there is no such thing."""

    query: FindRegion | SearchInventory


class AskMemory(msgspec.Struct, frozen=True):
    """Recall facts; `gridagent.tools.ports.FactsFound` comes back."""

    question: RecallQuestion
    wall: float
    """Wall clock, in seconds."""


class AskSql(msgspec.Struct, frozen=True):
    """Answer this question in SQL about the reading conversation; `gridagent.tools.ports.TableRead` comes back."""

    reader: Reader
    sql: str


class KeepFact(msgspec.Struct, frozen=True):
    """Keep a fact; `gridagent.tools.ports.Remembered` comes back."""

    fact: Fact


Question: TypeAlias = Think | AskGrid | AskMemory | AskSql | KeepFact


# --- money ----------------------------------------------------------------------------------------


class Purse(Protocol):
    """What one avatar's thinking may cost (Spec: MND-12); never waits."""

    def reserve(self, *, turn: str, person: str, request: LlmRequest, now: float) -> int | None:
        """Reserve the most that a request can take, and return its number; None says that it is not there.

        Args:
            turn: the turn's correlation id.
            person: whose words led to it.
            request: what is to be asked.
            now: monotonic clock, in seconds.
        """
        ...

    def settle(self, held: int, reply: LlmReply | None, *, now: float) -> None:
        """Put what a request took in place of what was reserved; without a reply, all of it may have been charged."""
        ...

    def end_turn(self, turn: str) -> None:
        """Close a turn's book."""
        ...

    def forget(self, person: str) -> None:
        """Drop what is kept of a person."""
        ...
