"""A client against a real HTTP server on loopback: what comes back, what is tried again, what never comes through."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from gridagent.config.secrets import SecretStr, derived_forms
from gridagent.errors import LocalProtocolError
from gridagent.language import (
    AssistantTurn,
    BadReply,
    CacheUse,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmRequest,
    ReplyDone,
    TextDelta,
    ToolCall,
    ToolDescriptor,
    UserTurn,
)
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.prices import Prices
from gridagent.llm.retry import RetryPolicy
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport, TransportTimeouts
from gridagent.observability import Redactor, open_log
from gridagent.runtime.cancel_points import CancelPoint
from tests.gridagent.llm.llm_server import CANARY, KEY, LlmServer, always, answer, chunk, serve

ASK = LlmRequest(turns=(UserTurn(text="hello"),), deadline_s=20.0)
NO_RETRY = RetryPolicy(retries_max=0)


@asynccontextmanager
async def client_of(server: LlmServer, *, slots: int = 4, lines: list[str] | None = None, **kwargs) -> AsyncIterator:
    """Open a client of a test's server, with a key and a log; nothing may be left when it closes."""
    log = None
    if lines is not None:
        log = open_log(lines.append, Redactor(derived_forms(KEY)), clock=lambda: 0.0)
    transport = HttpTransport(
        server.url,
        headers={"Authorization": SecretStr(f"Bearer {KEY}")},
        timeouts=TransportTimeouts(connect_s=5.0, read_s=5.0, write_s=5.0),
        concurrency_max=slots,
        log=log,
    )
    client = LlmClient(transport, ChatCompletions("m"), slots=Slots(slots), rng=random.Random(1), log=log, **kwargs)
    try:
        yield client
        assert client.statistics().slots.used == 0
        assert transport.in_use == 0
    finally:
        await client.aclose()
    assert transport.connections == 0


async def failure_of(client: LlmClient, request: LlmRequest = ASK, *, streaming: bool = False) -> LlmFailure:
    """Return how a request failed."""
    with pytest.raises(LlmFailure) as caught:
        if streaming:
            async with client.stream(request) as stream:
                async for _ in stream:
                    pass
        else:
            await client.complete(request)
    return caught.value


@pytest.fixture
def patient_clock(autojump_clock):
    """Virtual time that gives real sockets a moment before it jumps."""
    autojump_clock.autojump_threshold = 0.02
    return autojump_clock


# --- good replies ---------------------------------------------------------------------------------


async def test_a_whole_reply_comes_back() -> None:
    """Text, reason, usage and cost arrive; the key goes out and nothing ambient. Spec: MND-1, MND-12."""
    prices = Prices(input_micros=3_000_000, output_micros=15_000_000)
    async with serve(always(answer("Hi there"))) as server, client_of(server, prices=prices) as client:
        reply = await client.complete(ASK)
        assert (reply.text, reply.finish, reply.usage.input_tokens, reply.usage.output_tokens) == (
            "Hi there",
            FinishReason.STOP,
            9,
            3,
        )
        assert reply.cost_micros == 9 * 3 + 3 * 15
        (seen,) = server.seen
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        assert seen.headers["accept-encoding"] == "identity"
        assert seen.target == "/v1/chat/completions"
        assert "cache-control" not in seen.headers
        assert seen.json["messages"] == [{"role": "user", "content": "hello"}]
        statistics = client.statistics()
        assert (statistics.requests, statistics.tries, statistics.replies, statistics.failures) == (1, 1, 1, {})


async def test_a_connection_is_used_again() -> None:
    """Requests one after another share one connection, streamed ones too."""

    async def script(exchange) -> None:
        if exchange.seen.json.get("stream"):
            await exchange.events(chunk("Hi"), chunk(finish="stop"), "[DONE]")
        else:
            await exchange.reply(answer())

    async with serve(script) as server, client_of(server) as client:
        for _ in range(3):
            await client.complete(ASK)
            async with client.stream(ASK) as stream:
                assert [delta async for delta in stream]
        assert server.connections == 1


async def test_asking_again_bypasses_caches() -> None:
    """A request that must not be answered from a cache says so on the way. Spec: MND-9."""
    async with serve(always(answer())) as server, client_of(server) as client:
        await client.complete(LlmRequest(turns=ASK.turns, cache=CacheUse.BYPASS))
        assert server.seen[0].headers["cache-control"] == "no-cache"


