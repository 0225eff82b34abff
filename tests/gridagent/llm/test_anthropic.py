"""Anthropic's Messages API: what is sent, what comes, and any bytes at all."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    SystemTurn,
    TextDelta,
    ToolCall,
    ToolDescriptor,
    ToolTurn,
    Usage,
    UserTurn,
)
from gridagent.llm.anthropic import Anthropic

LOOK = ToolDescriptor(name="look", description="Look around.", schema=b'{"type":"object"}')
ASK = LlmRequest(turns=(UserTurn(text="hello"),), tools=(LOOK,))
CODEC = Anthropic("m")
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1, "output_tokens": 5}


def document(*blocks: dict, stop: object = "end_turn", **rest) -> bytes:
    """A whole reply."""
    return json.dumps({"type": "message", "content": list(blocks), "stop_reason": stop, "usage": USAGE} | rest).encode()


def text(words: str) -> dict:
    """A block of text."""
    return {"type": "text", "text": words}


def tool_use(call_id: str | None = "t1", name: str | None = "look", given: object = None) -> dict:
    """A block that is a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": {} if given is None else given}


def events(*each: dict) -> bytes:
    """A streamed reply."""
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in each)


START = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}}
STOP = {"type": "message_stop"}


def end(reason: str | None = "end_turn") -> dict:
    """The event that tells the reason."""
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}


def block(index: int | None, begin: dict | None, *deltas: dict) -> list[dict]:
    """One block, begun, filled and ended."""
    start = {"type": "content_block_start", "index": index, "content_block": begin}
    pieces = [{"type": "content_block_delta", "index": index, "delta": each} for each in deltas]
    return [start, *pieces, {"type": "content_block_stop", "index": index}]


def words(piece: str) -> dict:
    """A piece of text."""
    return {"type": "text_delta", "text": piece}


def partial(piece: str) -> dict:
    """A piece of arguments."""
    return {"type": "input_json_delta", "partial_json": piece}


def decoded(data: bytes, step: int | None = None) -> tuple[list[LlmDelta], LlmReply]:
    """Return what a stream means, fed whole or in steps."""
    decoder = CODEC.decoder(ASK)
    size = step or len(data) or 1
    deltas = [each for at in range(0, len(data), size) for each in decoder.feed(data[at : at + size])]
    return deltas, decoder.finish()


# --- encoding -------------------------------------------------------------------------------------


def test_a_request_is_what_the_api_takes() -> None:
    """System text apart, results first in the next user entry, tools with their schema. Spec: MND-1, MND-4."""
    turns = (
        SystemTurn(text="Be kind."),
        UserTurn(text="look"),
        AssistantTurn(text="I look. ", tool_calls=(ToolCall(id="t.1", name="look", arguments='{"a":1}'),)),
        ToolTurn(call_id="t.1", name="look", text="a bench"),
        UserTurn(text="and?"),
        AssistantTurn(text=""),
        UserTurn(text=""),
        SystemTurn(text=""),
        UserTurn(text="well?"),
    )
    request = LlmRequest(
        turns=turns, tools=(LOOK,), require_tool=True, temperature=1.5, max_reply_tokens=99, cache=CacheUse.HINT
    )
    assert json.loads(CODEC.encode(request, streaming=True)) == {
        "model": "m",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t_1", "name": "look", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t_1", "content": "a bench"},
                    {"type": "text", "text": "and?"},
                    {"type": "text", "text": "well?"},
                ],
            },
        ],
        "temperature": 1.0,
        "tools": [{"name": "look", "description": "Look around.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any"},
        "stream": True,
    }


def test_what_is_not_asked_for_is_not_sent() -> None:
    """No empty lists and no mark for a cache that nobody asked for."""
    sent = json.loads(CODEC.encode(LlmRequest(turns=(SystemTurn(text="s"), UserTurn(text="x"))), streaming=False))
    assert sent == {
        "model": "m",
        "max_tokens": 1_024,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "system": [{"type": "text", "text": "s"}],
    }
    assert "system" not in json.loads(CODEC.encode(LlmRequest(turns=(UserTurn(text="x"),)), streaming=False))


def test_a_request_over_its_bytes_is_refused() -> None:
    """The encoded body counts. Spec: BND-17."""
    with pytest.raises(LlmFailure) as caught:
        CODEC.encode(LlmRequest(turns=(UserTurn(text="x" * 100),), max_request_bytes=100), streaming=False)
    assert caught.value.kind is FailureKind.TOO_LARGE


# --- whole replies --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        document(text("hi")),
        document(text("h"), text("i")),
        document({"type": "thinking", "thinking": "hm", "signature": "x"}, text("hi")),
        document({"type": "redacted_thinking", "data": "x"}, text("hi"), {"type": "from_the_future", "x": 1}),
        document(text("hi"), text(""), stop=None),
        document(text("hi"), stop="stop_sequence", error=None),
        document(text("hi"), stop="pause_turn"),
    ],
)
def test_text_is_text_whatever_stands_around_it(data: bytes) -> None:
    """Blocks of other kinds mean nothing, reasons of other kinds mean stop. Spec: MND-1."""
    reply = CODEC.decode(data, ASK)
    assert (reply.text, reply.tool_calls, reply.finish) == ("hi", (), FinishReason.STOP)


