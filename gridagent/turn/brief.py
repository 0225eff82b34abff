"""The words of a turn: what it is begun with, what it wants done, what it leaves, and why it stopped.

Owns the brief, the limits, the two effects and the result; decides nothing (`gridagent.turn.loop` does). Whoever
runs a turn makes the brief, performs the effects under their own time-outs, and keeps what the result says is to
be kept. Pure.

Invariant: a brief never changes while its turn runs, and a result holds nothing but our own words and a reply that
passed every gate: no text of a provider, no prompt that asked again (Spec: MND-3, MND-4, MND-9, MND-11, BND-11).
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.authority import Origin, Principal, Role, TextSource
from gridagent.conversation.entries import Entry, Finding, Heard, Said, Used
from gridagent.conversation.keys import ConversationKey
from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarId, CorrelationId
from gridagent.language import DEADLINE_MAX_S, TOKENS_MAX, LlmRequest, Usage
from gridagent.limits import (
    KIB,
    MESSAGES_PER_REQUEST_MAX,
    MODEL_REPLY_MAX_BYTES,
    MODEL_REQUEST_MAX_BYTES,
    MODEL_TURNS_MAX,
    TOOL_CALLS_PER_SESSION_MAX,
    Bounded,
    Label,
    Name,
)
from gridagent.presence.persona import Persona
from gridagent.tools.access import Access, TurnMode
from gridagent.tools.evidence import Evidence
from gridagent.tools.scheduler import Settled, Start

__all__ = (
    "AskModel",
    "Brief",
    "GiveUp",
    "Perform",
    "Recalled",
    "StopReason",
    "TurnEffect",
    "TurnLimits",
    "TurnResult",
)

HISTORY_MAX: Final = 4_096
RECALLED_MAX: Final = 64
SURROUNDINGS_MAX_BYTES: Final = 2 * KIB
CORRECTIONS_MAX: Final = 4

RecalledText: TypeAlias = Annotated[str, Meta(max_length=2 * KIB)]
SurroundingsText: TypeAlias = Annotated[
    str, Meta(max_length=SURROUNDINGS_MAX_BYTES, extra={"max_bytes": SURROUNDINGS_MAX_BYTES})
]


class Recalled(Bounded, frozen=True, kw_only=True):
    """One remembered fact that the turn is begun with."""

    text: RecalledText
    source: TextSource
    """Who it came from, once; it is shown as text from memory whoever that was."""
    tainted: bool
    about: AvatarId | None = None


class TurnLimits(Bounded, frozen=True, kw_only=True):
    """What one turn may take; the hard ceilings are those of `gridagent.limits`.

    Raises:
        LimitExceeded: a number is out of its range.
    """

    model_turns_max: Annotated[int, Meta(ge=1, le=MODEL_TURNS_MAX)] = 12
    """Requests to the model, those that ask again included."""
    tool_calls_max: Annotated[int, Meta(ge=1, le=TOOL_CALLS_PER_SESSION_MAX)] = 48
    corrections_max: Annotated[int, Meta(ge=0, le=CORRECTIONS_MAX)] = 2
    """How often a reply that a gate refused is asked for again; each gate asks once."""
    deadline_s: Annotated[float, Meta(gt=0.0, le=DEADLINE_MAX_S)] = 120.0
    """Seconds for the whole turn. Whoever runs it keeps the time, and gives it up when they have passed."""
    request_deadline_s: Annotated[float, Meta(gt=0.0, le=DEADLINE_MAX_S)] = 60.0
    """Seconds for one request, with its retries and its waiting for a slot."""
    turns_max: Annotated[int, Meta(ge=3, le=MESSAGES_PER_REQUEST_MAX)] = MESSAGES_PER_REQUEST_MAX
    """Entries of one request."""
    request_max_bytes: Annotated[int, Meta(ge=1, le=MODEL_REQUEST_MAX_BYTES)] = MODEL_REQUEST_MAX_BYTES
    request_max_tokens: Annotated[int, Meta(ge=1, le=TOKENS_MAX)] = 100_000
    """Tokens of one request, estimated from above; history gives way until it fits."""
    reply_max_bytes: Annotated[int, Meta(ge=1, le=MODEL_REPLY_MAX_BYTES)] = MODEL_REPLY_MAX_BYTES
    """What is accepted of a model."""
    reply_max_tokens: Annotated[int, Meta(ge=1, le=65_536)] = 1_024
    spoken_max_bytes: Annotated[int, Meta(ge=16, le=MODEL_REPLY_MAX_BYTES)] = 3_000
    """What is said of a reply; the rest is cut off at the end of a sentence."""
    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None

    def __post_init__(self) -> None:
        """Hold the numbers, whoever builds them."""
        super().__post_init__()
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if not (math.isfinite(value) and least <= value <= most):
                raise LimitExceeded(f"TurnLimits.{name}", allowed=least if value < least else most, seen=value)


_RANGES: Final[tuple[tuple[str, float, float], ...]] = (
    ("model_turns_max", 1, MODEL_TURNS_MAX),
    ("tool_calls_max", 1, TOOL_CALLS_PER_SESSION_MAX),
    ("corrections_max", 0, CORRECTIONS_MAX),
    ("deadline_s", 1e-3, DEADLINE_MAX_S),
    ("request_deadline_s", 1e-3, DEADLINE_MAX_S),
    ("turns_max", 3, MESSAGES_PER_REQUEST_MAX),
    ("request_max_bytes", 1, MODEL_REQUEST_MAX_BYTES),
    ("request_max_tokens", 1, TOKENS_MAX),
    ("reply_max_bytes", 1, MODEL_REPLY_MAX_BYTES),
    ("reply_max_tokens", 1, 65_536),
    ("spoken_max_bytes", 16, MODEL_REPLY_MAX_BYTES),
)


class Brief(Bounded, frozen=True, kw_only=True):
    """Everything a turn is begun with."""

    correlation: CorrelationId
    cause: Label
    """Durable id of what led to it."""
    mode: TurnMode
    key: ConversationKey
    principal: Principal
    origin: Origin
    role: Role
    """What the configuration says of the principal."""
    persona: Persona
    self_name: Name = ""
    """What the grid calls the avatar."""
    self_id: AvatarId | None = None
    history: Annotated[tuple[Entry, ...], Meta(max_length=HISTORY_MAX)] = ()
    """What was said before in exactly this conversation, oldest first; what is in `now_said` may stand in it."""
    recalled: Annotated[tuple[Recalled, ...], Meta(max_length=RECALLED_MAX)] = ()
    now_said: Annotated[tuple[Heard, ...], Meta(min_length=1, max_length=64)]
    """What the turn answers, oldest first; of a goal or schedule, what it is about."""
    access: Access
    tainted: bool = False
    """Words of somebody without authority led to it (Spec: POL-5); history and results add to it."""
    wall: float
    """Wall clock when it began, in seconds."""
    surroundings_line: SurroundingsText = ""
    """Where the avatar is, in a sentence; names in it are other people's words, so it is never system text."""

    def __post_init__(self) -> None:
        """Refuse a turn about nothing.

        Raises:
            LimitExceeded: nothing was said that it could answer.
        """
        super().__post_init__()
        if not self.now_said:
            raise LimitExceeded("Brief.now_said: at least 1 wanted", allowed=64, seen=0)