async def test_a_stream_comes_in_pieces_and_ends_whole() -> None:
    """Deltas arrive as they are sent; the last one is the whole reply. Spec: MND-1."""
    goes_on = trio.Event()

    async def script(exchange) -> None:
        await exchange.events(chunk("Hel"), end=False)
        await goes_on.wait()
        await exchange.data(b'data: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n')
        await exchange.data(b"data: [DONE]\n\n")
        await exchange.end()

    async with serve(script) as server, client_of(server) as client, client.stream(ASK) as stream:
        assert await anext(stream) == TextDelta("Hel")
        goes_on.set()
        rest = [delta async for delta in stream]
        assert rest[0] == TextDelta("lo")
        assert isinstance(rest[1], ReplyDone)
        assert rest[1].reply.text == "Hello"
        assert client.statistics().slots.used == 0  # given back with the last byte, not with the block


async def test_a_stream_that_is_left_early_leaves_nothing() -> None:
    """Leaving the block ends the request: the server sees the connection go, the slot is free. Spec: BND-10."""

    async def script(exchange) -> None:
        await exchange.events(*(chunk("x" * 100) for _ in range(50)), end=False)
        await trio.sleep_forever()

    async with serve(script) as server, client_of(server, slots=1) as client:
        for _ in range(3):
            async with client.stream(ASK) as stream:
                assert isinstance(await anext(stream), TextDelta)
        await server.all_gone()
        assert server.connections == 3


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
async def test_a_document_where_events_were_asked_for_is_a_reply(kind: str) -> None:
    """Servers that cannot stream answer at once, and that is streamed on as one piece."""
    async with (
        serve(always(answer("all at once"), Content_Type=kind)) as server,
        client_of(server) as client,
        client.stream(ASK) as stream,
    ):
        deltas = [delta async for delta in stream]
    assert deltas[0] == TextDelta("all at once")
    assert isinstance(deltas[1], ReplyDone)
    assert deltas[1].reply.usage.reported


async def test_what_the_filter_held_back_comes_before_the_end() -> None:
    """Text that might have begun a thinking block is not lost when the stream ends with it."""

    async def script(exchange) -> None:
        await exchange.events(chunk("<th"), chunk(finish="stop"), "[DONE]")

    async with serve(script) as server, client_of(server) as client, client.stream(ASK) as stream:
        assert [type(delta) for delta in [delta async for delta in stream]] == [TextDelta, ReplyDone]


# --- faults ---------------------------------------------------------------------------------------

BOMB = gzip.compress(b'{"choices":[{"message":{"content":"' + b" " * (64 * 1024 * 1024) + b'"}}]}')
MANY_CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": f"c{n}", "function": {"name": "pay", "arguments": "{}"}} for n in range(10_000)],
}


async def _hang(exchange) -> None:
    await trio.sleep_forever()


async def _hang_after_head(exchange) -> None:
    await exchange.head()
    await trio.sleep_forever()


async def _drip(exchange) -> None:
    await exchange.head()
    for byte in b'{"choices":[{"message":{"content":"x"}}]}' * 100:
        await exchange.data(bytes([byte]))
        await trio.sleep(4.0)


async def _drip_events(exchange) -> None:
    await exchange.events(end=False)
    while True:
        await exchange.data(b": still here\n\n")
        await trio.sleep(4.0)


async def _truncated(exchange) -> None:
    await exchange.reply(f'{{"choices":[{{"message":{{"content":"{CANARY}')


async def _cut_off(exchange) -> None:
    await exchange.head(headers={"Content-Length": "10000", "Transfer-Encoding": ""})
    await exchange.data(f'{{"{CANARY}": '.encode())
    await exchange.hang_up()


async def _no_reply(exchange) -> None:
    await exchange.hang_up()


async def _broken_refusal(exchange) -> None:
    await exchange.head(503, headers={"Content-Length": "10000", "Transfer-Encoding": ""})
    await exchange.data(CANARY.encode())
    await exchange.hang_up()


async def _dripping_refusal(exchange) -> None:
    await exchange.head(401)
    while True:
        await exchange.data(b".")
        await trio.sleep(1)


