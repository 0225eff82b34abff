"""The port between a session and what thinks for its avatar.

Owns the protocol and its words; thinks nothing. A mind hears events and answers with thoughts: why it
answers or stays quiet, and what it would like to do. It holds no executor (Spec: MND-18): each proposal
is put to the policy gateway by the session, which alone performs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import msgspec

from gridagent.actions import Action, Outcome, Position
from gridagent.authority import Origin, Principal, Provenance
from gridagent.events import AvatarView, GridEvent, ObjectView
from gridagent.ids import AvatarId

__all__ = ("Attention", "Mind", "Proposal", "QuietMind", "Surroundings", "Thought")


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """Why the avatar answers an utterance, or stays quiet."""

    utterance_id: str
    answers: bool
    code: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One action the mind would like to see done, and on whose words."""

    action: Action
    principal: Principal
    origin: Origin
    cause: str
    """Id of the utterance, offer or goal step that led to it."""
    ordinal: int = 0
    conversation: str = ""
    tainted: bool = False
    target_provenance: Provenance = Provenance.MODEL


Thought: TypeAlias = Attention | Proposal


class Surroundings(Protocol):
    """What a mind may look at while it thinks; reading causes nothing."""

    @property
    def self_id(self) -> AvatarId | None:
        """The avatar's own UUID, once in the world."""
        ...

    @property
    def position(self) -> Position | None:
        """Where the avatar is, once known."""
        ...

    def avatars(self) -> Sequence[AvatarView]:
        """Who is near, nearest first."""
        ...

    def objects(self) -> Sequence[ObjectView]:
        """What is near, nearest first."""
        ...


class Mind(Protocol):
    """Thinks for one avatar; synchronous, deterministic, bounded."""

    def hear(self, event: GridEvent, around: Surroundings) -> Sequence[Thought]:
        """Answer one event with at most 16 thoughts."""
        ...

    def learn(self, proposal: Proposal, outcome: Outcome) -> None:
        """Take note of how one of its own proposals ended."""
        ...

    def forget(self, avatar_id: AvatarId) -> None:
        """Drop everything remembered about an avatar."""
        ...


class QuietMind:
    """Hears everything and wants nothing; for tests and for an avatar that only its operator moves."""

    def hear(self, event: GridEvent, around: Surroundings) -> Sequence[Thought]:  # noqa: ARG002 - a protocol's shape
        """Want nothing."""
        return ()

    def learn(self, proposal: Proposal, outcome: Outcome) -> None:
        """Keep nothing."""

    def forget(self, avatar_id: AvatarId) -> None:
        """Have nothing to drop."""
