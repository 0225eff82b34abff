"""The words of the model port: what a language model is asked, what it answers, and how that fails.

Owns provider-neutral frozen structs and one error; knows no provider, no wire and no transport (that is
`gridagent.llm`). The turn assembles an `LlmRequest` and reads an `LlmReply`; nothing of either can cause
anything in the world. One entry of a model's conversation is a *turn* here, never a message.

Invariant: an `LlmFailure` holds a kind, numbers and fixed words, and no text that came from a provider
(Spec: MND-1, MND-3, BND-8, BND-17).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.errors import GridAgentError, LimitExceeded
from gridagent.ids import CorrelationId
from gridagent.limits import (
    MESSAGES_PER_REQUEST_MAX,
    MODEL_REPLY_MAX_BYTES,
    MODEL_REQUEST_MAX_BYTES,
    TOOL_CALLS_PER_REPLY_MAX,
    TOOLS_MAX,
    Bounded,
    Label,
)

__all__ = (
    "AssistantTurn",
    "BadReply",
    "CacheUse",
    "CallDelta",
    "FailureKind",
    "FinishReason",
    "LlmDelta",
    "LlmFailure",
    "LlmReply",
    "LlmRequest",
    "ModelTurn",
    "ReplyDone",
    "SystemTurn",
    "TextDelta",
    "ToolCall",
    "ToolDescriptor",
    "ToolTurn",
    "Usage",
    "UserTurn",
    "pairing_problem",
)

SCHEMA_MAX_BYTES: Final = 64 * 1024
DESCRIPTION_MAX_BYTES: Final = 4 * 1024
DEADLINE_MAX_S: Final = 3_600.0
TOKENS_MAX: Final = 10_000_000

TurnText: TypeAlias = Annotated[str, Meta(max_length=MODEL_REPLY_MAX_BYTES, extra={"max_bytes": MODEL_REPLY_MAX_BYTES})]
"""Text of one turn: at most 256 KiB of UTF-8, as a whole reply."""
Tokens: TypeAlias = Annotated[int, Meta(ge=0, le=TOKENS_MAX)]
Micros: TypeAlias = Annotated[int, Meta(ge=0, le=10**15)]
"""Money in millionths of the currency the prices are given in; whole, so that nothing is lost in adding."""


class _Turn(Bounded, frozen=True, kw_only=True, tag_field="turn", forbid_unknown_fields=True):
    """Base of what a conversation with a model is made of."""


class SystemTurn(_Turn, frozen=True, kw_only=True, tag="system"):
    """What the operator's configuration says; never text from outside (Spec: MND-4)."""

    text: TurnText


class UserTurn(_Turn, frozen=True, kw_only=True, tag="user"):
    """What was heard, seen or recovered, labelled with where it came from."""

    text: TurnText


class ToolCall(Bounded, frozen=True, kw_only=True):
    """One call a model asks for. Nothing of it has been checked: a request, not an action."""

    id: Annotated[Label, Meta(min_length=1)]
    """Unique within the conversation; ours where the provider gave none or one that is taken."""
    name: Label
    """As the model wrote it; over-long ones are cut and so match no tool."""
    arguments: TurnText
    """Raw JSON text as the model wrote it, duplicate keys and all; empty when it wrote nothing."""


class AssistantTurn(_Turn, frozen=True, kw_only=True, tag="assistant"):
    """What the model answered."""

    text: TurnText = ""
    tool_calls: Annotated[tuple[ToolCall, ...], Meta(max_length=TOOL_CALLS_PER_REPLY_MAX)] = ()


class ToolTurn(_Turn, frozen=True, kw_only=True, tag="tool"):
    """The result of one call, whatever became of it."""

    call_id: Annotated[Label, Meta(min_length=1)]
    name: Label
    text: TurnText


ModelTurn: TypeAlias = SystemTurn | UserTurn | AssistantTurn | ToolTurn


class ToolDescriptor(Bounded, frozen=True, kw_only=True):
    """A tool as the model is shown it."""

    name: Annotated[Label, Meta(min_length=1)]
    description: Annotated[str, Meta(max_length=DESCRIPTION_MAX_BYTES, extra={"max_bytes": DESCRIPTION_MAX_BYTES})]
    schema: Annotated[bytes, Meta(max_length=SCHEMA_MAX_BYTES)]
    """JSON text of the arguments' schema, checked when the tool was registered; sent as it is."""


class CacheUse(StrEnum):
    """What a provider's caches are to do with a request."""

    DEFAULT = "default"
    HINT = "hint"
    """The beginning will come again: mark it for caching where the provider can."""
    BYPASS = "bypass"
    """This asks again because the last answer was no good: nothing cached, please (Spec: MND-9)."""