async def _not_http(exchange) -> None:
    await exchange.raw(f"{CANARY} 220 smtp ready\r\n\r\n".encode())
    await exchange.hang_up()


async def _long_head(exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 200_000 + b"\r\n\r\n")
    await exchange.hang_up()


async def _many_headers(exchange) -> None:
    await exchange.head(headers={f"X-{n}": CANARY for n in range(200)})
    await exchange.end()


async def _endless(exchange) -> None:
    await exchange.head()
    while True:
        await exchange.data(b" " * 65_536)


async def _endless_events(exchange) -> None:
    await exchange.events(end=False)
    while True:
        await exchange.data(f"data: {CANARY}".encode() * 1_000)


async def _clean_end(exchange) -> None:
    await exchange.events(chunk(CANARY))


async def _error_inside(exchange) -> None:
    await exchange.events(chunk("Hello"), {"error": {"code": 502, "message": CANARY}, "choices": []})


ERROR = {"error": {"message": CANARY, "type": "x"}}

FAULTS = [
    pytest.param(_hang, FailureKind.TIMEOUT, None, id="hang"),
    pytest.param(_hang_after_head, FailureKind.TIMEOUT, None, id="hang after the head"),
    pytest.param(_drip, FailureKind.TIMEOUT, None, id="drip"),
    pytest.param(_truncated, FailureKind.BAD_REPLY, BadReply.TRUNCATED, id="truncated JSON"),
    pytest.param(_cut_off, FailureKind.BAD_REPLY, BadReply.TRUNCATED, id="connection lost in the body"),
    pytest.param(_no_reply, FailureKind.UNREACHABLE, None, id="connection lost before the head"),
    pytest.param(_not_http, FailureKind.BAD_REPLY, BadReply.PROTOCOL, id="not HTTP"),
    pytest.param(_long_head, FailureKind.BAD_REPLY, BadReply.PROTOCOL, id="200 kB of header"),
    pytest.param(_many_headers, FailureKind.BAD_REPLY, BadReply.PROTOCOL, id="200 headers"),
    pytest.param(_endless, FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="endless body"),
    pytest.param(
        always(f"<html>{CANARY}</html>", Content_Type="text/html"), FailureKind.BAD_REPLY, BadReply.HTML, id="HTML"
    ),
    pytest.param(always(BOMB, Content_Encoding="gzip"), FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="gzip bomb"),
    pytest.param(
        always(b"x" + CANARY.encode(), Content_Encoding="br"), FailureKind.BAD_REPLY, BadReply.ENCODING, id="brotli"
    ),
    pytest.param(
        always(CANARY, Content_Encoding="gzip"), FailureKind.BAD_REPLY, BadReply.ENCODING, id="not gzip at all"
    ),
    pytest.param(always(b"x" * 9_000_000), FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="9 MB announced"),
    pytest.param(always(answer("x" * 300_000)), FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="300 kB of text"),
    pytest.param(
        always(answer(message=MANY_CALLS)), FailureKind.BAD_REPLY, BadReply.TOO_MANY_CALLS, id="10,000 tool calls"
    ),
    pytest.param(always('{"a":' + "[" * 200_000), FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="200,000 levels"),
    pytest.param(always('{"a":' + "[" * 20_000), FailureKind.BAD_REPLY, BadReply.TOO_DEEP, id="20,000 levels"),
    pytest.param(always(b'{"choices": "\xff\xfe"}'), FailureKind.BAD_REPLY, BadReply.WRONG_SHAPE, id="not UTF-8"),
    pytest.param(always(b""), FailureKind.BAD_REPLY, BadReply.NOT_JSON, id="nothing"),
    pytest.param(always({"choices": []}), FailureKind.BAD_REPLY, BadReply.EMPTY, id="no choices"),
    pytest.param(always(ERROR), FailureKind.SERVER_ERROR, None, id="error in a 200"),
    pytest.param(
        always(ERROR, 302, Location="http://127.0.0.1:1/"), FailureKind.BAD_REPLY, BadReply.REDIRECT, id="302"
    ),
    pytest.param(always(ERROR, 206), FailureKind.BAD_REPLY, BadReply.STATUS, id="206"),
    pytest.param(always(ERROR, 400), FailureKind.REJECTED, None, id="400"),
    pytest.param(always(ERROR, 401), FailureKind.AUTH, None, id="401"),
    pytest.param(always(ERROR, 402), FailureKind.NO_CREDIT, None, id="402"),
    pytest.param(always(ERROR, 413), FailureKind.TOO_LARGE, None, id="413"),
    pytest.param(always(ERROR, 429, Retry_After="1e9"), FailureKind.RATE_LIMITED, None, id="429 for 30 years"),
    pytest.param(always(ERROR, 500), FailureKind.SERVER_ERROR, None, id="500"),
    pytest.param(always(ERROR, 503), FailureKind.OVERLOADED, None, id="503"),
    pytest.param(_broken_refusal, FailureKind.OVERLOADED, None, id="503 with half a body"),
    pytest.param(_dripping_refusal, FailureKind.AUTH, None, id="401 with a drip"),
    pytest.param(always(ERROR, 529), FailureKind.OVERLOADED, None, id="529"),
]
STREAM_FAULTS = [
    pytest.param(_hang, FailureKind.TIMEOUT, None, id="hang"),
    pytest.param(_drip_events, FailureKind.TIMEOUT, None, id="drip of comments"),
    pytest.param(_clean_end, FailureKind.BAD_REPLY, BadReply.TRUNCATED, id="clean end in the middle"),
    pytest.param(_endless_events, FailureKind.BAD_REPLY, BadReply.TOO_LONG, id="one endless event"),
    pytest.param(_error_inside, FailureKind.SERVER_ERROR, None, id="error in the middle"),
    pytest.param(always(ERROR), FailureKind.SERVER_ERROR, None, id="error document"),
    pytest.param(always(f"<html>{CANARY}", Content_Type="text/html"), FailureKind.BAD_REPLY, BadReply.HTML, id="HTML"),
    pytest.param(always(ERROR, 429, Retry_After="1e9"), FailureKind.RATE_LIMITED, None, id="429"),
]