class AskModel(msgspec.Struct, frozen=True, kw_only=True):
    """Put this to the model; bring the reply, or the failure, back under the same number."""

    number: int
    """Counts the requests of the turn, from 0."""
    request: LlmRequest


class Perform(msgspec.Struct, frozen=True, kw_only=True):
    """Perform this call; bring its outcome back under ``start.ordinal``, which is its own in the whole turn."""

    start: Start
    """`start.call.work` is an `Act` for the gateway, an `Ask` for a port, or a foreign call."""
    tainted: bool
    """Whether the turn has read words of somebody without authority until now (Spec: POL-5)."""


TurnEffect: TypeAlias = AskModel | Perform


class GiveUp(StrEnum):
    """Why a turn is ended from outside."""

    CANCEL = "cancel"
    """It was stopped: by an operator, a pause, or a shutdown."""
    SUPERSEDE = "supersede"
    """A newer message takes its place (Spec: MND-11)."""
    DEADLINE = "deadline"
    """Its time is over."""


class StopReason(StrEnum):
    """Why a turn ended; the first reason stays."""

    ANSWERED = "answered"
    """The model answered, and the reply passed every gate."""
    SILENT = "silent"
    """Nothing is said, on purpose (Spec: MND-10)."""
    MODEL_FAILED = "model_failed"
    """No usable reply came."""
    SPENT = "spent"
    """The budget of tokens or money is used up (Spec: MND-12)."""
    UNFOUNDED = "unfounded"
    """The reply failed a gate, and asking again did not help (Spec: MND-9)."""
    NO_PROGRESS = "no_progress"
    """The same calls brought the same results (Spec: MND-12)."""
    MODEL_TURNS_SPENT = "model_turns_spent"
    """The model was asked as often as it may be (Spec: BND-11)."""
    TOOL_CALLS_SPENT = "tool_calls_spent"
    """The model went on calling when no call was left (Spec: BND-11)."""
    TOO_LARGE = "too_large"
    """Not even the newest exchange fits into a request (Spec: BND-8, BND-17)."""
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    DEADLINE = "deadline"


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn leaves."""

    stop: StopReason
    reply: str
    """What is to be said; empty means nothing."""
    fallback: bool
    """`reply` is a line of the persona's, not the model's."""
    settled: tuple[Settled, ...]
    """Every call with its one result, in call order; also of a turn that was given up."""
    evidence: tuple[Evidence, ...]
    """What may be kept for later turns (Spec: MND-8)."""
    tainted: bool
    persona: str
    """Digest of the persona that spoke."""
    model_turns: int
    usage: Usage
    """Of all replies together."""
    cost_micros: int | None
    """Of all replies together; None where one of them did not say."""
    corrections: int
    codes: tuple[str, ...]
    """What the gates and the sanitiser did, as stable codes in order."""

    def entries(self, at: float) -> tuple[Entry, ...]:
        """Return what the conversation keeps: what is said first, then the evidence (Spec: MEM-3, MND-10).

        Args:
            at: wall clock in seconds.
        """
        kept: list[Entry] = []
        if self.reply:
            kept.append(Said(text=self.reply, at=at, tainted=self.tainted, persona=self.persona))
        if self.evidence:
            findings = tuple(
                Finding(
                    tool=each.tool,
                    arguments=each.arguments,
                    data=each.data,
                    subjects=each.subjects,
                    tainted=each.tainted,
                )
                for each in self.evidence
            )
            tainted = any(each.tainted for each in findings)
            kept.append(Used(evidence=findings, at=at, tainted=tainted, persona=self.persona))
        return tuple(kept)
