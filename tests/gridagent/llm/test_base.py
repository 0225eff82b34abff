"""The port's contract, held by every model there is: an endpoint behind a client, the offline one, a scripted one."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from gridagent.language import LlmReply, LlmRequest, ReplyDone, TextDelta, UserTurn
from gridagent.llm import LanguageModel, Slots
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.offline import OfflineModel
from gridagent.llm.scripted import ScriptedModel
from gridagent.llm.transport import HttpTransport
from tests.gridagent.llm.llm_server import answer, chunk, serve

ASK = LlmRequest(turns=(UserTurn(text="hello you"),))


@asynccontextmanager
async def offline() -> AsyncIterator[LanguageModel]:
    """The built-in one."""
    yield OfflineModel()


@asynccontextmanager
async def scripted() -> AsyncIterator[LanguageModel]:
    """A test's own."""
    yield ScriptedModel(["hello to you"], repeat_last=True)


@asynccontextmanager
async def endpoint() -> AsyncIterator[LanguageModel]:
    """A real one, over HTTP."""

    async def script(exchange) -> None:
        if exchange.seen.json.get("stream"):
            await exchange.events(chunk("hello "), chunk("to you"), chunk(finish="stop"), "[DONE]")
        else:
            await exchange.reply(answer("hello to you"))

    async with serve(script) as server:
        client = LlmClient(HttpTransport(server.url), ChatCompletions("m"), slots=Slots(2), rng=random.Random(1))
        yield client
        await client.aclose()


@pytest.mark.parametrize("open_model", [offline, scripted, endpoint])
async def test_whole_and_streamed_answers_agree(open_model) -> None:
    """Pieces join to the text of the reply that ends them, exactly once. Spec: MND-1."""
    async with open_model() as model:
        reply = await model.complete(ASK)
        assert isinstance(reply, LlmReply)
        async with model.stream(ASK) as stream:
            deltas = [delta async for delta in stream]
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        done = [delta for delta in deltas if isinstance(delta, ReplyDone)]
        assert deltas[-1:] == done
        assert done[0].reply.text == reply.text
        assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.text


@pytest.mark.parametrize("open_model", [offline, scripted, endpoint])
async def test_a_stream_can_be_left_unread(open_model) -> None:
    """Leaving the block ends it, and the next request is answered."""
    async with open_model() as model:
        async with model.stream(ASK):
            pass
        assert (await model.complete(ASK)).text


@pytest.mark.parametrize("open_model", [offline, scripted, endpoint])
async def test_a_cancelled_request_is_cancelled(open_model) -> None:
    """Every model notices cancellation, and is of use afterwards."""
    async with open_model() as model:
        with trio.CancelScope() as scope:
            scope.cancel()
            await model.complete(ASK)
        assert scope.cancelled_caught
        assert (await model.complete(ASK)).text


@pytest.mark.parametrize("open_model", [offline, scripted, endpoint])
async def test_many_tasks_share_one_model(open_model) -> None:
    """Several at once are all answered."""
    replies = []
    async with open_model() as model:

        async def ask() -> None:
            replies.append(await model.complete(ASK))

        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(ask)
    assert len({reply.text for reply in replies}) == 1
    assert len(replies) == 8
