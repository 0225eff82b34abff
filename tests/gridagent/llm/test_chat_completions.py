"""Chat completions as every server speaks them: one named vector a habit, and any bytes at all."""

from __future__ import annotations

import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    SystemTurn,
    TextDelta,
    ToolCall,
    ToolDescriptor,
    ToolTurn,
    Usage,
    UserTurn,
)
from gridagent.llm.chat_completions import ChatCompletions

LOOK = ToolDescriptor(name="look", description="Look around.", schema=b'{"type":"object","properties":{}}')
ASK = LlmRequest(turns=(UserTurn(text="hello"),), tools=(LOOK,))
CODEC = ChatCompletions("m")


def document(message: dict | None = None, finish: object = "stop", **rest) -> bytes:
    """A whole reply."""
    choice = {"index": 0} | ({} if message is None else {"message": message})
    choice |= {} if finish is ... else {"finish_reason": finish}
    return json.dumps({"choices": [choice]} | rest).encode()


def call(name: str = "look", arguments: object = "{}", **rest) -> dict:
    """One tool call as servers write it."""
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}} | rest


def events(*chunks: dict | str, done: bool = True) -> bytes:
    """A streamed reply."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in chunks]
    return b"".join(f"data: {line}\n\n".encode() for line in [*lines, *(["[DONE]"] if done else [])])


def delta(finish: object = None, **fields) -> dict:
    """One event of a streamed reply."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def decoded(data: bytes, step: int | None = None) -> tuple[list[LlmDelta], LlmReply]:
    """Return what a stream means, fed whole or in steps."""
    decoder = CODEC.decoder(ASK)
    size = step or len(data) or 1
    deltas = [each for at in range(0, len(data), size) for each in decoder.feed(data[at : at + size])]
    return deltas, decoder.finish()


def refusal_of(data: bytes, *, streaming: bool = False) -> LlmFailure:
    """Return why a body is no reply."""
    with pytest.raises(LlmFailure) as caught:
        decoded(data) if streaming else CODEC.decode(data, ASK)
    return caught.value


# --- encoding -------------------------------------------------------------------------------------


def test_a_request_is_what_the_api_takes() -> None:
    """Every kind of turn, tools with their schema as it is, and the bounds. Spec: MND-1."""
    turns = (
        SystemTurn(text="Be kind."),
        UserTurn(text="look"),
        AssistantTurn(tool_calls=(ToolCall(id="c1", name="look", arguments='{"a":1}'),)),
        ToolTurn(call_id="c1", name="look", text="a bench"),
        AssistantTurn(text="A bench."),
    )
    request = LlmRequest(turns=turns, tools=(LOOK,), require_tool=True, temperature=0.5, max_reply_tokens=99)
    assert json.loads(CODEC.encode(request, streaming=True)) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}],
            },
            {"role": "tool", "content": "a bench", "tool_call_id": "c1"},
            {"role": "assistant", "content": "A bench."},
        ],
        "max_tokens": 99,
        "temperature": 0.5,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Look around.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "tool_choice": "required",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_is_not_asked_for_is_not_sent() -> None:
    """Servers that refuse what they do not know are given nothing to refuse."""
    sent = json.loads(CODEC.encode(LlmRequest(turns=(UserTurn(text="x"),)), streaming=False))
    assert sent.keys() == {"model", "messages", "max_tokens"}


def test_openai_itself_has_its_own_word_for_the_bound() -> None:
    """Its newer models refuse the old word, and nobody else knows the new one."""
    sent = json.loads(ChatCompletions("m", openai=True).encode(ASK, streaming=False))
    assert sent["max_completion_tokens"] == 1_024
    assert "max_tokens" not in sent


def test_misspelt_calls_of_the_past_do_not_spoil_a_request() -> None:
    """Arguments that are no object and names with strange letters go out tame."""
    bad = AssistantTurn(tool_calls=(ToolCall(id="1", name="bad name!", arguments='{"a'),))
    sent = json.loads(CODEC.encode(LlmRequest(turns=(bad, ToolTurn(call_id="1", name="", text=""))), streaming=False))
    assert sent["messages"][0]["tool_calls"][0]["function"] == {"name": "bad_name_", "arguments": "{}"}


