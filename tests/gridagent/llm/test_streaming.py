"""One streamed reply: read ahead, joined, drained, and given back exactly once."""

from __future__ import annotations

import pytest
import trio

from gridagent.language import BadReply, CallDelta, FailureKind, LlmFailure, LlmRequest, ReplyDone, TextDelta, UserTurn
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.streaming import ReplyStream, read_whole
from gridagent.llm.untrusted import REPLY_BODY_MAX_BYTES

ASK = LlmRequest(turns=(UserTurn(text="hello"),))
TEXT = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
CALL = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"look"}}]}}]}\n\n'
STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


class Wire:
    """A reply whose pieces a test decides; None waits for ever, a failure is raised."""

    status = 200

    def __init__(self, *pieces: bytes | LlmFailure | None, kind: str = "text/event-stream") -> None:
        self.pieces = list(pieces)
        self.kind = kind
        self.closed = 0

    def header(self, name: str) -> str:
        return self.kind if name == "content-type" else ""

    async def receive(self) -> bytes:
        await trio.lowlevel.checkpoint()
        piece = self.pieces.pop(0) if self.pieces else b""
        if piece is None:
            await trio.sleep_forever()
        if isinstance(piece, LlmFailure):
            raise piece
        return piece

    async def aclose(self) -> None:
        self.closed += 1


class Kept:
    """What a stream told whoever opened it."""

    def __init__(self) -> None:
        self.released = 0
        self.failures: list[LlmFailure] = []

    def stream(self, deadline: float = 1e9) -> ReplyStream:
        def release() -> None:
            self.released += 1

        def failed(failure: LlmFailure) -> LlmFailure:
            self.failures.append(failure)
            return failure

        return ReplyStream(
            ChatCompletions("m"), ASK, deadline=deadline, release=release, on_reply=lambda x: x, on_failure=failed
        )


async def test_text_of_one_piece_is_one_delta() -> None:
    """A reader that is behind gets more at once, not more deltas."""
    stream = Kept().stream()
    await stream.open(Wire(TEXT * 3 + CALL + TEXT, TEXT, STOP + DONE))
    deltas = [delta async for delta in stream]
    assert deltas[:4] == [TextDelta("hihihi"), CallDelta("look"), TextDelta("hi"), TextDelta("hi")]
    assert isinstance(deltas[4], ReplyDone)
    assert deltas[4].reply.text == "hi" * 5


async def test_opening_reads_until_something_is_there() -> None:
    """Comments and empty events are no beginning."""
    wire = Wire(b": wait\n\n", b'data: {"choices":[]}\n\n', TEXT, None)
    stream = Kept().stream()
    await stream.open(wire)
    assert wire.pieces == [None]
    assert await anext(stream) == TextDelta("hi")
    await stream.aclose()


async def test_a_whole_reply_gives_everything_back_before_it_is_read() -> None:
    """The slot is not held by a slow reader of a reply that is whole. Spec: BND-10."""
    kept, wire = Kept(), Wire(TEXT + STOP + DONE, b"")
    stream = kept.stream()
    await stream.open(wire)
    assert (kept.released, wire.closed >= 1) == (1, True)
    assert len([delta async for delta in stream]) == 2
    await stream.aclose()
    assert kept.released == 1


@pytest.mark.parametrize("tail", [(None,), (b"x" * 40_000,) * 9, (LlmFailure(FailureKind.TIMEOUT),)])
async def test_what_comes_after_the_end_spoils_nothing(tail: tuple, autojump_clock) -> None:
    """Silence, more and a broken connection behind the end leave the reply whole, within a moment."""
    stream, wire = Kept().stream(), Wire(TEXT + STOP + DONE, *tail)
    started = trio.current_time()
    await stream.open(wire)
    assert trio.current_time() - started < 0.1
    assert isinstance([delta async for delta in stream][-1], ReplyDone)
    assert len(wire.pieces) < 9


@pytest.mark.parametrize("tail", [(None,), (LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TRUNCATED),), ()])
async def test_a_reply_that_said_why_it_stops_is_whole(tail: tuple, autojump_clock) -> None:
    """Silence or a broken connection behind the reason takes at most a moment, and nothing away. Spec: MND-2."""
    kept = Kept()
    stream = kept.stream()
    await stream.open(Wire(TEXT, STOP, *tail))
    started = trio.current_time()
    deltas = [delta async for delta in stream]
    assert isinstance(deltas[-1], ReplyDone)
    assert trio.current_time() - started <= 2.0
    assert (kept.failures, kept.released) == ([], 1)


async def test_usage_behind_the_end_is_waited_for() -> None:
    """What a server counts comes after its reason to stop."""
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}\n\n'
    stream = Kept().stream()
    await stream.open(Wire(TEXT, STOP, usage, DONE))
    assert [delta async for delta in stream][-1].reply.usage.input_tokens == 7


async def test_a_broken_stream_is_told_once_and_then_over() -> None:
    """The failure is counted, everything is given back, and reading on ends."""
    kept, failure = Kept(), LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.TRUNCATED)
    stream = kept.stream()
    await stream.open(Wire(TEXT, failure))
    assert await anext(stream) == TextDelta("hi")
    with pytest.raises(LlmFailure):
        await anext(stream)
    assert [delta async for delta in stream] == []
    assert (kept.failures, kept.released) == ([failure], 1)


async def test_the_deadline_ends_a_silent_stream(autojump_clock) -> None:
    """At its moment, as a timeout."""
    kept = Kept()
    stream = kept.stream(deadline=trio.current_time() + 7)
    await stream.open(Wire(TEXT, None))
    await anext(stream)
    with pytest.raises(LlmFailure) as caught:
        await anext(stream)
    assert caught.value.kind is FailureKind.TIMEOUT
    assert trio.current_time() == pytest.approx(7)
    assert kept.released == 1


async def test_cancelling_a_reader_is_no_failure(autojump_clock) -> None:
    """Our own cancellation goes through and is not taken for the deadline's."""
    kept = Kept()
    stream = kept.stream()
    await stream.open(Wire(TEXT, None))
    await anext(stream)
    with trio.move_on_after(1) as scope:
        await anext(stream)
    assert scope.cancelled_caught
    assert kept.failures == []
    await stream.aclose()
    assert kept.released == 1


async def test_a_document_is_read_whole() -> None:
    """Its text is one delta; without text there is only the end."""
    stream = Kept().stream()
    await stream.open(Wire(b'{"choices":[{"message":', b'{"content":"hi"}}]}', kind="application/json; x=y"))
    assert [type(delta) for delta in [each async for each in stream]] == [TextDelta, ReplyDone]
    stream = Kept().stream()
    await stream.open(Wire(b'{"choices":[{"message":{"content":""}}]}', kind="Application/JSON"))
    assert [type(delta) for delta in [each async for each in stream]] == [ReplyDone]


async def test_a_whole_body_is_bounded() -> None:
    """More than a reply can be is refused while it comes. Spec: BND-17."""
    piece = b"x" * 65_536
    with pytest.raises(LlmFailure) as caught:
        await read_whole(Wire(*[piece] * (REPLY_BODY_MAX_BYTES // len(piece) + 1)))
    assert caught.value.bad_reply is BadReply.TOO_LONG
    assert await read_whole(Wire()) == b""
