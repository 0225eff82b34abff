"""Each status and each server's words give one kind of failure, and none of the words come through."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import BadReply, FailureKind, LlmFailure
from gridagent.llm.provider_errors import failure_if_empty, failure_of_error, failure_of_status

KIND = FailureKind


@pytest.mark.parametrize(
    ("status", "kind", "bad_reply"),
    [
        (101, KIND.BAD_REPLY, BadReply.STATUS),
        (204, KIND.BAD_REPLY, BadReply.STATUS),
        (301, KIND.BAD_REPLY, BadReply.REDIRECT),
        (307, KIND.BAD_REPLY, BadReply.REDIRECT),
        (400, KIND.REJECTED, None),
        (401, KIND.AUTH, None),
        (402, KIND.NO_CREDIT, None),
        (403, KIND.AUTH, None),
        (404, KIND.REJECTED, None),
        (408, KIND.TIMEOUT, None),
        (413, KIND.TOO_LARGE, None),
        (418, KIND.REJECTED, None),
        (422, KIND.REJECTED, None),
        (429, KIND.RATE_LIMITED, None),
        (499, KIND.CANCELLED, None),
        (500, KIND.SERVER_ERROR, None),
        (502, KIND.SERVER_ERROR, None),
        (503, KIND.OVERLOADED, None),
        (504, KIND.TIMEOUT, None),
        (529, KIND.OVERLOADED, None),
        (599, KIND.SERVER_ERROR, None),
        (600, KIND.BAD_REPLY, BadReply.STATUS),
    ],
)
def test_a_status_alone_says_enough(status: int, kind: FailureKind, bad_reply: BadReply | None) -> None:
    """The table from statuses to kinds. Spec: MND-2."""
    failure = failure_of_status(status, b"", had_tools=True, retry_after_s=3.0)
    assert (failure.kind, failure.bad_reply, failure.status) == (kind, bad_reply, status)
    assert failure.retry_after_s == (None if bad_reply else 3.0)


WORDS = [
    pytest.param(429, "You exceeded your current quota, insufficient_quota", KIND.NO_CREDIT, id="openai: quota"),
    pytest.param(
        429, "Rate limit reached. Add a payment method at /account/billing", KIND.RATE_LIMITED, id="openai: rate"
    ),
    pytest.param(400, "Your credit balance is too low to access the API", KIND.NO_CREDIT, id="anthropic: credit"),
    pytest.param(400, "This model's maximum context length is 4096 tokens", KIND.TOO_LARGE, id="openai: context"),
    pytest.param(400, "prompt is too long: 210000 tokens > 200000", KIND.TOO_LARGE, id="anthropic: context"),
    pytest.param(500, "the request exceeds the available context size", KIND.TOO_LARGE, id="llama.cpp: context"),
    pytest.param(400, '{"type":"exceed_context_size_error"}', KIND.TOO_LARGE, id="llama.cpp: context error"),
    pytest.param(
        400, "registry.ollama.ai/library/gemma:2b does not support tools", KIND.TOOLS_UNSUPPORTED, id="ollama"
    ),
    pytest.param(500, "tools param requires --jinja flag", KIND.TOOLS_UNSUPPORTED, id="llama.cpp: jinja"),
    pytest.param(
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        KIND.TOOLS_UNSUPPORTED,
        id="vllm",
    ),
    pytest.param(404, "No endpoints found that support tool use", KIND.TOOLS_UNSUPPORTED, id="openrouter"),
    pytest.param(400, "The response was filtered: content_filter", KIND.REFUSED, id="azure: filter"),
    pytest.param(403, "requires moderation and your input was flagged", KIND.REFUSED, id="openrouter: moderation"),
    pytest.param(404, 'model "nothing" not found, try pulling it first', KIND.REJECTED, id="ollama: no such model"),
    pytest.param(
        503,
        '{"error":{"message":"Loading model","type":"unavailable_error"}}',
        KIND.OVERLOADED,
        id="llama.cpp: loading",
    ),
]


@pytest.mark.parametrize(("status", "words", "kind"), WORDS)
def test_words_tell_more_than_a_status(status: int, words: str, kind: FailureKind) -> None:
    """What each server says when it means something that no status means. Spec: MND-2, MND-3."""
    failure = failure_of_status(status, words.encode(), had_tools=True)
    assert failure.kind is kind
    assert words not in str(failure)


def test_tools_are_only_to_blame_where_there_were_some() -> None:
    """The same words about a request without tools mean something else."""
    assert failure_of_status(400, b"does not support tools", had_tools=False).kind is KIND.REJECTED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error"}, KIND.OVERLOADED),
        ({"type": "rate_limit_error"}, KIND.RATE_LIMITED),
        ({"code": "insufficient_quota", "type": "whatever"}, KIND.NO_CREDIT),
        ({"code": 429}, KIND.RATE_LIMITED),
        ({"code": "402"}, KIND.NO_CREDIT),
        ({"code": 502.0, "message": "x"}, KIND.SERVER_ERROR),
        ({"status": 503}, KIND.OVERLOADED),
        ({"code": 200}, KIND.SERVER_ERROR),
        ({"code": 1e300}, KIND.SERVER_ERROR),
        ({"code": "something else"}, KIND.SERVER_ERROR),
        ({"type": "invalid_request_error", "message": "does not support tools"}, KIND.TOOLS_UNSUPPORTED),
        ({"code": {"deep": 1}}, KIND.SERVER_ERROR),
        ("model is loading", KIND.SERVER_ERROR),
        ("maximum context length", KIND.TOO_LARGE),
        ([], KIND.SERVER_ERROR),
    ],
)
def test_an_error_object_is_read_whatever_its_shape(error: object, kind: FailureKind) -> None:
    """By its name, its number, or its words. Spec: MND-2."""
    assert failure_of_error(msgspec.Raw(json.dumps(error).encode()), had_tools=True).kind is kind


def test_nothing_is_empty_and_an_error_is_not() -> None:
    """A reply without an answer is empty unless it says why."""
    assert failure_if_empty(msgspec.Raw(b""), had_tools=False).bad_reply is BadReply.EMPTY
    assert failure_if_empty(msgspec.Raw(b"null"), had_tools=False).bad_reply is BadReply.EMPTY
    assert failure_if_empty(msgspec.Raw(b'{"code":401}'), had_tools=False).kind is KIND.AUTH


@given(st.integers(-1, 10_000), st.binary(max_size=100), st.booleans())
def test_anything_is_one_failure(status: int, body: bytes, had_tools) -> None:
    """Every status with every body, and every error object. Spec: MND-3."""
    assert isinstance(failure_of_status(status, body, had_tools=had_tools), LlmFailure)
    assert isinstance(failure_of_error(msgspec.Raw(body), had_tools=had_tools), LlmFailure)