def everything_in(error: BaseException) -> str:
    """Return all an error could show: its text, fields, causes and what they refer to."""
    parts, pending, seen = [], [error], set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        parts += [str(current), repr(current), repr(current.args), repr(getattr(current, "__notes__", ""))]
        for value in vars(current).values():
            parts.append(repr(value))
            assert "httpx" not in type(value).__module__, f"an error refers to {type(value)}"
        assert "httpx" not in type(current).__module__, f"an error comes from {type(current)}"
        pending += [each for each in (current.__cause__, current.__context__) if each is not None]
    return "\n".join(parts)


def check_quiet(failure: LlmFailure, lines: list[str]) -> None:
    """Assert that neither the provider's words nor the key are where they may not be."""
    shown = everything_in(failure)
    assert CANARY not in shown
    assert KEY not in shown
    assert KEY not in "".join(lines)


@pytest.mark.parametrize(("script", "kind", "bad_reply"), FAULTS)
async def test_every_fault_is_a_typed_failure_in_time(script, kind, bad_reply, patient_clock) -> None:
    """Each fault ends within the deadline, typed, without the provider's words or our key, and the next request is answered. Spec: MND-2, MND-3, BND-7. Fault: 21, 22, 42."""  # noqa: E501 - one sentence
    lines: list[str] = []
    async with serve(script) as server, client_of(server, lines=lines, policy=NO_RETRY) as client:
        started = trio.current_time()
        failure = await failure_of(client)
        assert trio.current_time() - started <= ASK.deadline_s + 1.0
        assert (failure.kind, failure.bad_reply) == (kind, bad_reply)
        check_quiet(failure, lines)
        assert client.statistics().failures == {kind.value: 1}
        server.scripts = [always(answer("again"))]
        assert (await client.complete(ASK)).text == "again"


@pytest.mark.parametrize(("script", "kind", "bad_reply"), STREAM_FAULTS)
async def test_every_fault_of_a_stream_is_a_typed_failure_in_time(script, kind, bad_reply, patient_clock) -> None:
    """The same for streams, whose pieces may have been handed on already. Spec: MND-2, MND-3. Fault: 21."""
    lines: list[str] = []
    async with serve(script) as server, client_of(server, lines=lines, policy=NO_RETRY) as client:
        started = trio.current_time()
        failure = await failure_of(client, streaming=True)
        assert trio.current_time() - started <= ASK.deadline_s + 1.0
        assert (failure.kind, failure.bad_reply) == (kind, bad_reply)
        check_quiet(failure, lines)


