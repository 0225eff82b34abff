"""The port between a session and what thinks for its avatar.

Owns the protocol and its words; thinks nothing. A mind hears events and answers with thoughts: why it
answers or stays quiet, what it would like to do, what it wants to have looked up or thought out, and what
whoever watches may know of it. It holds no executor (Spec: MND-18): each proposal is put to the policy
gateway by the session, which alone performs. What takes time is an errand: a worker of the session runs it
and the answer comes back as an input, so a mind waits for nothing and reads no clock.

Invariant: each proposal gets exactly one ruling and, where that says yes, one end; each errand gets one end;
unless the connection they belong to ends first, which `Mind.fence` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import msgspec

from gridagent.actions import Action, Outcome, Position
from gridagent.authority import Origin, Principal, Provenance
from gridagent.errors import GridAgentError
from gridagent.events import AvatarView, GridEvent, GridProfile, ObjectView, Posture
from gridagent.ids import AvatarId
from gridagent.observations import Diagnostic, ReplyComposed, ToolEnded, TurnEnded, TurnStarted
from gridagent.policy.decisions import Denied, NeedsApproval
from gridagent.policy.policy import Policy

__all__ = (
    "Attention",
    "Errand",
    "ErrandFailed",
    "GiveUp",
    "Mind",
    "Moment",
    "Nearby",
    "Proposal",
    "QuietMind",
    "Ruling",
    "Surroundings",
    "Thought",
)


class Moment(msgspec.Struct, frozen=True):
    """One moment on both clocks, in seconds; the session reads them, a mind never does."""

    wall: float
    monotonic: float


# --- thoughts -------------------------------------------------------------------------------------


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


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """Something that takes time and causes nothing in the world: a request to a model, a look-up."""

    errand_id: str
    """The mind's own name for it; one at a time has it."""
    what: object
    """What the session's faculties are asked; a struct of the mind's own."""
    timeout_s: float
    """Seconds until it ends as ``timeout``, waiting for a place included."""


class GiveUp(msgspec.Struct, frozen=True):
    """Cancel an errand; it gets no end any more."""

    errand_id: str


Told: TypeAlias = TurnStarted | TurnEnded | ToolEnded | ReplyComposed | Diagnostic
"""What a mind may say to whoever watches."""

Thought: TypeAlias = Attention | Proposal | Errand | GiveUp | Told


# --- what comes back ------------------------------------------------------------------------------


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the gateway said to a proposal. Holds no handle: nobody can act by it."""

    refused: Denied | NeedsApproval | None
    """Why it is not done now; None where it is."""


class ErrandFailed(msgspec.Struct, frozen=True, kw_only=True):
    """An errand came to nothing."""

    code: str
    """``timeout``, ``busy``, ``refused`` (``error`` says why) or ``broke``."""
    error: GridAgentError | None = None


class Nearby(Protocol):
    """Who and what is near; reading causes nothing."""

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


class Surroundings(Nearby, Protocol):
    """What a mind may look at while it thinks; always shows the present."""

    @property
    def name(self) -> str:
        """What the grid calls the avatar; empty while not in the world."""
        ...

    @property
    def generation(self) -> int:
        """Number of the connection; 0 while there is none."""
        ...

    @property
    def region(self) -> str:
        """The region's name; empty while not in the world."""
        ...

    @property
    def posture(self) -> Posture | None:
        """How its body is held, once known."""
        ...

    @property
    def balance(self) -> int | None:
        """L$, once known."""
        ...

    @property
    def profile(self) -> GridProfile | None:
        """What the connected grid can do; None while not in the world."""
        ...

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        ...

    @property
    def held(self) -> bool:
        """Whether the kill switch is on: hear and keep, and begin nothing."""
        ...


class Mind(Protocol):
    """Thinks for one avatar; synchronous, deterministic, bounded. What it returns is carried out in order."""

    def hear(self, event: GridEvent, around: Surroundings, now: Moment) -> Sequence[Thought]:
        """Answer one event; ``around`` stays good for as long as the session lives."""
        ...

    def decided(self, proposal: Proposal, ruling: Ruling, now: Moment) -> Sequence[Thought]:
        """Take what became of one of its own proposals; called once for each, before anything of it ends."""
        ...

    def learn(self, proposal: Proposal, outcome: Outcome, now: Moment) -> Sequence[Thought]:
        """Take how a proposal that was let through ended; once for each, unless the connection ended."""
        ...

    def returned(self, errand_id: str, answer: object, now: Moment) -> Sequence[Thought]:
        """Take what an errand brought: what the faculties returned, or `ErrandFailed`."""
        ...

    def due(self) -> float | None:
        """Return when `on_time` wants to be called, in monotonic seconds; None for not at all."""
        ...

    def on_time(self, now: Moment) -> Sequence[Thought]:
        """Do what is due."""
        ...

    def fence(self, now: Moment) -> Sequence[Thought]:
        """End everything under way: the connection is over, and nothing of it will come back."""
        ...

    def stop_turn(self, now: Moment) -> Sequence[Thought]:
        """End every turn: somebody with the right to do so wants the avatar to cease."""
        ...

    def forget(self, avatar_id: AvatarId, now: Moment) -> Sequence[Thought]:
        """Drop everything remembered about an avatar, and what is under way for it."""
        ...


class QuietMind:
    """Hears everything and wants nothing; for tests and for an avatar that only its operator moves."""

    __slots__ = ()

    def hear(self, event: GridEvent, around: Surroundings, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - a protocol's shape
        """Want nothing."""
        return ()

    def decided(self, proposal: Proposal, ruling: Ruling, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Keep nothing."""
        return ()

    def learn(self, proposal: Proposal, outcome: Outcome, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Keep nothing."""
        return ()

    def returned(self, errand_id: str, answer: object, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Have sent nobody."""
        return ()

    def due(self) -> float | None:
        """Have nothing due."""
        return None

    def on_time(self, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Have nothing due."""
        return ()

    def fence(self, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Have nothing under way."""
        return ()

    def stop_turn(self, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Have nothing under way."""
        return ()

    def forget(self, avatar_id: AvatarId, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Have nothing to drop."""
        return ()