class LlmRequest(Bounded, frozen=True, kw_only=True):
    """One question to a language model.

    Raises:
        LimitExceeded: more turns or tools than BND-8 and BND-12 allow, or a number out of its range.
    """

    turns: Annotated[tuple[ModelTurn, ...], Meta(min_length=1, max_length=MESSAGES_PER_REQUEST_MAX)]
    tools: Annotated[tuple[ToolDescriptor, ...], Meta(max_length=TOOLS_MAX)] = ()
    require_tool: bool = False
    """Ask for a call rather than words, where the provider can be asked that."""
    max_request_bytes: Annotated[int, Meta(ge=1, le=MODEL_REQUEST_MAX_BYTES)] = MODEL_REQUEST_MAX_BYTES
    """Encoded size that is sent at most."""
    max_reply_bytes: Annotated[int, Meta(ge=1, le=MODEL_REPLY_MAX_BYTES)] = MODEL_REPLY_MAX_BYTES
    """UTF-8 bytes of text and arguments that are accepted at most."""
    max_reply_tokens: Annotated[int, Meta(ge=1, le=65_536)] = 1_024
    """What the provider is told to stop at."""
    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    deadline_s: Annotated[float, Meta(gt=0.0, le=DEADLINE_MAX_S)] = 120.0
    """Seconds for everything: waiting for a slot, tries and pauses, up to the last byte."""
    correlation: CorrelationId = CorrelationId("")
    cache: CacheUse = CacheUse.DEFAULT

    def __post_init__(self) -> None:
        """Hold the numbers too: whoever builds a request in code gets the ceilings of one that is decoded."""
        super().__post_init__()
        if not self.turns:
            raise LimitExceeded("LlmRequest.turns: at least 1 wanted", allowed=MESSAGES_PER_REQUEST_MAX, seen=0)
        _within("max_request_bytes", self.max_request_bytes, 1, MODEL_REQUEST_MAX_BYTES)
        _within("max_reply_bytes", self.max_reply_bytes, 1, MODEL_REPLY_MAX_BYTES)
        _within("max_reply_tokens", self.max_reply_tokens, 1, 65_536)
        if not (math.isfinite(self.deadline_s) and 0 < self.deadline_s <= DEADLINE_MAX_S):
            raise LimitExceeded("LlmRequest.deadline_s", allowed=DEADLINE_MAX_S, seen=self.deadline_s)


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise LimitExceeded(f"LlmRequest.{name}", allowed=most if value > most else least, seen=value)


