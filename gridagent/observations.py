"""Everything a session tells whoever watches it, as one tagged union (Spec: BND-3, SUP-10).

Owns the words of status lines, fronts and logs. Watching causes nothing: audit, effects and approvals
never depend on an observation being seen. Texts from people are bounded events; texts from a backend's
errors never appear, only stable codes. May import only L0 below it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Outcome, SettledBy
from gridagent.authority import DenialCode, Origin
from gridagent.controls import ControlReply
from gridagent.events import DisconnectCause, GridEvent
from gridagent.ids import ApprovalId, AvatarKey, CorrelationId, Generation
from gridagent.limits import Bounded, Label, LongText, ShortText

__all__ = (
    "OBSERVATIONS",
    "AgentState",
    "LinkState",
    "Observation",
    "ObservationBody",
    "Verdict",
    "observation_name",
)


class AgentState(StrEnum):
    """State of one avatar's agent (Spec: SUP-1)."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


class LinkState(StrEnum):
    """State of one avatar's connection to its grid (Spec: SUP-4)."""

    STOPPED = "stopped"
    CONNECTING = "connecting"
    DEGRADED = "degraded"
    """Transport up, not fully ready."""
    ONLINE = "online"
    BACKOFF = "backoff"
    AUTHENTICATION_BLOCKED = "authentication-blocked"
    PAUSED = "paused"
    SHUTTING_DOWN = "shutting-down"


class Verdict(StrEnum):
    """What the gateway said."""

    AUTHORIZED = "authorized"
    DENIED = "denied"
    NEEDS_APPROVAL = "needs_approval"


class _Body(Bounded, frozen=True, kw_only=True, tag_field="kind"):
    """Base of the union."""


class AgentStateChanged(_Body, frozen=True, kw_only=True, tag="agent_state"):
    """The agent moved to another state."""

    state: AgentState
    was: AgentState
    code: Label = ""


class LinkStateChanged(_Body, frozen=True, kw_only=True, tag="link_state"):
    """The connection moved to another state."""

    state: LinkState
    was: LinkState
    cause: DisconnectCause | None = None
    retry_in_s: Annotated[float, Meta(ge=0)] | None = None


class GenerationOpened(_Body, frozen=True, kw_only=True, tag="generation_opened"):
    """A connection attempt began."""


class GenerationClosed(_Body, frozen=True, kw_only=True, tag="generation_closed"):
    """A connection attempt ended and was cleaned up."""

    cause: DisconnectCause
    logged_out: bool
    """A logout was attempted (exactly once when the generation had logged in)."""


class EventSeen(_Body, frozen=True, kw_only=True, tag="event"):
    """Something came from the grid."""

    event: GridEvent


class AttentionDecided(_Body, frozen=True, kw_only=True, tag="attention"):
    """Why the avatar answers an utterance or stays quiet, e.g. ``quiet: not_addressed``."""

    utterance_id: Label
    answers: bool
    code: Label


class ActionDecided(_Body, frozen=True, kw_only=True, tag="decided"):
    """The gateway decided on an action."""

    action: Label
    summary: ShortText
    origin: Origin
    principal: Label
    verdict: Verdict
    code: DenialCode | None = None
    rule: Label = ""
    correlation: CorrelationId


class ActionSettled(_Body, frozen=True, kw_only=True, tag="outcome"):
    """An authorised action ended."""

    action: Label
    effect: Label
    outcome: Outcome
    correlation: CorrelationId
    dry_run: bool = False


class DoubtSettled(_Body, frozen=True, kw_only=True, tag="doubt_settled"):
    """An effect that was in doubt ended: evidence came late, was looked up, or a person said so (Spec: EFX-2)."""

    action: Label
    effect: Label
    outcome: Outcome
    by: SettledBy
    proof: Label = ""
    """Stable code of the evidence; empty when a person said so."""


class ApprovalOpened(_Body, frozen=True, kw_only=True, tag="approval_opened"):
    """Somebody with the right to do so is asked to allow one action."""

    approval_id: ApprovalId
    action: Label
    summary: ShortText
    principal: Label
    expires_in_s: float


