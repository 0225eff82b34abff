"""Chat completions as OpenAI defined them and as everybody else speaks them; sans-IO.

Owns the wire of one request and one reply, streamed or not, and what servers do differently: no or an empty
``finish_reason``, arguments as an object instead of a string, empty or repeated ids, ``content`` null or in parts,
no usage, reasoning beside the answer, a document where a stream was asked for, an error inside a 200. The bounds
are `gridagent.llm.assembly`'s; sending is `gridagent.llm.client`'s.

Invariant: any bytes give a reply or an `LlmFailure` (Spec: MND-1, MND-2, Fault: 21, 22).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from gridagent.errors import LimitExceeded
from gridagent.language import (
    AssistantTurn,
    BadReply,
    CallDelta,
    FailureKind,
    FinishReason,
    LlmDelta,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ModelTurn,
    SystemTurn,
    TextDelta,
    ToolDescriptor,
    ToolTurn,
    Usage,
    UserTurn,
)
from gridagent.llm.assembly import ReplyAssembly
from gridagent.llm.provider_errors import failure_if_empty, failure_of_error, failure_of_status
from gridagent.llm.sse import SseParser
from gridagent.llm.untrusted import decode_untrusted, json_object_text, json_text, sendable, unusable

__all__ = ("ChatCompletions",)

# --- what is sent ---------------------------------------------------------------------------------


class _SentFunction(msgspec.Struct):
    name: str
    arguments: str


class _SentCall(msgspec.Struct):
    id: str
    function: _SentFunction
    type: str = "function"


class _SentTurn(msgspec.Struct, omit_defaults=True):
    role: str
    content: str | UnsetType = UNSET
    tool_calls: list[_SentCall] | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class _SentParameters(msgspec.Struct):
    name: str
    description: str
    parameters: msgspec.Raw


class _SentTool(msgspec.Struct):
    function: _SentParameters
    type: str = "function"


class _StreamOptions(msgspec.Struct):
    include_usage: bool = True


class _Sent(msgspec.Struct, omit_defaults=True):
    model: str
    messages: list[_SentTurn]
    max_tokens: int | UnsetType = UNSET
    max_completion_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    tools: msgspec.Raw | UnsetType = UNSET
    tool_choice: str | UnsetType = UNSET
    stream: bool = False
    stream_options: _StreamOptions | UnsetType = UNSET


# --- what comes: lenient in what is left out, strict in what is there ------------------------------


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Answer(msgspec.Struct):
    """A message or a delta."""

    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Answer | None = None
    delta: _Answer | None = None
    finish_reason: str | None = None


class _Document(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class _InputDetails(msgspec.Struct):
    cached_tokens: float | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    prompt_tokens_details: _InputDetails | None = None
    cost: float | None = None


_ENCODER: Final = msgspec.json.Encoder()
_DOCUMENTS: Final = msgspec.json.Decoder(_Document)
_USAGES: Final = msgspec.json.Decoder(_Usage)
_TOOL_LISTS_MAX: Final = 16
_TOKENS_MAX: Final = 10_000_000.0
_MICROS: Final = 1_000_000
_COST_MAX: Final = 1e6
_REFUSALS: Final = frozenset({"content_filter", "safety", "refusal"})
_CUT_OFF: Final = frozenset({"length", "max_tokens", "model_length"})
_BROKEN: Final = frozenset({"error"})
_DONE: Final = b"[DONE]"


@lru_cache(maxsize=_TOOL_LISTS_MAX)
def _sent_tools(tools: tuple[ToolDescriptor, ...]) -> msgspec.Raw:
    """Return a list of tools as it is sent; the same few lists are shown over and over."""
    return msgspec.Raw(
        _ENCODER.encode(
            [_SentTool(_SentParameters(tool.name, tool.description, msgspec.Raw(tool.schema))) for tool in tools]
        )
    )


class ChatCompletions:
    """The codec; implements `gridagent.llm.base.Codec`.

    Args:
        model: as the endpoint knows it.
        openai: the endpoint is OpenAI's own: use the name for the reply's bound that its newer models ask for, and
            that no other server knows.
    """

    __slots__ = ("_model", "_openai")

    def __init__(self, model: str, *, openai: bool = False) -> None:
        self._model = model
        self._openai = openai

    def encode(self, request: LlmRequest, *, streaming: bool) -> bytes:
        """Return the body to send."""
        sent = _Sent(model=self._model, messages=[_sent(turn) for turn in request.turns])
        if self._openai:
            sent.max_completion_tokens = request.max_reply_tokens
        else:
            sent.max_tokens = request.max_reply_tokens
        if request.temperature is not None:
            sent.temperature = request.temperature
        if request.tools:
            sent.tools = _sent_tools(request.tools)
            if request.require_tool:
                sent.tool_choice = "required"
        if streaming:
            sent.stream = True
            sent.stream_options = _StreamOptions()
        body = _ENCODER.encode(sent)
        if len(body) > request.max_request_bytes:
            raise LlmFailure(FailureKind.TOO_LARGE)
        return body

    def decode(self, body: bytes, request: LlmRequest) -> LlmReply:
        """Read a whole body that came with status 200."""
        document = decode_untrusted(_DOCUMENTS, body)
        had_tools = bool(request.tools)
        if not document.choices:
            raise failure_if_empty(document.error, had_tools=had_tools)
        choice = document.choices[0]
        answer = choice.message if choice.message is not None else choice.delta
        if answer is None:
            raise failure_if_empty(document.error, had_tools=had_tools)
        if choice.finish_reason in _BROKEN or _is_there(document.error):
            raise failure_of_error(document.error, had_tools=had_tools)
        assembly = ReplyAssembly(request)
        for piece in _texts(answer):
            assembly.add_text(piece)
        for call in answer.tool_calls or ():
            function = call.function if call.function is not None else _Function()
            number = assembly.begin_call(_id(call), function.name or "")
            assembly.add_to_call(number, arguments=json_text(function.arguments))
        _check_refused(choice.finish_reason, refused=bool(answer.refusal), assembly=assembly)
        usage, cost = _usage(document.usage)
        return assembly.finish(_reason(choice.finish_reason), usage, cost)

    def decoder(self, request: LlmRequest) -> _Stream:
        """Return a decoder for one streamed reply."""
        return _Stream(request)

    def refusal(self, status: int, body: bytes, request: LlmRequest) -> LlmFailure:
        """Say what a status other than 200 means."""
        return failure_of_status(status, body, had_tools=bool(request.tools))


class _Stream:
    """One streamed reply; implements `gridagent.llm.base.ReplyDecoder`."""

    __slots__ = ("_assembly", "_cost", "_events", "_numbers", "_reason", "_refused", "_request", "_usage", "complete")

    def __init__(self, request: LlmRequest) -> None:
        self.complete = False
        self._request = request
        self._events = SseParser()
        self._assembly = ReplyAssembly(request)
        self._numbers: dict[int, int] = {}  # the wire's index → our number; as many as there are calls
        self._reason: str | None = None
        self._refused = False
        self._usage: Usage | None = None
        self._cost: int | None = None

    @property
    def ending(self) -> bool:
        """Whether the reply said why it stops."""
        return bool(self._reason)

    def feed(self, data: bytes) -> Sequence[LlmDelta]:
        """Take bytes and return what they mean."""
        if self.complete:
            return ()
        deltas: list[LlmDelta] = []
        try:
            events = self._events.feed(data)
        except LimitExceeded as error:
            raise unusable(BadReply.TOO_LONG) from error
        for event in events:
            if self._take(event.data, deltas):
                break
        return deltas

    def finish(self) -> LlmReply:
        """Return the whole reply."""
        if not self.complete:
            for event in self._events.end():
                self._take(event.data, [])
        if not self.complete and not self._reason:
            # A clean end without a reason is what a reply that was cut off in the middle looks like.
            raise unusable(BadReply.TRUNCATED)
        if not self._reason and self._assembly.empty:
            raise unusable(BadReply.EMPTY)
        _check_refused(self._reason, refused=self._refused, assembly=self._assembly)
        return self._assembly.finish(_reason(self._reason), self._usage, self._cost)

    def _take(self, data: bytes, deltas: list[LlmDelta]) -> bool:
        """Read one event; tell whether it was the last."""
        if data.strip() == _DONE:
            self.complete = True
            return True
        document = decode_untrusted(_DOCUMENTS, data)
        had_tools = bool(self._request.tools)
        if _is_there(document.error):
            raise failure_of_error(document.error, had_tools=had_tools)
        usage, cost = _usage(document.usage)
        self._usage = usage if usage is not None else self._usage
        self._cost = cost if cost is not None else self._cost
        if not document.choices:
            return False
        choice = document.choices[0]
        if choice.finish_reason in _BROKEN:
            raise failure_of_error(document.error, had_tools=had_tools)
        answer = choice.delta if choice.delta is not None else choice.message
        if answer is not None:
            self._refused = self._refused or bool(answer.refusal)
            for piece in _texts(answer):
                shown = self._assembly.add_text(piece)
                if shown:
                    deltas.append(TextDelta(shown))
            for call in answer.tool_calls or ():
                self._take_call(call, deltas)
        self._reason = choice.finish_reason or self._reason
        return False

    def _take_call(self, call: _Call, deltas: list[LlmDelta]) -> None:
        function = call.function if call.function is not None else _Function()
        name, call_id = function.name or "", _id(call)
        index = call.index if call.index is not None else self._index_of(call_id, name)
        number = self._numbers.get(index)
        if number is not None and call_id and self._assembly.call_id(number) not in {"", call_id}:
            number = None  # some servers give every call of a reply the same index
        if number is None:
            number = self._numbers[index] = self._assembly.begin_call(call_id, name)
            deltas.append(CallDelta(name[:64]))
        else:
            self._assembly.add_to_call(number, call_id=call_id, name=name)
        self._assembly.add_to_call(number, arguments=json_text(function.arguments))

    def _index_of(self, call_id: str, name: str) -> int:
        """Return the index a call without one belongs to: a new one if it begins something, else the last."""
        return self._assembly.calls if call_id or name or not self._assembly.calls else self._assembly.calls - 1


# --- both ways ------------------------------------------------------------------------------------


def _sent(turn: ModelTurn) -> _SentTurn:
    match turn:
        case SystemTurn():
            return _SentTurn("system", turn.text)
        case UserTurn():
            return _SentTurn("user", turn.text)
        case ToolTurn():
            return _SentTurn("tool", turn.text, tool_call_id=turn.call_id)
        case AssistantTurn():
            # An empty text, never null: some templates fail on it.
            sent = _SentTurn("assistant", turn.text)
            if turn.tool_calls:
                sent.tool_calls = [
                    _SentCall(call.id, _SentFunction(sendable(call.name), json_object_text(call.arguments).decode()))
                    for call in turn.tool_calls
                ]
            return sent


def _texts(answer: _Answer) -> Iterator[str]:
    if isinstance(answer.content, str):
        yield answer.content
    elif answer.content is not None:
        yield from (part.text for part in answer.content if part.text is not None)


def _id(call: _Call) -> str:
    return "" if call.id is None else str(call.id)


def _is_there(raw: msgspec.Raw) -> bool:
    return bytes(raw) not in {b"", b"null"}


def _reason(said: str | None) -> FinishReason | None:
    return FinishReason.LENGTH if said in _CUT_OFF else None


def _check_refused(reason: str | None, *, refused: bool, assembly: ReplyAssembly) -> None:
    if reason in _REFUSALS or (refused and assembly.empty):
        raise LlmFailure(FailureKind.REFUSED)


def _usage(raw: msgspec.Raw) -> tuple[Usage | None, int | None]:
    """Return what was reported; a report that makes no sense is none, and costs no reply its life."""
    if not _is_there(raw):
        return None, None
    try:
        told = _USAGES.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None, None
    given, made = _count(told.prompt_tokens), _count(told.completion_tokens)
    if given is None or made is None:
        return None, None
    details = told.prompt_tokens_details
    cached = _count(details.cached_tokens) if details is not None else None
    cost = told.cost
    micros = None if cost is None or not 0 <= cost <= _COST_MAX else -int(-cost * _MICROS // 1)
    return Usage(input_tokens=given, cached_tokens=min(cached or 0, given), output_tokens=made, reported=True), micros


def _count(number: float | None) -> int | None:
    return int(number) if number is not None and 0 <= number <= _TOKENS_MAX else None