class FinishReason(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    """It was done."""
    TOOL_CALLS = "tool_calls"
    """It waits for the results of its calls."""
    LENGTH = "length"
    """It was cut off: the text, or the last call's arguments, may be incomplete."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply took."""

    input_tokens: Tokens = 0
    """All tokens of the request, cached ones included."""
    cached_tokens: Tokens = 0
    output_tokens: Tokens = 0
    """All tokens of the reply, thinking included."""
    reported: bool = False
    """The provider said so; otherwise the numbers are an estimate from above."""


class LlmReply(Bounded, frozen=True, kw_only=True):
    """One answer, whole. Reasoning that a provider shows beside it is left out."""

    text: TurnText = ""
    tool_calls: Annotated[tuple[ToolCall, ...], Meta(max_length=TOOL_CALLS_PER_REPLY_MAX)] = ()
    finish: FinishReason = FinishReason.STOP
    usage: Usage = Usage()
    cost_micros: Micros | None = None
    """What it cost: as the provider says, or by the configured prices; None where nobody knows."""

    def as_turn(self) -> AssistantTurn:
        """Return it as the turn that the conversation keeps."""
        return AssistantTurn(text=self.text, tool_calls=self.tool_calls)


class TextDelta(msgspec.Struct, frozen=True, tag_field="delta", tag="text"):
    """The next piece of text."""

    text: str


class CallDelta(msgspec.Struct, frozen=True, tag_field="delta", tag="call"):
    """The model begins a call; its arguments come with the whole reply."""

    name: str


class ReplyDone(msgspec.Struct, frozen=True, tag_field="delta", tag="done"):
    """The reply is whole; the last delta, exactly once, and only of a reply that is good."""

    reply: LlmReply


LlmDelta: TypeAlias = TextDelta | CallDelta | ReplyDone


class FailureKind(StrEnum):
    """What went wrong between us and a model; stable and documented."""

    TIMEOUT = "timeout"
    """No whole reply in time."""
    RATE_LIMITED = "rate_limited"
    """Too many requests or tokens; ``retry_after_s`` says when to come back, where the provider does."""
    OVERLOADED = "overloaded"
    """The provider, or our own queue before it, has too much to do."""
    SERVER_ERROR = "server_error"
    """The provider broke."""
    UNREACHABLE = "unreachable"
    """No connection, or it ended before a reply began."""
    BAD_REPLY = "bad_reply"
    """What came is no usable reply; ``bad_reply`` says why."""
    REFUSED = "refused"
    """The provider's own rules refused the request or the reply."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed to do this."""
    NO_CREDIT = "no_credit"
    """The provider wants to be paid first."""
    TOO_LARGE = "too_large"
    """The request is over our bound or the model's."""
    TOOLS_UNSUPPORTED = "tools_unsupported"
    """This model or server cannot be offered tools."""
    REJECTED = "rejected"
    """The provider does not understand the request: wrong URL, model name or parameter."""
    SPENT = "spent"
    """Our own budget of tokens or money is used up (Spec: MND-12)."""
    CANCELLED = "cancelled"
    """The client was closed, or the provider gave the request up."""


class BadReply(StrEnum):
    """Why a reply is unusable."""

    NOT_JSON = "not_json"
    HTML = "html"
    """A web page: usually a proxy or a wrong URL."""
    TRUNCATED = "truncated"
    """It ended in the middle, or without saying that it is done."""
    WRONG_SHAPE = "wrong_shape"
    EMPTY = "empty"
    """No answer in it at all."""
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TOO_MANY_CALLS = "too_many_calls"
    """More tool calls than one reply may have; none of them runs (Spec: BND-8)."""
    ENCODING = "encoding"
    """Compressed in a way that was not asked for, or broken."""
    REDIRECT = "redirect"
    """It pointed somewhere else; redirects are never followed."""
    PROTOCOL = "protocol"
    """It is not HTTP."""
    STATUS = "status"
    """An HTTP status that means nothing here."""


_SENTENCES: Final[dict[FailureKind, str]] = {
    FailureKind.TIMEOUT: "the model did not answer in time",
    FailureKind.RATE_LIMITED: "the model's provider limits the rate of requests",
    FailureKind.OVERLOADED: "the model has too much to do",
    FailureKind.SERVER_ERROR: "the model's provider failed",
    FailureKind.UNREACHABLE: "the model's endpoint cannot be reached",
    FailureKind.BAD_REPLY: "the model's reply is unusable",
    FailureKind.REFUSED: "the model's provider refused",
    FailureKind.AUTH: "the model's provider does not accept the key",
    FailureKind.NO_CREDIT: "the model's provider wants payment",
    FailureKind.TOO_LARGE: "the request is too large for the model",
    FailureKind.TOOLS_UNSUPPORTED: "the model cannot use tools",
    FailureKind.REJECTED: "the model's provider does not understand the request",
    FailureKind.SPENT: "the budget for the model is used up",
    FailureKind.CANCELLED: "the request to the model was given up",
}
_RETRYABLE: Final = frozenset(
    {
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.UNREACHABLE,
    }
)
_RETRYABLE_REPLIES: Final = frozenset(
    {BadReply.NOT_JSON, BadReply.HTML, BadReply.TRUNCATED, BadReply.EMPTY, BadReply.PROTOCOL}
)


class LlmFailure(GridAgentError):
    """A model gave no usable reply. Its text is ours alone; what the provider said is in the redacted log.

    ``status`` is the HTTP status, where there was one; ``retry_after_s`` is how many seconds the provider
    asks to stay away, unbounded as it said them.
    """

    code: ClassVar[str] = "llm_failed"

    def __init__(
        self,
        kind: FailureKind,
        *,
        bad_reply: BadReply | None = None,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.kind = kind
        self.bad_reply = bad_reply
        self.status = status
        self.retry_after_s = retry_after_s
        details = [each for each in (bad_reply and bad_reply.value, status and f"HTTP {status}") if each]
        super().__init__(_SENTENCES[kind] + (f" ({', '.join(details)})" if details else ""))

    @property
    def retryable(self) -> bool:
        """Whether asking the very same again may go better."""
        if self.kind is FailureKind.BAD_REPLY:
            return self.bad_reply in _RETRYABLE_REPLIES
        return self.kind in _RETRYABLE


def pairing_problem(turns: Sequence[ModelTurn]) -> str | None:
    """Say what is wrong with how calls and results are paired; None when every call has its one result.

    Each call of an assistant turn is answered by one tool turn, in call order, right behind it: providers
    refuse a whole conversation in which one is missing, so it is checked before each request.
    """
    open_ids: list[str] = []
    seen: set[str] = set()
    for position, turn in enumerate(turns):
        if isinstance(turn, ToolTurn):
            if not open_ids or turn.call_id != open_ids[0]:
                return f"turn {position} answers a call that is not the next one open"
            open_ids.pop(0)
            continue
        if open_ids:
            return f"turn {position} comes before {len(open_ids)} calls are answered"
        if isinstance(turn, AssistantTurn):
            for call in turn.tool_calls:
                if call.id in seen:
                    return f"turn {position} uses a call id again"
                seen.add(call.id)
                open_ids.append(call.id)
    return f"the last {len(open_ids)} calls are not answered" if open_ids else None