@pytest.mark.slow
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("script", [_endless, _endless_events, always(BOMB, Content_Encoding="gzip")])
async def test_no_reply_takes_much_memory(script, *, streaming: bool) -> None:
    """Endless bodies, endless events and a bomb cost a few MiB, server included. Spec: BND-7. Fault: 21."""
    async with serve(script) as server, client_of(server, policy=NO_RETRY) as client:
        tracemalloc.start()
        failure = await failure_of(client, streaming=streaming)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert failure.kind is FailureKind.BAD_REPLY
    assert peak < 16 * 1024 * 1024


async def test_nobody_listening_is_unreachable() -> None:
    """A closed port is a typed failure. Fault: 21."""
    async with serve(always(answer())) as server:
        pass
    async with client_of(server, policy=NO_RETRY) as client:
        failure = await failure_of(client)
    assert failure.kind is FailureKind.UNREACHABLE


async def test_what_a_provider_says_is_in_the_log_alone() -> None:
    """The operator finds the provider's words with the correlation id, and the key masked. Spec: MND-3, MND-14."""
    lines: list[str] = []
    echo = {"error": {"message": f"{CANARY}: your key {KEY} is wrong"}}
    request = LlmRequest(turns=ASK.turns, correlation="turn-1")
    async with serve(always(echo, 401)) as server, client_of(server, lines=lines) as client:
        check_quiet(await failure_of(client, request), lines)
    (line,) = lines
    assert CANARY in line
    assert '"correlation":"turn-1"' in line


# --- refusing before sending ----------------------------------------------------------------------


async def test_an_unpaired_request_is_a_bug_and_is_not_sent() -> None:
    """A call without its result never reaches a provider. Spec: MND-4."""
    broken = LlmRequest(turns=(AssistantTurn(tool_calls=(ToolCall(id="1", name="x", arguments=""),)),))
    async with serve(always(answer())) as server, client_of(server) as client:
        with pytest.raises(LocalProtocolError):
            await client.complete(broken)
        assert not server.seen


async def test_a_request_over_its_bytes_is_not_sent() -> None:
    """The encoded size counts. Spec: BND-17."""
    big = LlmRequest(turns=(UserTurn(text="x" * 2_000),), max_request_bytes=1_000)
    async with serve(always(answer())) as server, client_of(server) as client:
        assert (await failure_of(client, big)).kind is FailureKind.TOO_LARGE
        assert not server.seen


# --- tries ----------------------------------------------------------------------------------------


async def test_what_a_second_try_cures_is_tried_again(patient_clock) -> None:
    """Overload and a broken reply are followed by a good one; the same bytes are sent each time. Spec: MND-2."""
    lines: list[str] = []
    scripts = (always(ERROR, 503), _truncated, always(answer("third time")))
    async with serve(*scripts) as server, client_of(server, lines=lines) as client:
        assert (await client.complete(ASK)).text == "third time"
        assert len({seen.body for seen in server.seen}) == 1
        assert client.statistics().tries == 3
    assert sum('"llm_retry"' in line for line in lines) == 2


async def test_retry_after_is_a_floor(patient_clock) -> None:
    """The provider's wish is waited for, and jitter comes on top. Spec: MND-2."""
    async with serve(always(ERROR, 429, Retry_After="7"), always(answer())) as server, client_of(server) as client:
        started = trio.current_time()
        await client.complete(ASK)
        assert trio.current_time() - started >= 7.0


async def test_a_refusal_is_not_tried_again() -> None:
    """What will be the same next time is asked once. Spec: MND-2."""
    async with serve(always(ERROR, 401)) as server, client_of(server) as client:
        await failure_of(client)
        assert len(server.seen) == 1


async def test_a_stream_is_tried_again_only_before_its_first_delta(patient_clock) -> None:
    """A failure before anything was handed on is cured; one after it is told. Spec: MND-2."""

    async def good(exchange) -> None:
        await exchange.events(chunk("Hi"), chunk(finish="stop"), "[DONE]")

    async with serve(always(ERROR, 503), good) as server, client_of(server) as client:
        async with client.stream(ASK) as stream:
            assert await anext(stream) == TextDelta("Hi")
        assert len(server.seen) == 2

    async def breaks(exchange) -> None:
        await exchange.events(chunk("Hi"), end=False)
        await trio.sleep(0.05)
        await exchange.hang_up()

    async with serve(breaks, good) as server, client_of(server) as client:
        async with client.stream(ASK) as stream:
            assert await anext(stream) == TextDelta("Hi")
            with pytest.raises(LlmFailure):
                await anext(stream)
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert len(server.seen) == 1