def test_a_request_over_its_bytes_is_refused() -> None:
    """The encoded body counts. Spec: BND-17."""
    with pytest.raises(LlmFailure) as caught:
        CODEC.encode(LlmRequest(turns=(UserTurn(text='"' * 60),), max_request_bytes=150), streaming=False)
    assert caught.value.kind is FailureKind.TOO_LARGE


# --- habits of servers: whole replies ---------------------------------------------------------------

TEXT = [
    pytest.param(document({"content": "hi"}), id="openai"),
    pytest.param(document({"role": "assistant", "content": "hi"}, ...), id="no finish_reason"),
    pytest.param(document({"content": "hi"}, ""), id="ollama: empty finish_reason"),
    pytest.param(document({"content": "hi"}, None), id="null finish_reason"),
    pytest.param(document({"content": "hi"}, "eos"), id="llama.cpp: finish_reason of its own"),
    pytest.param(document({"content": "hi"}, "tool_calls"), id="tool_calls promised, none there"),
    pytest.param(document({"content": "hi", "tool_calls": None}), id="lm studio: null tool_calls"),
    pytest.param(document({"content": "hi", "tool_calls": []}), id="vllm: empty tool_calls"),
    pytest.param(document({"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]}), id="parts"),
    pytest.param(document({"content": "hi", "reasoning_content": "hm"}), id="vllm, llama.cpp: reasoning_content"),
    pytest.param(document({"content": "hi", "reasoning": "hm", "reasoning_details": [{}]}), id="openrouter: reasoning"),
    pytest.param(document({"content": "<think>hm</think>\n\nhi"}), id="lm studio: thinking in the text"),
    pytest.param(document({"content": "hi", "refusal": None}, logprobs=None, usage=None), id="nulls"),
    pytest.param(document({"content": "hi"}, object="chat.completion", error=None, created=1.5, id=7), id="odd extras"),
    pytest.param(b'{"choices":[{"delta":{"content":"hi"}}]}', id="delta where a message belongs"),
]


@pytest.mark.parametrize("data", TEXT)
def test_text_is_text_whatever_stands_around_it(data: bytes) -> None:
    """The same words come out of every server's way of writing them. Spec: MND-1, MND-2."""
    reply = CODEC.decode(data, ASK)
    assert (reply.text, reply.tool_calls, reply.finish) == ("hi", (), FinishReason.STOP)


CALLS = [
    pytest.param(document({"content": None, "tool_calls": [call()]}, "tool_calls"), id="openai: null content"),
    pytest.param(document({"tool_calls": [call()]}, "tool_calls"), id="no content"),
    pytest.param(document({"content": "", "tool_calls": [call()]}, "stop"), id="ollama: stop beside calls"),
    pytest.param(document({"content": "", "tool_calls": [call()]}, ...), id="no finish_reason"),
    pytest.param(document({"content": "", "tool_calls": [call()]}, "tool_call"), id="mlx: tool_call"),
    pytest.param(document({"content": "", "tool_calls": [call(arguments={})]}), id="ollama: arguments as an object"),
    pytest.param(document({"content": "", "tool_calls": [call(index=0)]}), id="index in a whole reply"),
    pytest.param(document({"content": "", "tool_calls": [call(type=None)]}), id="null type"),
]


@pytest.mark.parametrize("data", CALLS)
def test_a_call_is_a_call_whatever_stands_around_it(data: bytes) -> None:
    """The same call comes out of every server's way of writing it. Spec: MND-1, MND-2."""
    reply = CODEC.decode(data, ASK)
    assert (reply.text, reply.finish) == ("", FinishReason.TOOL_CALLS)
    assert reply.tool_calls == (ToolCall(id="c1", name="look", arguments="{}"),)


@pytest.mark.parametrize(
    ("given_call", "expected"),
    [
        (call(id=""), ToolCall(id="call00001", name="look", arguments="{}")),
        (call(id=None), ToolCall(id="call00001", name="look", arguments="{}")),
        (call(id=17), ToolCall(id="17", name="look", arguments="{}")),
        (call(arguments=None), ToolCall(id="c1", name="look", arguments="")),
        (call(arguments=""), ToolCall(id="c1", name="look", arguments="")),
        (call(arguments='{"a'), ToolCall(id="c1", name="look", arguments='{"a')),
        (call(arguments=[1]), ToolCall(id="c1", name="look", arguments="[1]")),
        (call(name=None), ToolCall(id="c1", name="", arguments="{}")),
        ({"id": "c1"}, ToolCall(id="c1", name="", arguments="")),
        ({"id": "c1", "function": None}, ToolCall(id="c1", name="", arguments="")),
    ],
)
def test_odd_calls_are_kept_for_the_pipeline(given_call: dict, expected: ToolCall) -> None:
    """What a model wrote comes through as it is: refusing it needs a result, and so a call. Spec: MND-7. Fault: 25."""
    assert CODEC.decode(document({"content": "", "tool_calls": [given_call]}), ASK).tool_calls == (expected,)


def test_double_keys_reach_the_pipeline() -> None:
    """An object's text is handed on unread, so that who checks it sees what the model wrote. Fault: 23."""
    body = (
        b'{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"pay","arguments":{"amt":1,"amt":9}}}]}}]}'
    )
    assert CODEC.decode(body, ASK).tool_calls[0].arguments == '{"amt":1,"amt":9}'


@pytest.mark.parametrize("finish", ["length", "max_tokens", "model_length"])
def test_being_cut_off_is_told(finish: str) -> None:
    """Each server's word for it is the one finish reason."""
    assert CODEC.decode(document({"content": "hi"}, finish), ASK).finish is FinishReason.LENGTH


@pytest.mark.parametrize(
    ("data", "kind", "bad_reply"),
    [
        (document({"content": "x"}, "content_filter"), FailureKind.REFUSED, None),
        (document({"content": None, "refusal": "I won't"}), FailureKind.REFUSED, None),
        (document({"content": "x"}, "error"), FailureKind.SERVER_ERROR, None),
        (document({"content": "x"}, error={"code": 429}), FailureKind.RATE_LIMITED, None),
        (b'{"error":"model not loaded"}', FailureKind.SERVER_ERROR, None),
        (b'{"error":{"type":"overloaded_error"}}', FailureKind.OVERLOADED, None),
        (b'{"choices":[{"error":{"code":502}}],"error":{"code":401}}', FailureKind.AUTH, None),
        (b'{"choices":[]}', FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b'{"choices":null}', FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b'{"choices":[{}]}', FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b'{"choices":[{"message":null}]}', FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b"{}", FailureKind.BAD_REPLY, BadReply.EMPTY),
        (b'{"choices":{}}', FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (b'{"choices":[{"message":{"content":7}}]}', FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE),
        (b"<html>", FailureKind.BAD_REPLY, BadReply.HTML),
        (document({"content": "x" * 300_000}), FailureKind.BAD_REPLY, BadReply.TOO_LONG),
        (document({"tool_calls": [call()] * 65}), FailureKind.BAD_REPLY, BadReply.TOO_MANY_CALLS),
        (document({"tool_calls": [call()] * 10_000}), FailureKind.BAD_REPLY, BadReply.TOO_MANY_CALLS),
        (document({"tool_calls": [call(arguments="\ud800")]}), FailureKind.BAD_REPLY, BadReply.NOT_JSON),
    ],
)
def test_what_is_no_reply_is_a_typed_failure(data: bytes, kind: FailureKind, bad_reply: BadReply | None) -> None:
    """Errors in a 200, refusals and documents of another kind. Spec: MND-2, BND-8. Fault: 21, 22."""
    failure = refusal_of(data)
    assert (failure.kind, failure.bad_reply) == (kind, bad_reply)


def test_a_refusal_beside_words_is_words() -> None:
    """A server that fills the field beside an answer has answered."""
    assert CODEC.decode(document({"content": "hi", "refusal": "no"}), ASK).text == "hi"


# --- habits of servers: streams -----------------------------------------------------------------------

STREAMS = [
    pytest.param(
        events(delta(role="assistant", content=""), delta(content="h"), delta(content="i"), delta("stop")), id="openai"
    ),
    pytest.param(events(delta(content="h"), delta("", content="i"), delta("stop")), id="ollama: empty finish_reason"),
    pytest.param(events(delta(content="h"), delta("", content="i")), id="[DONE] without a finish_reason"),
    pytest.param(events(delta(content="h"), delta("stop", content="i"), done=False), id="finish_reason without [DONE]"),
    pytest.param(
        events(delta("stop", reasoning_content="hm"), delta(content="hi"), delta("stop")), id="stop after reasoning"
    ),
    pytest.param(events(delta(reasoning="hm", content=""), delta(content="hi"), delta("stop")), id="ollama: reasoning"),
    pytest.param(
        events(delta(content="<think>"), delta(content="hm</think>hi"), delta("stop")), id="thinking in the text"
    ),
    pytest.param(
        b": OPENROUTER PROCESSING\n\n" + events(delta(content="hi"), delta("stop")), id="openrouter: comments"
    ),
    pytest.param(events(delta(content=None), delta(content="hi"), delta("stop", content=None)), id="null content"),
    pytest.param(events({"choices": []}, delta(content="hi"), delta("stop"), {"choices": []}), id="azure: no choices"),
    pytest.param(events(delta(content="hi"), delta("stop"), {"usage": None}), id="no choices at all"),
    pytest.param(
        events(delta(content="hi", tool_calls=None), delta("stop", tool_calls=[])), id="vllm: empty tool_calls"
    ),
    pytest.param(events(delta(content="hi"), {"choices": [{"finish_reason": "stop"}]}), id="no delta at the end"),
    pytest.param(
        events({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}), id="message for delta"
    ),
    pytest.param(events(delta("stop", content="hi")).rstrip(b"\n"), id="no line end after [DONE]"),
    pytest.param(events(delta("stop", content="hi")).replace(b"\n", b"\r\n"), id="windows line ends"),
    pytest.param(events(delta("stop", content="hi")) + b"data: garbage\n\n", id="garbage after [DONE]"),
]


@pytest.mark.parametrize("data", STREAMS)
def test_a_stream_is_what_it_says_however_it_is_cut(data: bytes) -> None:
    """The same words come out of every server's stream, whole and byte by byte. Spec: MND-1, MND-2."""
    for step in (None, 1, 5):
        deltas, reply = decoded(data, step)
        assert (reply.text, reply.finish, reply.tool_calls) == ("hi", FinishReason.STOP, ())
        shown = "".join(each.text for each in deltas if isinstance(each, TextDelta))
        assert "hi".startswith(shown)


def piece(index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: object = None) -> dict:
    """A piece of a call in a stream."""
    function = {} if name is None else {"name": name}
    function |= {} if arguments is None else {"arguments": arguments}
    return delta(
        tool_calls=[
            {"function": function}
            | ({} if index is None else {"index": index})
            | ({} if call_id is None else {"id": call_id})
        ]
    )


TWO = (ToolCall(id="a", name="look", arguments='{"x":1}'), ToolCall(id="b", name="sit", arguments="{}"))
CALL_STREAMS = [
    pytest.param(
        [piece(0, "a", "look", ""), piece(0, arguments='{"x"'), piece(0, arguments=":1}"), piece(1, "b", "sit", "{}")],
        TWO,
        id="openai",
    ),
    pytest.param(
        [piece(0, "a", "look"), piece(1, "b", "sit"), piece(0, arguments='{"x":1}'), piece(1, arguments="{}")],
        TWO,
        id="interleaved",
    ),
    pytest.param([piece(0, "a", "look", '{"x":1}'), piece(0, "b", "sit", "{}")], TWO, id="gemini: every index 0"),
    pytest.param([piece(None, "a", "look", '{"x":1}'), piece(None, "b", "sit", "{}")], TWO, id="no index"),
    pytest.param(
        [piece(None, "a", "look", '{"x"'), piece(None, arguments=":1}"), piece(None, "b", "sit", "{}")],
        TWO,
        id="no index, in pieces",
    ),
    pytest.param(
        [piece(0, "a", "look", {"x": 1}), piece(1, "b", "sit", {})], None, id="ollama: arguments as an object"
    ),
    pytest.param(
        [piece(0, "a", "look", '{"x":1}'), piece(0, "a", "look", ""), piece(1, "b", "sit", "{}")],
        TWO,
        id="id and name again",
    ),
    pytest.param(
        [piece(0, None, "look", '{"x":1}'), piece(0, "a"), piece(7, "b", "sit", "{}")],
        TWO,
        id="id late, index with gaps",
    ),
]


@pytest.mark.parametrize(("chunks", "expected"), CALL_STREAMS)
def test_streamed_calls_are_put_together(chunks: list[dict], expected: tuple[ToolCall, ...] | None) -> None:
    """Pieces find their call, however a server numbers them. Spec: MND-1."""
    deltas, reply = decoded(events(*chunks, delta("tool_calls")))
    assert reply.finish is FinishReason.TOOL_CALLS
    assert [each.name for each in deltas if isinstance(each, CallDelta)] == ["look", "sit"]
    if expected is None:
        assert [json.loads(each.arguments) for each in reply.tool_calls] == [{"x": 1}, {}]
    else:
        assert reply.tool_calls == expected


def test_a_piece_of_no_call_begins_one() -> None:
    """Arguments without a call before them are a call without a name: the pipeline refuses it, with a result."""
    _, reply = decoded(events(piece(None, arguments="{}"), delta("stop")))
    assert reply.tool_calls == (ToolCall(id="call00001", name="", arguments="{}"),)


@pytest.mark.parametrize(
    ("data", "kind", "bad_reply"),
    [
        (events(delta(content="hi"), done=False), FailureKind.BAD_REPLY, BadReply.TRUNCATED),
        (b"", FailureKind.BAD_REPLY, BadReply.TRUNCATED),
        (events(), FailureKind.BAD_REPLY, BadReply.EMPTY),
        (events(delta(content="hi"), "{", done=False), FailureKind.BAD_REPLY, BadReply.NOT_JSON),
        (events(delta(content="hi"), done=False) + b'data: {"choices', FailureKind.BAD_REPLY, BadReply.NOT_JSON),
        (events(delta("content_filter", content="x")), FailureKind.REFUSED, None),
        (events(delta("stop", refusal="no")), FailureKind.REFUSED, None),
        (events(delta(content="x"), {"error": {"code": 503, "message": "x"}}), FailureKind.OVERLOADED, None),
        (events(delta("error", content="x")), FailureKind.SERVER_ERROR, None),
        (events(*[delta(content="x" * 1_000)] * 300), FailureKind.BAD_REPLY, BadReply.TOO_LONG),
        (events(*[piece(n, str(n), "look", "{}") for n in range(65)]), FailureKind.BAD_REPLY, BadReply.TOO_MANY_CALLS),
        (b"data: " + b"x" * 600_000, FailureKind.BAD_REPLY, BadReply.TOO_LONG),
    ],
)
def test_a_stream_that_is_no_reply_is_a_typed_failure(
    data: bytes, kind: FailureKind, bad_reply: BadReply | None
) -> None:
    """A clean end is no end, and a bound is reached while it streams. Spec: MND-2, BND-8, BND-17. Fault: 21, 22."""
    failure = refusal_of(data, streaming=True)
    assert failure.kind is kind
    assert failure.bad_reply is bad_reply or (
        bad_reply is BadReply.NOT_JSON and failure.bad_reply is BadReply.TRUNCATED
    )


def test_after_the_end_nothing_counts() -> None:
    """A decoder that is done takes no more."""
    decoder = CODEC.decoder(ASK)
    decoder.feed(events(delta("stop", content="hi")))
    assert decoder.complete
    assert decoder.feed(events(delta(content="more"))) == ()
    assert decoder.finish().text == "hi"


# --- usage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "expected", "cost"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(input_tokens=5, output_tokens=2, reported=True), None),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
                "cost": 0.0000015,
            },
            Usage(input_tokens=5, cached_tokens=4, output_tokens=2, reported=True),
            2,
        ),
        (
            {"prompt_tokens": 5.0, "completion_tokens": 2.0, "prompt_tokens_details": {"cached_tokens": 9}, "cost": -1},
            Usage(input_tokens=5, cached_tokens=5, output_tokens=2, reported=True),
            None,
        ),
    ],
)
def test_usage_is_taken_where_it_makes_sense(usage: dict, expected: Usage, cost: int | None) -> None:
    """Cached tokens and a provider's own price are kept, rounded up; whole and streamed alike. Spec: MND-12."""
    reply = CODEC.decode(document({"content": "hi"}, usage=usage), ASK)
    assert (reply.usage, reply.cost_micros) == (expected, cost)
    _, reply = decoded(events(delta("stop", content="hi"), {"choices": [], "usage": usage}))
    assert (reply.usage, reply.cost_micros) == (expected, cost)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "much",
        {},
        {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": 1},
        {"prompt_tokens": 10**30, "completion_tokens": 1},
    ],
)
def test_usage_that_makes_no_sense_costs_no_reply_its_life(usage: object) -> None:
    """The reply is good; its tokens are estimated."""
    reply = CODEC.decode(document({"content": "hi"}, usage=usage), ASK)
    assert not reply.usage.reported
    assert reply.usage.output_tokens >= 1