def test_calls_come_with_their_arguments_as_they_are() -> None:
    """The input's text is handed on unread; missing ids are ours. Spec: MND-1. Fault: 23."""
    data = b'{"content":[{"type":"tool_use","id":"t1","name":"pay","input":{"amt":1,"amt": 9}},{"type":"tool_use"}]}'
    reply = CODEC.decode(data, ASK)
    assert reply.finish is FinishReason.TOOL_CALLS
    assert reply.tool_calls == (
        ToolCall(id="t1", name="pay", arguments='{"amt":1,"amt": 9}'),
        ToolCall(id="call00001", name="", arguments=""),
    )


def test_usage_counts_what_was_cached() -> None:
    """All input is counted, and how much of it was cached. Spec: MND-12."""
    assert CODEC.decode(document(text("hi")), ASK).usage == Usage(
        input_tokens=15, cached_tokens=4, output_tokens=5, reported=True
    )


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": 5}, {"input_tokens": -1, "output_tokens": 1}, 7])
def test_usage_that_makes_no_sense_costs_no_reply_its_life(usage: object) -> None:
    """The reply is good; its tokens are estimated."""
    assert not CODEC.decode(document(text("hi"), usage=usage), ASK).usage.reported


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_being_cut_off_is_told(stop: str) -> None:
    """Both words for it are the one finish reason."""
    assert CODEC.decode(document(text("hi"), stop=stop), ASK).finish is FinishReason.LENGTH


