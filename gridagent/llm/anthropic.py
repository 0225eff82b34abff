"""Anthropic's Messages API; sans-IO.

Owns the wire of one request and one reply, streamed or not: system text apart, results of calls inside the next
user entry, typed content blocks, named events. The bounds are `gridagent.llm.assembly`'s; sending is
`gridagent.llm.client`'s.

Invariant: any bytes give a reply or an `LlmFailure` (Spec: MND-1, MND-2, Fault: 21, 22).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from gridagent.errors import LimitExceeded
from gridagent.language import (
    AssistantTurn,
    BadReply,
    CacheUse,
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
    ToolTurn,
    Usage,
    UserTurn,
)
from gridagent.llm.assembly import ReplyAssembly
from gridagent.llm.provider_errors import failure_if_empty, failure_of_error, failure_of_status
from gridagent.llm.sse import SseParser
from gridagent.llm.untrusted import decode_untrusted, json_object_text, sendable, unusable

__all__ = ("VERSION", "Anthropic")

VERSION: Final = "2023-06-01"
"""The version this codec speaks; sent as a header."""

# --- what is sent ---------------------------------------------------------------------------------


class _Cache(msgspec.Struct):
    type: str = "ephemeral"


class _SentBlock(msgspec.Struct, omit_defaults=True):
    type: str
    text: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    input: msgspec.Raw | UnsetType = UNSET
    tool_use_id: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    cache_control: _Cache | UnsetType = UNSET


class _SentEntry(msgspec.Struct):
    role: str
    content: list[_SentBlock]


class _SentTool(msgspec.Struct):
    name: str
    description: str
    input_schema: msgspec.Raw


class _Choice(msgspec.Struct):
    type: str


class _Sent(msgspec.Struct, omit_defaults=True):
    model: str
    max_tokens: int
    messages: list[_SentEntry]
    system: list[_SentBlock] | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    tools: list[_SentTool] | UnsetType = UNSET
    tool_choice: _Choice | UnsetType = UNSET
    stream: bool = False


# --- what comes -----------------------------------------------------------------------------------


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"")


class _Usage(msgspec.Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    cache_read_input_tokens: float | None = None
    cache_creation_input_tokens: float | None = None


class _Document(msgspec.Struct):
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class _Delta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int | None = None
    message: _Document | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


_ENCODER: Final = msgspec.json.Encoder()
_DOCUMENTS: Final = msgspec.json.Decoder(_Document)
_EVENTS: Final = msgspec.json.Decoder(_Event)
_USAGES: Final = msgspec.json.Decoder(_Usage)
_TOKENS_MAX: Final = 10_000_000.0
_CUT_OFF: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
_BLOCKS_MAX: Final = 1_024


class Anthropic:
    """The codec; implements `gridagent.llm.base.Codec`.

    Args:
        model: as the endpoint knows it.
    """

    __slots__ = ("_model",)

    def __init__(self, model: str) -> None:
        self._model = model

    def encode(self, request: LlmRequest, *, streaming: bool) -> bytes:
        """Return the body to send."""
        system = [_text(turn.text) for turn in request.turns if isinstance(turn, SystemTurn) and turn.text]
        sent = _Sent(model=self._model, max_tokens=request.max_reply_tokens, messages=_entries(request.turns))
        if system:
            sent.system = system
            if request.cache is CacheUse.HINT:
                # Everything up to here (the tools come before the system text) will come again.
                system[-1].cache_control = _Cache()
        if request.temperature is not None:
            sent.temperature = min(request.temperature, 1.0)
        if request.tools:
            sent.tools = [_SentTool(tool.name, tool.description, msgspec.Raw(tool.schema)) for tool in request.tools]
            if request.require_tool:
                sent.tool_choice = _Choice("any")
        sent.stream = streaming
        body = _ENCODER.encode(sent)
        if len(body) > request.max_request_bytes:
            raise LlmFailure(FailureKind.TOO_LARGE)
        return body

    def decode(self, body: bytes, request: LlmRequest) -> LlmReply:
        """Read a whole body that came with status 200."""
        document = decode_untrusted(_DOCUMENTS, body)
        if document.content is None:
            raise failure_if_empty(document.error, had_tools=bool(request.tools))
        _check_refused(document.stop_reason)
        assembly = ReplyAssembly(request)
        for block in document.content:
            if block.type == "text" and block.text:
                assembly.add_text(block.text)
            elif block.type == "tool_use":
                number = assembly.begin_call(block.id or "", block.name or "")
                assembly.add_to_call(number, arguments=bytes(block.input).decode("utf-8", "replace"))
        return assembly.finish(_reason(document.stop_reason), _Counted().add(document.usage).usage())

    def decoder(self, request: LlmRequest) -> _Stream:
        """Return a decoder for one streamed reply."""
        return _Stream(request)

    def refusal(self, status: int, body: bytes, request: LlmRequest) -> LlmFailure:
        """Say what a status other than 200 means."""
        return failure_of_status(status, body, had_tools=bool(request.tools))


class _Stream:
    """One streamed reply; implements `gridagent.llm.base.ReplyDecoder`."""

    __slots__ = ("_assembly", "_counted", "_events", "_numbers", "_reason", "_request", "complete")

    def __init__(self, request: LlmRequest) -> None:
        self.complete = False
        self._request = request
        self._events = SseParser()
        self._assembly = ReplyAssembly(request)
        self._numbers: dict[int, int | None] = {}  # a block's index → our call, None for others; at most _BLOCKS_MAX
        self._reason: str | None = None
        self._counted = _Counted()

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
        if not self._reason:
            raise unusable(BadReply.TRUNCATED)
        _check_refused(self._reason)
        return self._assembly.finish(_reason(self._reason), self._counted.usage())

    def _take(self, data: bytes, deltas: list[LlmDelta]) -> bool:
        """Read one event; tell whether it was the last."""
        event = decode_untrusted(_EVENTS, data)
        handle = _HANDLERS.get(event.type)
        if handle is not None:  # pings, the ends of blocks and kinds to come mean nothing to us
            handle(self, event, deltas)
        return self.complete

    def _on_start(self, event: _Event, _: list[LlmDelta]) -> None:
        if event.message is not None:
            self._counted.add(event.message.usage)

    def _on_block(self, event: _Event, deltas: list[LlmDelta]) -> None:
        block = event.content_block
        if block is None or event.index is None:
            raise unusable(BadReply.WRONG_SHAPE)
        if len(self._numbers) >= _BLOCKS_MAX:
            raise unusable(BadReply.TOO_LONG)
        self._numbers[event.index] = None
        if block.type == "tool_use":
            name = block.name or ""
            number = self._numbers[event.index] = self._assembly.begin_call(block.id or "", name)
            deltas.append(CallDelta(name[:64]))
            given = bytes(block.input)
            if given not in {b"", b"{}", b"null"}:
                # Servers that imitate this API send the arguments at once.
                self._assembly.add_to_call(number, arguments=given.decode("utf-8", "replace"))
        elif block.type == "text" and block.text:
            self._show(block.text, deltas)

    def _on_piece(self, event: _Event, deltas: list[LlmDelta]) -> None:
        delta = event.delta
        if delta is None:
            return
        if delta.type == "text_delta" and delta.text:
            self._show(delta.text, deltas)
        elif delta.type == "input_json_delta" and delta.partial_json:
            number = self._numbers.get(-1 if event.index is None else event.index)
            if number is None:
                raise unusable(BadReply.WRONG_SHAPE)
            self._assembly.add_to_call(number, arguments=delta.partial_json)

    def _on_message(self, event: _Event, _: list[LlmDelta]) -> None:
        self._counted.add(event.usage)
        if event.delta is not None:
            self._reason = event.delta.stop_reason or self._reason

    def _on_stop(self, _: _Event, __: list[LlmDelta]) -> None:
        self.complete = True

    def _on_error(self, event: _Event, _: list[LlmDelta]) -> None:
        raise failure_of_error(event.error, had_tools=bool(self._request.tools))

    def _show(self, text: str, deltas: list[LlmDelta]) -> None:
        shown = self._assembly.add_text(text)
        if shown:
            deltas.append(TextDelta(shown))


_HANDLERS: Final[dict[str, Callable[[_Stream, _Event, list[LlmDelta]], None]]] = {
    "message_start": _Stream._on_start,  # noqa: SLF001 - its own table
    "content_block_start": _Stream._on_block,  # noqa: SLF001
    "content_block_delta": _Stream._on_piece,  # noqa: SLF001
    "message_delta": _Stream._on_message,  # noqa: SLF001
    "message_stop": _Stream._on_stop,  # noqa: SLF001
    "error": _Stream._on_error,  # noqa: SLF001
}

# --- both ways ------------------------------------------------------------------------------------


def _text(text: str) -> _SentBlock:
    return _SentBlock("text", text=text)


def _entries(turns: Sequence[ModelTurn]) -> list[_SentEntry]:
    """Return the conversation as entries whose roles alternate; results stand first in theirs, as they must."""
    entries: list[_SentEntry] = []
    for turn in turns:
        role = "assistant" if isinstance(turn, AssistantTurn) else "user"
        blocks = _blocks(turn)
        if not blocks:
            continue
        if entries and entries[-1].role == role:
            entries[-1].content.extend(blocks)
        else:
            entries.append(_SentEntry(role, blocks))
    return entries


def _blocks(turn: ModelTurn) -> list[_SentBlock]:
    match turn:
        case SystemTurn():
            return []
        case UserTurn():
            return [_text(turn.text)] if turn.text else []
        case ToolTurn():
            return [_SentBlock("tool_result", tool_use_id=sendable(turn.call_id), content=turn.text)]
        case AssistantTurn():
            # Text that ends in white space is refused in the last entry, and means nothing in the others.
            text = turn.text.rstrip()
            return [
                *([_text(text)] if text else []),
                *(
                    _SentBlock(
                        "tool_use",
                        id=sendable(call.id),
                        name=sendable(call.name),
                        input=msgspec.Raw(json_object_text(call.arguments)),
                    )
                    for call in turn.tool_calls
                ),
            ]


def _reason(said: str | None) -> FinishReason | None:
    return FinishReason.LENGTH if said in _CUT_OFF else None


def _check_refused(said: str | None) -> None:
    if said == "refusal":
        raise LlmFailure(FailureKind.REFUSED)


class _Counted:
    """Usage as it comes: in the beginning, and again, cumulative, at the end."""

    __slots__ = ("_cached", "_given", "_made")

    def __init__(self) -> None:
        self._given: int | None = None
        self._made: int | None = None
        self._cached = 0

    def add(self, raw: msgspec.Raw) -> _Counted:
        if bytes(raw) in {b"", b"null"}:
            return self
        try:
            told = _USAGES.decode(raw)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return self  # a report that makes no sense is none
        fresh = _count(told.input_tokens)
        read, written = _count(told.cache_read_input_tokens), _count(told.cache_creation_input_tokens)
        if fresh is not None:
            self._cached = read or 0
            self._given = fresh + self._cached + (written or 0)
        made = _count(told.output_tokens)
        self._made = self._made if made is None else made
        return self

    def usage(self) -> Usage | None:
        if self._given is None or self._made is None:
            return None
        given = min(self._given, int(_TOKENS_MAX))
        return Usage(
            input_tokens=given, cached_tokens=min(self._cached, given), output_tokens=self._made, reported=True
        )


def _count(number: float | None) -> int | None:
    return int(number) if number is not None and 0 <= number <= _TOKENS_MAX else None