# --- anything ---------------------------------------------------------------------------------------

SCRAPS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"choices"',
    b":",
    b",",
    b'"delta"',
    b'"content"',
    b'"x"',
    b"null",
    b"data: ",
    b"\n",
    b"7",
    b'"tool_calls"',
    b'"function"',
    b'"arguments"',
    b"[DONE]",
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False)
)
KEYS = st.sampled_from(
    [
        "choices",
        "message",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
        "finish_reason",
        "usage",
        "error",
        "prompt_tokens",
    ]
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


def reply_or_failure(work) -> None:
    """Run it; only a reply or a failure may come."""
    try:
        assert isinstance(work(), LlmReply)
    except LlmFailure:
        return


@given(st.binary(max_size=200) | st.lists(st.sampled_from(SCRAPS), max_size=30).map(b"".join), st.integers(1, 50))
def test_any_bytes_are_a_reply_or_a_failure(data: bytes, step: int) -> None:
    """No bytes, whole or streamed in any pieces, do anything else. Spec: MND-2. Fault: 21."""
    reply_or_failure(lambda: CODEC.decode(data, ASK))
    reply_or_failure(lambda: decoded(data, step)[1])
    assert isinstance(CODEC.refusal(500, data, ASK), LlmFailure)


@given(TREES, st.integers(1, 50))
def test_any_json_is_a_reply_or_a_failure(tree: object, step: int) -> None:
    """No shape of JSON, in the right words at the wrong places, does anything else. Spec: MND-2."""
    data = msgspec.json.encode(tree)
    reply_or_failure(lambda: CODEC.decode(data, ASK))
    reply_or_failure(lambda: decoded(b"data: " + data + b"\n\ndata: [DONE]\n\n", step)[1])
    wrapped = msgspec.json.encode({"choices": [{"message": tree, "delta": tree, "finish_reason": "stop"}]})
    reply_or_failure(lambda: CODEC.decode(wrapped, ASK))
    reply_or_failure(lambda: decoded(b"data: " + wrapped + b"\n\ndata: [DONE]\n\n", step)[1])
    assert issubclass(LlmFailure, Exception)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chunk",
    [
        events(delta(content="x" * 10_000), done=False),
        events(piece(0, "a", "look", "x" * 10_000), done=False),
        events(delta(reasoning_content="x" * 10_000), done=False),
        (b"data: {" + b"x" * 100 + b"\n") * 200,
        (b": " + b"c" * 100 + b"\n") * 200,
    ],
)
def test_a_hostile_stream_takes_bounded_memory(chunk: bytes) -> None:
    """8 MiB of anything, which is what the transport lets through, keep within 3 MiB. Spec: BND-7. Fault: 21."""
    decoder = CODEC.decoder(ASK)
    tracemalloc.start()
    for _ in range(8 * 1024 * 1024 // len(chunk)):
        try:
            decoder.feed(chunk)
        except LlmFailure:
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * 1024 * 1024
