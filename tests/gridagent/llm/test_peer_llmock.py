"""An independent server, scripted to fail in every way it can, against both codecs (`llmock`, installed by itself).

Skipped unless a command called ``llmock`` is found; ``GRIDAGENT_LLMOCK`` names another.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator

import pytest
import trio

from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.language import (
    BadReply,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ReplyDone,
    ToolDescriptor,
    ToolTurn,
    UserTurn,
)
from gridagent.llm.anthropic import VERSION, Anthropic
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.retry import RetryPolicy
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport

COMMAND = os.environ.get("GRIDAGENT_LLMOCK") or shutil.which("llmock")
CANARY = "canary-provider-text-51b0"
LOOK = ToolDescriptor(
    name="look_around",
    description="Look around.",
    schema=b'{"type":"object","properties":{"radius":{"type":"integer"}},"required":["radius"]}',
)
ASK = LlmRequest(turns=(UserTurn(text="hello"),), deadline_s=5.0)
WITH_TOOLS = LlmRequest(turns=(UserTurn(text="please look around"),), tools=(LOOK,), deadline_s=5.0)
CODECS = {
    "openai": (ChatCompletions("gpt-4o"), "/v1/chat/completions", {"Authorization": SecretStr("Bearer sk-test")}),
    "anthropic": (
        Anthropic("claude-sonnet-4-5"),
        "/anthropic/v1/messages",
        {"x-api-key": SecretStr("sk-test"), "anthropic-version": VERSION},
    ),
}

pytestmark = [
    pytest.mark.peer,
    pytest.mark.slow,
    pytest.mark.skipif(COMMAND is None, reason="llmock is not installed"),
]


class Peer:
    """The running server and its control side."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: object = None):
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}/_llmock/{path}"
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=10) as reply:
            return json.loads(reply.read() or b"{}")

    def script(self, *behaviors: dict) -> None:
        self.ask("POST", "reset")
        if behaviors:
            self.ask("POST", "scenario", {"behaviors": list(behaviors)})

    def findings(self) -> list[str]:
        """What the server holds against its client."""
        return [finding["code"] for finding in self.ask("GET", "verdict").get("findings", [])]


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    """Run the server for this module."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [COMMAND, "serve", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert any("running on" in line for line in process.stdout)
            yield Peer(port)
        finally:
            process.terminate()


@pytest.fixture(params=CODECS)
async def client(peer: Peer, request: pytest.FixtureRequest):
    """A client of it; afterwards nothing may be left."""
    codec, path, headers = CODECS[request.param]
    transport = HttpTransport(EndpointUrl(f"http://127.0.0.1:{peer.port}{path}"), headers=headers)
    policy = RetryPolicy(retries_max=2, base_s=0.01, cap_s=0.01)
    found = LlmClient(transport, codec, slots=Slots(4), rng=random.Random(1), policy=policy)
    yield found
    assert found.statistics().slots.used == transport.in_use == 0
    await found.aclose()


async def streamed(client: LlmClient, request: LlmRequest) -> LlmReply:
    """Return the reply that a stream ends with."""
    reply = None
    async with client.stream(request) as stream:
        async for delta in stream:
            if isinstance(delta, ReplyDone):
                reply = delta.reply
    assert reply is not None
    return reply


async def outcome(client: LlmClient, *, streaming: bool, request: LlmRequest = ASK) -> LlmReply | LlmFailure:
    """Return what comes of a request."""
    try:
        return await (streamed(client, request) if streaming else client.complete(request))
    except LlmFailure as failure:
        return failure


@pytest.mark.parametrize("streaming", [False, True])
async def test_it_answers(peer: Peer, client: LlmClient, *, streaming: bool) -> None:
    """A plain answer with usage comes through. Spec: MND-1."""
    peer.script({"type": "reply", "text": "Good evening."})
    reply = await outcome(client, streaming=streaming)
    assert isinstance(reply, LlmReply)
    assert (reply.text, reply.finish) == ("Good evening.", FinishReason.STOP)
    assert peer.findings() == []


@pytest.mark.parametrize("streaming", [False, True])
async def test_tools_go_there_and_back(peer: Peer, client: LlmClient, *, streaming: bool) -> None:
    """A call comes, its result is sent, an answer follows. Spec: MND-1."""
    peer.script()
    first = await outcome(client, streaming=streaming, request=WITH_TOOLS)
    (call,) = first.tool_calls
    assert call.name == "look_around"
    assert "radius" in json.loads(call.arguments)
    result = ToolTurn(call_id=call.id, name=call.name, text="a bench")
    again = LlmRequest(turns=(*WITH_TOOLS.turns, first.as_turn(), result), tools=(LOOK,), deadline_s=5.0)
    second = await outcome(client, streaming=streaming, request=again)
    assert second.text
    assert second.tool_calls == ()


FAULTS = [
    pytest.param({"type": "fail", "status": 401, "message": CANARY}, FailureKind.AUTH, id="401"),
    pytest.param({"type": "fail", "status": 400, "message": CANARY}, FailureKind.REJECTED, id="400"),
    pytest.param({"type": "fail", "status": 429, "retry_after": 1e9}, FailureKind.RATE_LIMITED, id="429 for 30 years"),
    pytest.param({"type": "fail", "status": 500, "message": CANARY}, FailureKind.SERVER_ERROR, id="500"),
    pytest.param({"type": "fail", "status": 503, "message": CANARY}, FailureKind.OVERLOADED, id="503"),
    pytest.param({"type": "delay", "seconds": 2}, FailureKind.TIMEOUT, id="delay"),
]
STREAM_FAULTS = [
    pytest.param(
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}, BadReply.TRUNCATED, id="disconnect"
    ),
    pytest.param({"type": "stream_fault", "kind": "truncate", "after_chunks": 2}, BadReply.TRUNCATED, id="truncate"),
    pytest.param({"type": "stream_fault", "kind": "malformed", "after_chunks": 2}, None, id="malformed"),
    pytest.param({"type": "stream_fault", "kind": "stall", "stall_seconds": 2, "after_chunks": 2}, None, id="stall"),
]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("fault", "kind"), FAULTS)
async def test_lasting_faults_fail_typed_in_time(
    peer: Peer, client: LlmClient, fault: dict, kind: FailureKind, *, streaming: bool
) -> None:
    """Each ends in time without its words, and the next request is answered. Spec: MND-2, MND-3. Fault: 21."""
    peer.script({**fault, "times": None})
    request = LlmRequest(turns=ASK.turns, deadline_s=0.5 if kind is FailureKind.TIMEOUT else 5.0)
    with trio.fail_after(6.0):
        failure = await outcome(client, streaming=streaming, request=request)
    assert isinstance(failure, LlmFailure)
    assert failure.kind is kind
    assert CANARY not in str(failure)
    peer.script()
    assert isinstance(await outcome(client, streaming=streaming), LlmReply)


@pytest.mark.parametrize("streaming", [False, True])
async def test_passing_faults_are_cured(peer: Peer, client: LlmClient, *, streaming: bool) -> None:
    """Two overloads and then an answer are an answer, waited for as asked. Spec: MND-2."""
    peer.script(
        {"type": "fail", "status": 429, "retry_after": 0.2, "times": 1}, {"type": "fail", "status": 503, "times": 1}
    )
    started = trio.current_time()
    assert isinstance(await outcome(client, streaming=streaming), LlmReply)
    assert trio.current_time() - started >= 0.2
    assert client.statistics().tries == 3
    assert peer.findings() == []


@pytest.mark.parametrize(("fault", "bad_reply"), STREAM_FAULTS)
async def test_broken_streams_are_never_taken_for_answers(
    peer: Peer, client: LlmClient, fault: dict, bad_reply: BadReply | None
) -> None:
    """A drop, a clean early end, garbage and silence fail typed. Spec: MND-2. Fault: 21."""
    peer.script({"type": "reply", "text": "one two three four five six"}, {**fault, "times": None})
    failure = await outcome(client, streaming=True, request=LlmRequest(turns=ASK.turns, deadline_s=1.0))
    assert isinstance(failure, LlmFailure)
    assert bad_reply is None or failure.bad_reply is bad_reply
    assert failure.kind in {FailureKind.BAD_REPLY, FailureKind.TIMEOUT}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_broken_calls_reach_the_pipeline(peer: Peer, client: LlmClient, kind: str, *, streaming: bool) -> None:
    """They are calls without sense, which get their result there. Spec: MND-7. Fault: 25."""
    peer.script({"type": "tool_fault", "kind": kind})
    reply = await outcome(client, streaming=streaming, request=WITH_TOOLS)
    assert isinstance(reply, LlmReply)
    (call,) = reply.tool_calls
    assert (call.name != "look_around") == (kind == "unknown_tool")
