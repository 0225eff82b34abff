"""A scripted model answers what was written down: replies, failures, delays and breaks, one a request."""

from __future__ import annotations

import pytest
import trio

from gridagent.errors import InternalError
from gridagent.language import (
    CallDelta,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ReplyDone,
    TextDelta,
    UserTurn,
)
from gridagent.llm.scripted import After, BreakOff, Hang, ScriptedModel, call_reply

ASK = LlmRequest(turns=(UserTurn(text="hello"),), deadline_s=10.0)
OVERLOADED = LlmFailure(FailureKind.OVERLOADED)


async def test_each_request_takes_one_step(autojump_clock) -> None:
    """Texts, replies, failures and functions, in order; what was asked is kept."""
    model = ScriptedModel(["hi", LlmReply(text="yo"), OVERLOADED, lambda request: LlmReply(text=request.turns[0].text)])
    assert (await model.complete(ASK)).text == "hi"
    assert (await model.complete(ASK)).text == "yo"
    with pytest.raises(LlmFailure):
        await model.complete(ASK)
    assert (await model.complete(ASK)).text == "hello"
    assert model.steps_left == 0
    assert list(model.requests) == [ASK] * 4


async def test_one_request_too_many_is_a_bug() -> None:
    """It is not a failure that a fallback line could hide."""
    with pytest.raises(InternalError, match="script"):
        await ScriptedModel([]).complete(ASK)


async def test_the_last_step_can_go_on() -> None:
    """When a test wants it to."""
    model = ScriptedModel(["a", "b"], repeat_last=True)
    assert [(await model.complete(ASK)).text for _ in range(4)] == ["a", "b", "b", "b"]


async def test_time_passes_as_written(autojump_clock) -> None:
    """A delay within the deadline is waited for, one beyond it and silence are timeouts."""
    model = ScriptedModel([After(4.0, "late"), After(5.0, After(4.0, OVERLOADED)), After(11.0, "too late"), Hang()])
    started = trio.current_time()
    assert (await model.complete(ASK)).text == "late"
    assert trio.current_time() - started == 4.0
    kinds = []
    for _ in range(3):
        with pytest.raises(LlmFailure) as caught:
            await model.complete(ASK)
        kinds.append(caught.value.kind)
    assert kinds == [FailureKind.OVERLOADED, FailureKind.TIMEOUT, FailureKind.TIMEOUT]
    assert trio.current_time() - started == 4 + 9 + 10 + 10


async def test_a_stream_comes_word_by_word(autojump_clock) -> None:
    """Text in pieces that join to the whole, then calls, then the end."""
    reply = call_reply(("look", "{}"), text="I will look")
    model = ScriptedModel([reply, After(11.0, "late"), "", " two  blanks "])
    async with model.stream(ASK) as stream:
        assert [delta async for delta in stream] == [
            TextDelta("I"),
            TextDelta(" will"),
            TextDelta(" look"),
            CallDelta("look"),
            ReplyDone(reply),
        ]
    with pytest.raises(LlmFailure):
        async with model.stream(ASK):
            pass
    async with model.stream(ASK) as stream:
        assert [delta async for delta in stream] == [ReplyDone(LlmReply())]
    async with model.stream(ASK) as stream:
        assert "".join([delta.text async for delta in stream if isinstance(delta, TextDelta)]) == " two  blanks "


async def test_a_stream_can_break_off() -> None:
    """What was said before the break was handed on; a whole reply never comes."""
    model = ScriptedModel([BreakOff("I was go", OVERLOADED)] * 2)
    heard = []
    with pytest.raises(LlmFailure):
        async with model.stream(ASK) as stream:
            async for delta in stream:
                heard.append(delta)  # noqa: PERF401 - what came before the failure counts
    assert heard == [TextDelta("I"), TextDelta(" was"), TextDelta(" go")]
    with pytest.raises(LlmFailure):
        await model.complete(ASK)


def test_calls_are_easily_written() -> None:
    """Names and raw arguments make a reply that waits for results."""
    reply = call_reply(("look", "{}"), ("sit", "nonsense"))
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("call00001", "look", "{}"),
        ("call00002", "sit", "nonsense"),
    ]
    assert reply.finish is FinishReason.TOOL_CALLS