@pytest.mark.parametrize(
    ("data", "kind", "bad_reply"),
    [
        (document(text("x"), stop="refusal"), FailureKind.REFUSED, None),
        (b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}', FailureKind.OVERLOADED, None),
        (b'{"type":"error","error":{"type":"new_error"}}', FailureKind.SERVER_ERROR, None),
        (b"{}", FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b'{"content":"hi"}', FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (b"<html>", FailureKind.BAD_REPLY, BadReply.HTML),
        (document(text("x" * 300_000)), FailureKind.BAD_REPLY, BadReply.TOO_LONG),
        (document(*[tool_use()] * 10_000), FailureKind.BAD_REPLY, BadReply.TOO_MANY_CALLS),
    ],
)
def test_what_is_no_reply_is_a_typed_failure(data: bytes, kind: FailureKind, bad_reply: BadReply | None) -> None:
    """Errors, refusals and documents of another kind. Spec: MND-2, BND-8. Fault: 21, 22."""
    with pytest.raises(LlmFailure) as caught:
        CODEC.decode(data, ASK)
    assert (caught.value.kind, caught.value.bad_reply) == (kind, bad_reply)


def test_a_status_is_told_by_its_number_and_words() -> None:
    """Refusals with a status go through the one table."""
    assert CODEC.refusal(529, b"", ASK).kind is FailureKind.OVERLOADED


# --- streams --------------------------------------------------------------------------------------

PING = {"type": "ping"}
NEW = {"type": "from_the_future", "index": 7}
STREAMS = [
    pytest.param(events(START, PING, *block(0, text(""), words("h"), words("i")), end(), STOP), id="as documented"),
    pytest.param(events(START, *block(0, text("hi")), end(), STOP), id="text in the start of a block"),
    pytest.param(events(START, *block(0, text(""), words("hi")), end()), id="no message_stop"),
    pytest.param(
        events(
            START,
            *block(0, {"type": "thinking"}, {"type": "thinking_delta", "thinking": "hm"}),
            *block(1, text("hi")),
            end(),
            STOP,
        ),
        id="thinking",
    ),
    pytest.param(events(START, NEW, *block(0, text("hi"), {"type": "new_delta"}), end(), STOP), id="kinds to come"),
    pytest.param(events({"type": "message_start"}, *block(0, text("hi")), end(), STOP), id="bare start"),
    pytest.param(
        events(START, {"type": "content_block_delta", "index": 0}, *block(0, text("hi")), end(), STOP), id="bare delta"
    ),
    pytest.param(
        events(START, *block(0, text("hi")), {"type": "message_delta"}, end(), end(None), STOP), id="bare end"
    ),
    pytest.param(events(START, *block(0, text("hi")), end(), STOP) + b"data: garbage\n\n", id="garbage after the end"),
    pytest.param(events(START, *block(0, text("hi")), end()).rstrip(b"\n"), id="no line end at the end"),
]


@pytest.mark.parametrize("data", STREAMS)
def test_a_stream_is_what_it_says_however_it_is_cut(data: bytes) -> None:
    """The same words come out, whole and byte by byte. Spec: MND-1, MND-2."""
    for step in (None, 1, 5):
        deltas, reply = decoded(data, step)
        assert (reply.text, reply.finish, reply.tool_calls) == ("hi", FinishReason.STOP, ())
        assert "".join(each.text for each in deltas if isinstance(each, TextDelta)) == "hi"


def test_streamed_calls_are_put_together() -> None:
    """Text before calls, arguments in pieces or at once, usage from both ends. Spec: MND-1, MND-12."""
    data = events(
        START,
        *block(0, text(""), words("I look.")),
        *block(1, tool_use("t1", "look"), partial(""), partial('{"a"'), partial(":1}")),
        *block(2, tool_use("t2", "sit", {"on": "bench"})),
        *block(3, tool_use(None, None)),
        end("tool_use"),
        STOP,
    )
    deltas, reply = decoded(data)
    assert deltas == [TextDelta("I look."), CallDelta("look"), CallDelta("sit"), CallDelta("")]
    assert reply.tool_calls[0] == ToolCall(id="t1", name="look", arguments='{"a":1}')
    assert json.loads(reply.tool_calls[1].arguments) == {"on": "bench"}
    assert reply.tool_calls[2] == ToolCall(id="call00001", name="", arguments="")
    assert reply.usage == Usage(input_tokens=10, output_tokens=5, reported=True)


@pytest.mark.parametrize(
    ("data", "kind", "bad_reply"),
    [
        (events(START, *block(0, text("hi"))), FailureKind.BAD_REPLY, BadReply.TRUNCATED),
        (events(START, *block(0, text("hi")), STOP), FailureKind.BAD_REPLY, BadReply.TRUNCATED),
        (b"", FailureKind.BAD_REPLY, BadReply.TRUNCATED),
        (events(START, end("refusal"), STOP), FailureKind.REFUSED, None),
        (events(START, {"type": "error", "error": {"type": "api_error"}}), FailureKind.SERVER_ERROR, None),
        (events(START, *block(None, text("x"))), FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (events(START, *block(0, None)), FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (events(START, *block(0, text(""), partial("{}"))), FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (
            events(
                *block(None, None)[2:],
                *block(0, tool_use())[:1],
                {"type": "content_block_delta", "delta": partial("x")},
            ),
            FailureKind.BAD_REPLY,
            BadReply.WRONG_SHAPE,
        ),
        (
            events(*[each for n in range(1_025) for each in block(n, text(""))]),
            FailureKind.BAD_REPLY,
            BadReply.TOO_LONG,
        ),
        (
            events(*[each for n in range(65) for each in block(n, tool_use())]),
            FailureKind.BAD_REPLY,
            BadReply.TOO_MANY_CALLS,
        ),
        (events(*block(0, text(""), *[words("x" * 1_000)] * 300)), FailureKind.BAD_REPLY, BadReply.TOO_LONG),
        (b"data: " + b"x" * 600_000, FailureKind.BAD_REPLY, BadReply.TOO_LONG),
    ],
)
def test_a_stream_that_is_no_reply_is_a_typed_failure(
    data: bytes, kind: FailureKind, bad_reply: BadReply | None
) -> None:
    """Ends without a reason, errors in the middle, pieces of nothing, bounds. Spec: MND-2, BND-8. Fault: 21, 22."""
    with pytest.raises(LlmFailure) as caught:
        decoded(data)
    assert (caught.value.kind, caught.value.bad_reply) == (kind, bad_reply)


def test_after_the_end_nothing_counts() -> None:
    """A decoder that is done takes no more."""
    decoder = CODEC.decoder(ASK)
    decoder.feed(events(START, *block(0, text("hi"))))
    assert not decoder.ending
    decoder.feed(events(end()))
    assert decoder.ending
    assert not decoder.complete
    decoder.feed(events(STOP))
    assert decoder.complete
    assert decoder.feed(events(*block(1, text("more")))) == ()
    assert decoder.finish().text == "hi"


# --- anything -------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    ["type", "content", "content_block", "delta", "index", "usage", "message", "error", "text", "input", "stop_reason"]
)
VALUES = st.sampled_from(
    [
        "text",
        "tool_use",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
        "error",
        "text_delta",
        "input_json_delta",
    ]
)
TREES = st.recursive(
    VALUES | st.none() | st.integers(-2, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


def reply_or_failure(work) -> None:
    """Run it; only a reply or a failure may come."""
    try:
        assert isinstance(work(), LlmReply)
    except LlmFailure:
        return


@given(st.lists(TREES, max_size=6), st.binary(max_size=100), st.integers(1, 60))
def test_anything_is_a_reply_or_a_failure(trees: list, data: bytes, step: int) -> None:
    """No bytes and no shape of JSON do anything else. Spec: MND-2. Fault: 21."""
    stream = b"".join(b"data: " + msgspec.json.encode(tree) + b"\n\n" for tree in trees)
    reply_or_failure(lambda: decoded(stream, step)[1])
    reply_or_failure(lambda: decoded(stream + data, step)[1])
    reply_or_failure(lambda: CODEC.decode(data, ASK))
    for tree in trees:
        reply_or_failure(lambda tree=tree: CODEC.decode(msgspec.json.encode(tree), ASK))
    assert isinstance(CODEC.refusal(400, data, ASK), LlmFailure)
