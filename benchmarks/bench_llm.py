"""The language model port: what a call costs us, and what many at once add to a slow model.

`llm.call` and `llm.stream` are CPU ms a call, server included, against the same zero-latency server on loopback, as
a ratio to a raw loop over httpx and msgspec in the same run (median of interleaved rounds). Budget: 1.2. `llm.codec`
is encoding and decoding alone. `llm.concurrent` asks a model that takes 2 s (200 ms for the knee) with many
conversations at once, clients of at most 16 connections each: the added latency is what the slowest of a hundred
waits beyond the model's own time. Goal: 20 ms at 256.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import h11
import httpx
import msgspec
import trio

from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.language import AssistantTurn, LlmRequest, SystemTurn, ToolDescriptor, UserTurn
from gridagent.llm.anthropic import Anthropic
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.offline.model import answer
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport

ROUNDS, CALLS = 9, 40
OF = "a raw httpx and msgspec loop, same run"
TEXT = "I can see Mara and Ben by the fountain. Shall I come over?"
REPLY = msgspec.json.encode(
    {
        "id": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 20},
    }
)
PIECES = [
    *({"choices": [{"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}]} for word in TEXT.split()),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
EVENTS = b"".join(b"data: " + msgspec.json.encode(each) + b"\n\n" for each in PIECES) + b"data: [DONE]\n\n"
SCHEMA = msgspec.json.encode(
    {"type": "object", "properties": {"avatar_id": {"type": "string"}, "text": {"type": "string"}}}
)
REQUEST = LlmRequest(
    turns=(
        SystemTurn(text="You are Robin, a guide in the plaza. " * 30),
        *(
            turn
            for number in range(20)
            for turn in (
                UserTurn(text=f"Mara [01234567, stranger]: {number}, what do you see?"),
                AssistantTurn(text=TEXT),
            )
        ),
        UserTurn(text="Mara [01234567, stranger]: and now?"),
    ),
    tools=tuple(ToolDescriptor(name=f"tool_{n}", description="Do it. " * 10, schema=SCHEMA) for n in range(24)),
)


async def serve(stream: trio.SocketStream, *, takes_s: float) -> None:
    """Answer every request after the model's time."""
    connection = h11.Connection(h11.SERVER)
    try:
        while True:
            body = b""
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    connection.receive_data(await stream.receive_some(65_536))
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.ConnectionClosed):
                    return
            if takes_s:
                await trio.sleep(takes_s)
            streaming = b'"stream":true' in body
            reply, kind = (EVENTS, b"text/event-stream") if streaming else (REPLY, b"application/json")
            head = h11.Response(status_code=200, headers=[("content-type", kind), ("content-length", str(len(reply)))])
            parts = (connection.send(head), connection.send(h11.Data(reply)), connection.send(h11.EndOfMessage()))
            await stream.send_all(b"".join(part for part in parts if part))
            connection.start_next_cycle()
    except (trio.BrokenResourceError, h11.RemoteProtocolError):
        return
    finally:
        await trio.aclose_forcefully(stream)


async def with_server(work: Callable[[str], Awaitable[object]], takes_s: float = 0.0) -> object:
    """Run ``work`` beside a server in the same process, whose CPU time counts on both sides of a ratio."""
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, partial(serve, takes_s=takes_s), 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        found = await work(f"http://127.0.0.1:{port}/v1/chat/completions")
        nursery.cancel_scope.cancel()
    return found


def client_of(url: str, slots: int = 1) -> LlmClient:
    """A client as the service makes one."""
    transport = HttpTransport(
        EndpointUrl(url), headers={"Authorization": SecretStr("Bearer sk-benchmark")}, concurrency_max=slots
    )
    return LlmClient(transport, ChatCompletions("m"), slots=Slots(slots), rng=random.Random(1))


# --- one call -------------------------------------------------------------------------------------


class _Message(msgspec.Struct):
    content: str


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


async def _raw_whole(client: httpx.AsyncClient, url: str) -> str:
    """What nobody can leave out: encode, post, decode."""
    body = msgspec.json.encode(plain())
    response = await client.post(url, content=body, headers={"Authorization": "Bearer x"})
    return msgspec.json.decode(response.content, type=_Completion).choices[0].message.content


async def _raw_stream(client: httpx.AsyncClient, url: str) -> str:
    """The same with events, read line by line as everybody does."""
    body = msgspec.json.encode(plain() | {"stream": True})
    words = []
    async with client.stream("POST", url, content=body, headers={"Authorization": "Bearer x"}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                delta = msgspec.json.decode(line[6:])["choices"][0]["delta"]
                words.append(delta.get("content", ""))
    return "".join(words)


def plain() -> dict:
    """The same request as plain data, made as a loop of somebody's own would."""
    roles = {SystemTurn: "system", UserTurn: "user", AssistantTurn: "assistant"}
    return {
        "model": "m",
        "messages": [{"role": roles[type(turn)], "content": turn.text} for turn in REQUEST.turns],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": msgspec.Raw(tool.schema),
                },
            }
            for tool in REQUEST.tools
        ],
    }


