"""A model that answers what a test wrote down, with failures and delays; no network.

Owns the steps of a script and the stream that hands a ready reply on in pieces (the built-in offline model uses it
too). Ships with the product, so that whoever embeds it tests against the same fake. Decides nothing.

Invariant: each request takes exactly one step, and one too many is a bug that no fallback line hides (Spec: MND-1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Final, Self, TypeAlias

import attrs
import trio

from gridagent.errors import InternalError
from gridagent.language import (
    CallDelta,
    FailureKind,
    FinishReason,
    LlmDelta,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ReplyDone,
    TextDelta,
    ToolCall,
)

__all__ = ("After", "BreakOff", "Hang", "ReadyStream", "ScriptStep", "ScriptedModel", "call_reply", "deltas_of")

REQUESTS_KEPT: Final = 1_024
STEPS_MAX: Final = 4_096


@attrs.frozen
class After:
    """Takes a while, and then goes on; longer than the request's deadline is a timeout."""

    seconds: float
    then: ScriptStep


@attrs.frozen
class Hang:
    """Never answers; the request's deadline ends it."""


@attrs.frozen
class BreakOff:
    """Begins to speak and fails; asked for a whole reply, it only fails."""

    text: str
    failure: LlmFailure


_Settled: TypeAlias = str | LlmReply | LlmFailure | BreakOff | Callable[[LlmRequest], LlmReply]
ScriptStep: TypeAlias = _Settled | After | Hang
"""One answer. A text is a plain reply; a function is given the request."""


def call_reply(*calls: tuple[str, str], text: str = "") -> LlmReply:
    """Return a reply that calls tools, each given as name and raw arguments."""
    made = tuple(ToolCall(id=f"call{n:05}", name=name, arguments=raw) for n, (name, raw) in enumerate(calls, 1))
    return LlmReply(text=text, tool_calls=made, finish=FinishReason.TOOL_CALLS if made else FinishReason.STOP)


def deltas_of(reply: LlmReply) -> Iterator[LlmDelta]:
    """Yield a whole reply as a provider would stream it: word by word, then the calls, then the end."""
    start = 0
    while start < len(reply.text):
        blank = reply.text.find(" ", start + 1)
        stop = blank if blank >= 0 else len(reply.text)
        yield TextDelta(reply.text[start:stop])
        start = stop
    for call in reply.tool_calls:
        yield CallDelta(call.name)
    yield ReplyDone(reply)


class ReadyStream:
    """Hands on what is there already; implements `gridagent.llm.base.ModelStream`."""

    __slots__ = ("_deltas", "_failure")

    def __init__(self, deltas: Iterable[LlmDelta], failure: LlmFailure | None = None) -> None:
        self._deltas = iter(deltas)
        self._failure = failure

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LlmDelta:
        """Return the next delta."""
        await trio.lowlevel.checkpoint()
        delta = next(self._deltas, None)
        if delta is not None:
            return delta
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        raise StopAsyncIteration


class ScriptedModel:
    """Implements `gridagent.llm.base.LanguageModel` from a list.

    Args:
        steps: one a request, in order; at most `STEPS_MAX`.
        repeat_last: answer on with the last step when the others are used up.

    Bounds: the last `REQUESTS_KEPT` requests are kept in `requests`.
    """

    __slots__ = ("_repeat_last", "_steps", "requests")

    def __init__(self, steps: Iterable[ScriptStep], *, repeat_last: bool = False) -> None:
        self._steps = deque(steps, maxlen=STEPS_MAX)
        self._repeat_last = repeat_last
        self.requests: deque[LlmRequest] = deque(maxlen=REQUESTS_KEPT)
        """What was asked, oldest first."""

    @property
    def steps_left(self) -> int:
        """How many steps no request has taken."""
        return len(self._steps)

    async def complete(self, request: LlmRequest) -> LlmReply:
        """Return the next step's reply.

        Raises:
            LlmFailure: the next step is one, or takes longer than the deadline.
            InternalError: the script is over.
        """
        await trio.lowlevel.checkpoint()
        step = await self._arrive(request)
        if isinstance(step, BreakOff):
            raise step.failure
        return step

    @asynccontextmanager
    async def stream(self, request: LlmRequest) -> AsyncIterator[ReadyStream]:
        """Open the next step's reply as a stream; see `complete`."""
        await trio.lowlevel.checkpoint()
        step = await self._arrive(request)
        if isinstance(step, BreakOff):
            begun = [delta for delta in deltas_of(LlmReply(text=step.text)) if not isinstance(delta, ReplyDone)]
            yield ReadyStream(begun, step.failure)
        else:
            yield ReadyStream(deltas_of(step))

    async def _arrive(self, request: LlmRequest) -> LlmReply | BreakOff:
        """Take the next step and let its time pass."""
        self.requests.append(request)
        step = self._next()
        with trio.move_on_after(request.deadline_s):
            while isinstance(step, After):
                await trio.sleep(step.seconds)
                step = step.then
            if isinstance(step, Hang):
                await trio.sleep_forever()
            return _settled(step, request)
        raise LlmFailure(FailureKind.TIMEOUT)

    def _next(self) -> ScriptStep:
        if not self._steps:
            raise InternalError("a scripted model was asked more often than its script has steps")
        if self._repeat_last and len(self._steps) == 1:
            return self._steps[0]
        return self._steps.popleft()


def _settled(step: _Settled, request: LlmRequest) -> LlmReply | BreakOff:
    match step:
        case str():
            return LlmReply(text=step)
        case LlmReply() | BreakOff():
            return step
        case LlmFailure():
            raise step
        case _:
            return step(request)
