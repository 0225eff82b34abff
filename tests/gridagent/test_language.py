"""The words of the model port hold their bounds, and a failure says nothing that a provider said."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.errors import LimitExceeded
from gridagent.language import (
    AssistantTurn,
    BadReply,
    CacheUse,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ModelTurn,
    SystemTurn,
    ToolCall,
    ToolDescriptor,
    ToolTurn,
    UserTurn,
    pairing_problem,
)
from gridagent.limits import MESSAGES_PER_REQUEST_MAX, MODEL_REPLY_MAX_BYTES, TOOL_CALLS_PER_REPLY_MAX, TOOLS_MAX

HELLO = UserTurn(text="hello")


def _call(call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name="look", arguments="{}")


def _result(call_id: str) -> ToolTurn:
    return ToolTurn(call_id=call_id, name="look", text="nobody")


@pytest.mark.parametrize(
    "fields",
    [
        {"turns": ()},
        {"turns": (HELLO,) * (MESSAGES_PER_REQUEST_MAX + 1)},
        {"tools": (ToolDescriptor(name="x", description="", schema=b"{}"),) * (TOOLS_MAX + 1)},
        {"max_request_bytes": 0},
        {"max_request_bytes": 2**40},
        {"max_reply_bytes": MODEL_REPLY_MAX_BYTES + 1},
        {"max_reply_tokens": 0},
        {"deadline_s": 0.0},
        {"deadline_s": float("nan")},
        {"deadline_s": 1e9},
    ],
)
def test_a_request_over_a_ceiling_cannot_be_built(fields: dict) -> None:
    """Turns, tools, bytes, tokens and seconds hold on construction, not only on decoding. Spec: BND-8, BND-17."""
    assert LlmRequest(turns=(HELLO,)).cache is CacheUse.DEFAULT
    with pytest.raises(LimitExceeded):
        LlmRequest(**{"turns": (HELLO,), **fields})


def test_a_reply_over_a_ceiling_cannot_be_built() -> None:
    """Text counts in bytes, calls in number. Spec: BND-8, BND-17."""
    with pytest.raises(LimitExceeded):
        LlmReply(text="é" * (MODEL_REPLY_MAX_BYTES // 2 + 1))
    with pytest.raises(LimitExceeded):
        LlmReply(tool_calls=tuple(_call(str(n)) for n in range(TOOL_CALLS_PER_REPLY_MAX + 1)))


def test_turns_survive_being_stored() -> None:
    """Every kind of turn comes back from its encoding as it was."""
    turns = (SystemTurn(text="s"), HELLO, AssistantTurn(text="a", tool_calls=(_call("1"),)), _result("1"))
    kept = msgspec.json.encode(turns)
    assert msgspec.json.decode(kept, type=tuple[ModelTurn, ...]) == turns


def test_a_reply_becomes_the_turn_that_is_kept() -> None:
    """Text and calls go on; how it ended and what it took do not."""
    reply = LlmReply(text="hi", tool_calls=(_call("1"),), finish=FinishReason.TOOL_CALLS)
    assert reply.as_turn() == AssistantTurn(text="hi", tool_calls=(_call("1"),))


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ((HELLO, AssistantTurn(tool_calls=(_call("1"), _call("2"))), _result("1"), _result("2"), HELLO), None),
        ((HELLO, AssistantTurn(text="hi")), None),
        ((AssistantTurn(tool_calls=(_call("1"),)),), "not answered"),
        ((AssistantTurn(tool_calls=(_call("1"),)), HELLO), "before 1 calls"),
        ((AssistantTurn(tool_calls=(_call("1"), _call("2"))), _result("2"), _result("1")), "not the next one open"),
        ((_result("1"),), "not the next one open"),
        ((AssistantTurn(tool_calls=(_call("1"),)), _result("1"), _result("1")), "not the next one open"),
        ((AssistantTurn(tool_calls=(_call("1"), _call("1"))), _result("1"), _result("1")), "id again"),
    ],
)
def test_each_call_has_its_one_result(turns: tuple[ModelTurn, ...], problem: str | None) -> None:
    """A missing, early, late, double or foreign result is named before a provider refuses it. Spec: MND-4, MND-7."""
    found = pairing_problem(turns)
    assert found is None if problem is None else problem in str(found)


@pytest.mark.parametrize("kind", FailureKind)
def test_every_failure_speaks_in_fixed_words(kind: FailureKind) -> None:
    """A failure's sentence is ours, with numbers at most. Spec: MND-3."""
    failure = LlmFailure(kind, bad_reply=BadReply.HTML, status=503)
    assert str(failure).endswith("(html, HTTP 503)")
    assert str(LlmFailure(kind)).startswith("the ")
    assert failure.code == "llm_failed"


def test_only_what_a_second_try_can_cure_is_tried_again() -> None:
    """Overload, silence and broken transport are; refusals, our own faults and hostile replies are not. Spec: MND-2."""
    assert {kind for kind in FailureKind if LlmFailure(kind).retryable} == {
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.UNREACHABLE,
    }
    assert {bad for bad in BadReply if LlmFailure(FailureKind.BAD_REPLY, bad_reply=bad).retryable} == {
        BadReply.NOT_JSON,
        BadReply.HTML,
        BadReply.TRUNCATED,
        BadReply.EMPTY,
        BadReply.PROTOCOL,
    }
