"""A tool turn through agent frameworks, a raw loop and ours: ``python -m benchmarks.compare_frameworks``.

Optional and in no baseline: it needs pydantic-ai and openai-agents, which `make compare` installs into an environment
of their own. Everybody has the same turn (model, tool, model) with one small tool, against a server without latency in
another process; CPU is that of this process alone, the smallest of several rounds. One JSON line each, with
``ratio_to_raw_loop``. Ours is the turn with its gates, its tool pipeline and its client, and all tools of the catalogue
shown; with everything on, see ``python -m benchmarks turn``.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial

import httpx
import msgspec
import trio

from benchmarks.bench_turn import ANSWER, SAID, TEXT, brief, our_turn, raw_turn, serve
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport

ROUNDS, TURNS = 7, 40
TOOL = {
    "type": "function",
    "function": {
        "name": "look_around",
        "description": "See who and what is near.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
SEEN = "Mara Stone, Ben Miller and Eve Hill are near."


async def server() -> None:
    """Serve until standard input ends; say on which port."""
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        sys.stdout.write(f"{listeners[0].socket.getsockname()[1]}\n")
        sys.stdout.flush()
        await trio.to_thread.run_sync(sys.stdin.read)
        nursery.cancel_scope.cancel()


async def best_ms(turn: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU ms of a turn in the quickest round."""
    await turn()
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(TURNS):
            await turn()
        rounds.append((time.process_time() - began) / TURNS * 1_000)
    return min(rounds)


async def raw(url: str) -> float:
    """Measure a loop of somebody's own."""
    messages = [{"role": "system", "content": "You are Ruth."}, {"role": "user", "content": SAID}]
    async with httpx.AsyncClient(trust_env=False) as client:
        return await best_ms(partial(raw_turn, client, f"{url}/chat/completions", messages, [TOOL]))


async def ours(url: str) -> float:
    """Measure ours."""
    headers = {"Authorization": SecretStr("Bearer sk-benchmark")}
    transport = HttpTransport(EndpointUrl(f"{url}/chat/completions"), headers=headers, concurrency_max=1)
    client = LlmClient(transport, ChatCompletions("m"), slots=Slots(1), rng=random.Random(1))
    assert brief(()).now_said[0].text == SAID
    try:
        return await best_ms(partial(our_turn, client, ()))
    finally:
        await client.aclose()


async def pydantic_ai(url: str) -> float:
    """Measure pydantic-ai."""
    from pydantic_ai import Agent  # noqa: PLC0415 - optional
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    async def look_around() -> str:
        """See who and what is near."""
        return SEEN

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="sk-benchmark"))
    agent = Agent(model, instructions="You are Ruth.", tools=[look_around])

    async def turn() -> None:
        assert (await agent.run(SAID)).output == TEXT

    return await best_ms(turn)


async def openai_agents(url: str) -> float:
    """Measure openai-agents."""
    from agents import (  # noqa: PLC0415 - optional
        Agent,
        OpenAIChatCompletionsModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI  # noqa: PLC0415

    set_tracing_disabled(disabled=True)

    @function_tool
    async def look_around() -> str:
        """See who and what is near."""
        return SEEN

    model = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=url, api_key="sk-benchmark"))
    agent = Agent(name="Ruth", instructions="You are Ruth.", model=model, tools=[look_around])

    async def turn() -> None:
        assert (await Runner.run(agent, SAID)).final_output == TEXT

    return await best_ms(turn)


def main() -> None:
    """Measure everybody and print a line each."""
    assert TEXT.encode() in ANSWER
    command = [sys.executable, "-m", "benchmarks.compare_frameworks", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdin is not None
        assert process.stdout is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        floor = asyncio.run(raw(url))
        figures = {"raw loop": floor, "gridagent": trio.run(ours, url)}
        for name, measure in (("pydantic-ai", pydantic_ai), ("openai-agents", openai_agents)):
            try:
                figures[name] = asyncio.run(measure(url))
            except ImportError as missing:
                print(msgspec.json.encode({"name": name, "skipped": f"{missing.name} is not installed"}).decode())
        process.stdin.close()
    for name, value in figures.items():
        print(
            msgspec.json.encode(
                {"name": name, "value": value, "unit": "ms CPU a tool turn", "ratio_to_raw_loop": value / floor}
            ).decode()
        )


if __name__ == "__main__":
    if "--serve" in sys.argv:
        trio.run(server)
    else:
        main()