async def test_a_slow_reader_does_not_use_up_the_deadline(patient_clock) -> None:
    """The deadline bounds waiting for the model, and never cancels what the reader does in between."""

    async def script(exchange) -> None:
        await exchange.events(chunk("a"), end=False)
        await trio.sleep(1)
        await exchange.data(b'data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}\n\n')
        await exchange.end()

    async with serve(script) as server, client_of(server) as client, client.stream(ASK) as stream:
        assert await anext(stream) == TextDelta("a")
        await trio.sleep(ASK.deadline_s * 2)
        with pytest.raises(LlmFailure) as late:
            await anext(stream)
        assert late.value.kind is FailureKind.TIMEOUT


async def test_waiting_for_a_slot_counts_towards_the_deadline(patient_clock) -> None:
    """A request that gets no slot in time fails as one that gets no reply. Spec: BND-10."""
    async with serve(_hang) as server, client_of(server, slots=1, policy=NO_RETRY) as client:
        kinds: list[FailureKind] = []

        async def ask(deadline_s: float) -> None:
            request = LlmRequest(turns=ASK.turns, deadline_s=deadline_s)
            kinds.append((await failure_of(client, request)).kind)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, 4.0)
            nursery.start_soon(ask, 3.0)
        assert kinds == [FailureKind.TIMEOUT] * 2
        assert len(server.seen) <= 2


async def test_closing_ends_what_is_under_way() -> None:
    """A closed client's requests fail as cancelled, now and later."""
    started = trio.Event()

    async def script(exchange) -> None:
        started.set()
        await trio.sleep_forever()

    async with serve(script) as server, client_of(server) as client:
        kinds: list[FailureKind] = []

        async def ask() -> None:
            kinds.append((await failure_of(client)).kind)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await started.wait()
            await client.aclose()
        await ask()
        assert kinds == [FailureKind.CANCELLED] * 2


async def test_tools_that_a_server_cannot_use_are_told_apart() -> None:
    """A server without tool support is named as such, so that the operator knows what to change."""
    words = {"error": {"message": "registry/gemma:2b does not support tools", "type": "invalid_request_error"}}
    request = LlmRequest(turns=ASK.turns, tools=(ToolDescriptor(name="look", description="", schema=b"{}"),))
    async with serve(always(words, 400)) as server, client_of(server) as client:
        assert (await failure_of(client, request)).kind is FailureKind.TOOLS_UNSUPPORTED
        assert (await failure_of(client)).kind is FailureKind.REJECTED


@pytest.mark.slow
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("failing", [False, True])
def test_cancellation_at_every_checkpoint_leaves_nothing(*, streaming: bool, failing: bool) -> None:
    """Wherever a request is cancelled, no slot and no connection is left, and the next is answered. Spec: BND-10."""

    async def good(exchange) -> None:
        if exchange.seen.json.get("stream"):
            await exchange.events(chunk("Hi"), chunk(" you"), chunk(finish="stop"), "[DONE]")
        else:
            await exchange.reply(answer())

    async def use(client: LlmClient) -> None:
        if not streaming:
            await client.complete(ASK)
            return
        async with client.stream(ASK) as stream:
            assert [delta async for delta in stream]

    async def scenario(point: CancelPoint) -> None:
        quick = RetryPolicy(retries_max=1, base_s=0.001, cap_s=0.001)
        scripts = (always(ERROR, 503), good) if failing else (good,)
        async with serve(*scripts) as server, client_of(server, slots=1, policy=quick) as client:
            await point.guard(use, client)
            statistics = client.statistics()
            assert statistics.slots.used == statistics.slots.waiting == 0
            server.scripts = [good]
            with trio.fail_after(5):
                await use(client)

    points = 0
    for points in range(500):
        point = CancelPoint(points)
        trio.run(scenario, point, instruments=[point])
        if not point.reached:
            break
    assert points > 10
