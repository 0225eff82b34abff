"""One streamed reply on its way: from a reply's bytes to deltas, within a deadline, holding a slot.

Owns reading ahead to the first delta (so that a failure before it can be tried again), the deadline of each read,
and giving everything back once the reply is whole or broken, also when its reader has not read that far. Made by
`gridagent.llm.client` only; what the bytes mean is the codec's.

Invariant: the slot is released exactly once, and a `ReplyDone` is the last delta of a whole reply (Spec: MND-2,
BND-10).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

import trio

from gridagent.language import BadReply, FailureKind, LlmDelta, LlmFailure, LlmReply, LlmRequest, ReplyDone, TextDelta
from gridagent.llm.base import Codec, ReplyDecoder, WireReply
from gridagent.llm.untrusted import REPLY_BODY_MAX_BYTES, unusable

__all__ = ("ReplyStream", "read_whole")

_DRAIN_S: Final = 0.05
"""Longest a finished stream's end is waited for; it saves the next request a new connection."""
_ENDING_S: Final = 2.0
"""Longest the usage is waited for that may follow the end of the text."""
_DRAIN_MAX_BYTES: Final = 64 * 1024
_DOCUMENTS: Final = frozenset({"application/json", "application/problem+json", "text/html"})


class ReplyStream:
    """Implements `gridagent.llm.base.ModelStream`. Its deadline bounds each wait for bytes, never its reader.

    Args:
        codec: knows the wire.
        request: what was asked.
        deadline: on the trio clock.
        release: gives the slot back that the maker acquired.
        on_reply: sees the whole reply, and returns it with its cost.
        on_failure: sees a failure while reading.
    """

    __slots__ = (
        "_codec",
        "_deadline",
        "_decoder",
        "_done",
        "_held",
        "_on_failure",
        "_on_reply",
        "_ready",
        "_release",
        "_reply",
        "_request",
        "_shown",
    )

    def __init__(
        self,
        codec: Codec,
        request: LlmRequest,
        *,
        deadline: float,
        release: Callable[[], object],
        on_reply: Callable[[LlmReply], LlmReply],
        on_failure: Callable[[LlmFailure], LlmFailure],
    ) -> None:
        self._codec = codec
        self._request = request
        self._deadline = deadline
        self._release = release
        self._on_reply = on_reply
        self._on_failure = on_failure
        self._reply: WireReply | None = None
        self._decoder: ReplyDecoder | None = None
        self._ready: list[LlmDelta] = []  # what one piece of at most 64 KiB meant, text joined
        self._shown = 0
        self._done = False
        self._held = True

    async def open(self, reply: WireReply) -> None:
        """Take over a reply and read until its first delta.

        Raises:
            LlmFailure: there is none.
        """
        self._reply = reply
        kind = reply.header("content-type").partition(";")[0].strip().lower()
        if kind in _DOCUMENTS:
            # A document where events were asked for: some servers do that when tools are offered, all on errors.
            self._finish(self._codec.decode(await read_whole(reply), self._request))
            await self.aclose()
            return
        self._decoder = self._codec.decoder(self._request)
        while not self._ready:
            await self._read(reply, self._decoder)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LlmDelta:
        """Return the next delta; see `gridagent.llm.base.ModelStream`."""
        await trio.lowlevel.checkpoint()
        while not self._ready:
            if self._done or self._reply is None or self._decoder is None:
                raise StopAsyncIteration
            failure = None
            with trio.CancelScope(deadline=self._deadline) as scope:
                try:
                    await self._read(self._reply, self._decoder)
                except LlmFailure as error:
                    failure = error
            if scope.cancelled_caught:
                failure = LlmFailure(FailureKind.TIMEOUT)
            if failure is not None:
                await self.aclose()
                raise self._on_failure(failure)
        return self._ready.pop(0)

    async def aclose(self) -> None:
        """Give back the connection and the slot; idempotent.

        Cancellation: shielded by the transport, up to a second.
        """
        self._done = True
        try:
            if self._reply is not None:
                await self._reply.aclose()
        finally:
            if self._held:
                self._held = False
                self._release()

    async def _read(self, reply: WireReply, decoder: ReplyDecoder) -> None:
        """Read one piece of the body and what it means."""
        data = await (_tail(reply) if decoder.ending else reply.receive())
        for delta in decoder.feed(data) if data else ():
            self._add(delta)
        if not data or decoder.complete:
            self._finish(decoder.finish())
            if data:
                await _drain(reply)
            await self.aclose()

    def _add(self, delta: LlmDelta) -> None:
        if isinstance(delta, TextDelta):
            self._shown += len(delta.text)
            last = self._ready[-1] if self._ready else None
            if isinstance(last, TextDelta):
                self._ready[-1] = TextDelta(last.text + delta.text)
                return
        self._ready.append(delta)

    def _finish(self, whole: LlmReply) -> None:
        rest = whole.text[self._shown :]
        if rest:
            self._add(TextDelta(rest))
        self._ready.append(ReplyDone(self._on_reply(whole)))


async def read_whole(reply: WireReply) -> bytes:
    """Return the whole body.

    Raises:
        LlmFailure: it is over its bound, broken or late.
    """
    first = await reply.receive()
    pieces, size = [first], len(first)
    while first and (data := await reply.receive()):
        pieces.append(data)
        size += len(data)
        if size > REPLY_BODY_MAX_BYTES:
            raise unusable(BadReply.TOO_LONG)
    return b"".join(pieces)


async def _tail(reply: WireReply) -> bytes:
    """Return what follows once the reply said why it stops; nothing if that is silence or a broken connection."""
    with trio.move_on_after(_ENDING_S):
        try:
            return await reply.receive()
        except LlmFailure:
            return b""
    return b""


async def _drain(reply: WireReply) -> None:
    """Read what comes after the end, so that the connection can be used again; a little, for a little while."""
    size = 0
    with trio.move_on_after(_DRAIN_S):
        try:
            while size <= _DRAIN_MAX_BYTES and (data := await reply.receive()):
                size += len(data)
        except LlmFailure:
            return  # the reply is whole; its connection is not