async def _our_stream(client: LlmClient) -> None:
    async with client.stream(REQUEST) as stream:
        async for _ in stream:
            pass


async def _cpu_ms(work: Callable[[], Awaitable[object]]) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        await work()
    return (time.process_time() - start) / CALLS * 1_000


async def _compare(url: str) -> dict[str, tuple[float, float]]:
    """Return CPU ms a call of ours, and the ratio to the raw loop, for whole and streamed replies."""
    client = client_of(url)
    found = {}
    async with httpx.AsyncClient(trust_env=False) as raw:
        for name, ours, theirs in (
            ("llm.call", lambda: client.complete(REQUEST), lambda: _raw_whole(raw, url)),
            ("llm.stream", lambda: _our_stream(client), lambda: _raw_stream(raw, url)),
        ):
            await _cpu_ms(ours)
            await _cpu_ms(theirs)
            pairs = [(await _cpu_ms(ours), await _cpu_ms(theirs)) for _ in range(ROUNDS)]
            best = min(mine for mine, _ in pairs)
            found[name] = (best, statistics.median(mine / other for mine, other in pairs))
    await client.aclose()
    return found


def _codec_us(codec: ChatCompletions | Anthropic, reply: bytes) -> float:
    best = 1e9
    for _ in range(20):
        start = time.process_time()
        for _ in range(50):
            codec.encode(REQUEST, streaming=False)
            codec.decode(reply, REQUEST)
        best = min(best, (time.process_time() - start) / 50 * 1e6)
    return best


# --- many at once ---------------------------------------------------------------------------------


async def _latencies(url: str, *, many: int, takes_s: float, each: int) -> float:
    """Ask ``each`` times in ``many`` conversations; return the 99th percentile of what we add, in ms."""
    client, added = client_of(url, slots=many), []

    async def converse(offset: float) -> None:
        await trio.sleep(offset)
        for _ in range(each + 1):
            start = trio.current_time()
            await client.complete(REQUEST)
            added.append(trio.current_time() - start - takes_s)

    async with trio.open_nursery() as nursery:
        for number in range(many):
            # People do not speak in the same moment: spread over the model's time.
            nursery.start_soon(converse, takes_s * number / many)
    await client.aclose()
    warm = added[many:]  # the first of each opened its connection
    return statistics.quantiles(warm, n=100)[98] * 1_000


def _added(many: int, *, takes_s: float, each: int) -> float:
    """Return the better of two runs: a busy machine can only add."""
    work = partial(_latencies, many=many, takes_s=takes_s, each=each)
    return min(trio.run(with_server, work, takes_s) for _ in range(2))


def figures() -> Iterator[dict]:
    """Yield the figures of the language model port."""
    for name, (ms, ratio) in trio.run(with_server, _compare).items():
        yield {"name": name, "value": ms, "unit": "CPU ms", "ratio": ratio, "of": OF, "goal": "≤ 1.2 of it"}
    anthropic = msgspec.json.encode({"content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"})
    yield {"name": "llm.codec.chat_completions", "value": _codec_us(ChatCompletions("m"), REPLY), "unit": "CPU µs"}
    yield {"name": "llm.codec.anthropic", "value": _codec_us(Anthropic("m"), anthropic), "unit": "CPU µs"}
    start = time.process_time()
    for _ in range(200):
        answer(REQUEST)
    yield {"name": "llm.offline", "value": (time.process_time() - start) / 200 * 1e6, "unit": "CPU µs"}
    added = _added(256, takes_s=2.0, each=2)
    yield {
        "name": "llm.concurrent.256_at_2_s",
        "value": added,
        "unit": "ms p99 added",
        "goal": 20.0,
        "better": "lower",
        "note": "128 calls/s, server in the same process",
    }
    knee = None
    for many in (16, 32, 64, 96, 128, 192, 256):
        added = _added(many, takes_s=0.2, each=8)
        yield {"name": f"llm.concurrent.{many}_at_200_ms", "value": added, "unit": "ms p99 added", "better": "lower"}
        if knee is None and added > 20.0:
            knee = many
    yield {
        "name": "llm.concurrent.knee_at_200_ms",
        "value": knee or 256,
        "unit": "conversations",
        "better": "higher",
        "note": "first of the rows above that adds more than 20 ms" if knee else "not reached",
    }