class ApprovalClosed(_Body, frozen=True, kw_only=True, tag="approval_closed"):
    """A pending approval ended: allowed, denied, expired, cancelled or superseded."""

    approval_id: ApprovalId
    how: Label


class HoldChanged(_Body, frozen=True, kw_only=True, tag="hold"):
    """The kill switch was thrown or released."""

    held: bool


class ControlAnswered(_Body, frozen=True, kw_only=True, tag="control"):
    """A control was carried out or refused."""

    control: Label
    reply: ControlReply


class WorkFenced(_Body, frozen=True, kw_only=True, tag="fenced"):
    """Late work of an earlier generation was dropped."""

    what: Label
    of_generation: Generation
    count: Annotated[int, Meta(ge=1)] = 1


class Diagnostic(_Body, frozen=True, kw_only=True, tag="diagnostic"):
    """Something an operator should know: a stable code and safe fields, never text from outside."""

    code: Label
    fields: Annotated[tuple[tuple[Label, ShortText], ...], Meta(max_length=8)] = ()


class TurnStarted(_Body, frozen=True, kw_only=True, tag="turn_started"):
    """The avatar began to think about something."""

    correlation: CorrelationId
    mode: Label


class TurnEnded(_Body, frozen=True, kw_only=True, tag="turn_ended"):
    """A turn ended; ``stop`` is its typed stop reason, and the numbers are what all its requests took together."""

    correlation: CorrelationId
    stop: Label
    model_turns: Annotated[int, Meta(ge=0)] = 0
    input_tokens: Annotated[int, Meta(ge=0)] = 0
    cached_tokens: Annotated[int, Meta(ge=0)] = 0
    """Of the tokens of the requests, those the provider had cached."""
    output_tokens: Annotated[int, Meta(ge=0)] = 0
    cost_micros: Annotated[int, Meta(ge=0)] | None = None
    """Millionths of the price list's currency; None where nobody knows."""
    corrections: Annotated[int, Meta(ge=0)] = 0
    fallback: bool = False
    """A line of the persona's took the reply's place."""


class ToolEnded(_Body, frozen=True, kw_only=True, tag="tool_ended"):
    """A tool call got its result."""

    correlation: CorrelationId
    tool: Label
    ok: bool
    code: Label = ""


class ReplyComposed(_Body, frozen=True, kw_only=True, tag="reply"):
    """The text a turn wants spoken, before it is split and paced."""

    correlation: CorrelationId
    text: LongText


class GoalChanged(_Body, frozen=True, kw_only=True, tag="goal"):
    """A goal moved to another state (Spec: GOL-1)."""

    goal: Label
    state: Label
    step: Annotated[int, Meta(ge=0)] = 0


class SafeModeChanged(_Body, frozen=True, kw_only=True, tag="safe_mode"):
    """Durable storage failed or came back: talk yes, pay and give no (Spec: EFX-4)."""

    active: bool
    code: Label = ""


ObservationBody: TypeAlias = (
    AgentStateChanged
    | LinkStateChanged
    | GenerationOpened
    | GenerationClosed
    | EventSeen
    | AttentionDecided
    | ActionDecided
    | ActionSettled
    | DoubtSettled
    | ApprovalOpened
    | ApprovalClosed
    | HoldChanged
    | ControlAnswered
    | WorkFenced
    | Diagnostic
    | TurnStarted
    | TurnEnded
    | ToolEnded
    | ReplyComposed
    | GoalChanged
    | SafeModeChanged
)
"""Any observation's content."""

OBSERVATIONS: Final[tuple[type[ObservationBody], ...]] = ObservationBody.__args__
"""Every observation class, in the order of the catalogue."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a session says about itself, in order."""

    seq: int
    """Counts up from 1 for each avatar; a gap means the subscriber lagged."""
    avatar: AvatarKey
    generation: Generation
    at: float
    """Seconds on the service's monotonic clock."""
    body: ObservationBody


def observation_name(body: msgspec.Struct) -> str:
    """Return the stable tag of an observation."""
    tag = type(body).__struct_config__.tag
    assert isinstance(tag, str)  # noqa: S101 - every class above declares a text tag
    return tag
