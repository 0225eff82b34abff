"""A language model behind an endpoint: slots, tries, deadline and one codec over one transport.

Owns the order of things: check and encode once, wait for a slot, send, read within the deadline, try again when
that helps, and leave neither slot nor connection behind. What the wire means is the codec's, how bytes travel is
the transport's. The turn asks; nobody else does.

Invariant: whatever an endpoint sends, `complete` and `stream` end within ``request.deadline_s`` with a reply or one
`LlmFailure` without any of its text (Spec: MND-1, MND-2, MND-3, BND-8, BND-10, BND-17, Fault: 21, 22).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Final, TypeVar

import msgspec
import trio

from gridagent.errors import LocalProtocolError
from gridagent.language import (
    CacheUse,
    FailureKind,
    LlmFailure,
    LlmReply,
    LlmRequest,
    pairing_problem,
)
from gridagent.llm.base import Codec, Transport, WireReply, WireRequest
from gridagent.llm.prices import Prices, cost_of
from gridagent.llm.retry import RetryPolicy, retrying
from gridagent.llm.retry_after import retry_after_s
from gridagent.llm.slots import Slots, SlotStatistics
from gridagent.llm.streaming import ReplyStream, read_whole
from gridagent.observability import Log

__all__ = ("ClientStatistics", "LlmClient")

_OK: Final = 200
_REFUSAL_MAX_BYTES: Final = 64 * 1024
_REFUSAL_S: Final = 2.0
"""Longest a refusal's words are waited for."""
_LOGGED_MAX_CHARS: Final = 2_048


T = TypeVar("T")


class ClientStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What a client did so far."""

    requests: int
    """Asked for, whatever became of them."""
    tries: int
    """Sent to the endpoint."""
    replies: int
    failures: dict[str, int]
    """By `FailureKind`, those that reached the caller."""
    input_tokens: int
    output_tokens: int
    slots: SlotStatistics


class LlmClient:
    """Implements `gridagent.llm.base.LanguageModel` over a transport and a codec.

    Args:
        transport: carries the bytes; closed with the client.
        codec: knows the wire.
        slots: shared by every client of a service.
        rng: where the jitter of retries comes from.
        policy: how patient we are.
        prices: for what a provider does not say; None leaves costs unknown.
        log: takes what providers say, redacted.
    """

    __slots__ = ("_codec", "_counts", "_failures", "_log", "_policy", "_prices", "_rng", "_slots", "_transport")

    def __init__(
        self,
        transport: Transport,
        codec: Codec,
        *,
        slots: Slots,
        rng: Random,
        policy: RetryPolicy | None = None,
        prices: Prices | None = None,
        log: Log | None = None,
    ) -> None:
        self._transport = transport
        self._codec = codec
        self._slots = slots
        self._rng = rng
        self._policy = policy or RetryPolicy()
        self._prices = prices
        self._log = log
        self._counts: Counter[str] = Counter()  # a few fixed names
        self._failures: Counter[str] = Counter()  # one a kind

    async def complete(self, request: LlmRequest) -> LlmReply:
        """Return the whole answer.

        Raises:
            LlmFailure: there is none, and why.
            LocalProtocolError: calls and results of the request are not paired.

        Cancellation: safe at any point; no slot and no connection is kept.
        """
        wire, deadline = self._begin(request, streaming=False)

        async def attempt() -> LlmReply:
            async with self._slots.hold():
                reply = await self._post(wire, request)
                try:
                    return self._decode(await read_whole(reply), request)
                finally:
                    await reply.aclose()

        with trio.CancelScope(deadline=deadline):
            try:
                return self._replied(await self._tried(attempt, request, deadline))
            except LlmFailure as failure:
                self._failed(failure)
                raise
        raise self._failed(LlmFailure(FailureKind.TIMEOUT))

    @asynccontextmanager
    async def stream(self, request: LlmRequest) -> AsyncIterator[ReplyStream]:
        """Open an answer that comes in pieces; leaving the block ends it, read or not.

        It is tried again only while nothing of it was handed on.

        Raises:
            LlmFailure: on entering and on reading: there is no whole answer, and why.
            LocalProtocolError: calls and results of the request are not paired.

        Cancellation: as `complete`.
        """
        wire, deadline = self._begin(request, streaming=True)

        async def attempt() -> ReplyStream:
            await self._slots.acquire()
            opened = ReplyStream(
                self._codec,
                request,
                deadline=deadline,
                release=self._slots.release,
                on_reply=self._replied,
                on_failure=self._failed,
            )
            try:
                await opened.open(await self._post(wire, request))
            except BaseException:
                await opened.aclose()
                raise
            return opened

        opened = None
        with trio.CancelScope(deadline=deadline):
            try:
                opened = await self._tried(attempt, request, deadline)
            except LlmFailure as failure:
                self._failed(failure)
                raise
        if opened is None:
            raise self._failed(LlmFailure(FailureKind.TIMEOUT))
        try:
            yield opened
        finally:
            await opened.aclose()

    def statistics(self) -> ClientStatistics:
        """Return the counts."""
        return ClientStatistics(
            requests=self._counts["requests"],
            tries=self._counts["tries"],
            replies=self._counts["replies"],
            failures=dict(self._failures),
            input_tokens=self._counts["input_tokens"],
            output_tokens=self._counts["output_tokens"],
            slots=self._slots.statistics(),
        )

    async def aclose(self) -> None:
        """Close the transport; requests under way fail as cancelled."""
        await self._transport.aclose()

    # --- inside -----------------------------------------------------------------------------------

    def _begin(self, request: LlmRequest, *, streaming: bool) -> tuple[WireRequest, float]:
        """Check a request and encode it once for all tries."""
        self._counts["requests"] += 1
        problem = pairing_problem(request.turns)
        if problem is not None:
            raise LocalProtocolError(f"a request to a model is not paired: {problem}")
        try:
            body = self._codec.encode(request, streaming=streaming)
        except LlmFailure as failure:
            self._failed(failure)
            raise
        wire = WireRequest(body=body, streaming=streaming, no_cache=request.cache is CacheUse.BYPASS)
        return wire, trio.current_time() + request.deadline_s

    async def _tried(self, attempt: Callable[[], Awaitable[T]], request: LlmRequest, deadline: float) -> T:
        return await retrying(
            attempt,
            deadline=deadline,
            policy=self._policy,
            rng=self._rng,
            on_retry=lambda failure, pause: self._note_retry(failure, pause, request),
        )

    async def _post(self, wire: WireRequest, request: LlmRequest) -> WireReply:
        """Send once and return a reply of status 200; the caller closes it."""
        self._counts["tries"] += 1
        reply = await self._transport.post(wire)
        if reply.status == _OK:
            return reply
        try:
            body = await _beginning(reply, _REFUSAL_MAX_BYTES)
            failure = self._codec.refusal(reply.status, body, request)
            failure.retry_after_s = retry_after_s(reply.header)
        finally:
            await reply.aclose()
        self._log_refusal(failure, body, request)
        raise failure

    def _decode(self, body: bytes, request: LlmRequest) -> LlmReply:
        try:
            return self._codec.decode(body, request)
        except LlmFailure as failure:
            self._log_refusal(failure, body, request)
            raise

    def _replied(self, reply: LlmReply) -> LlmReply:
        self._counts["replies"] += 1
        self._counts["input_tokens"] += reply.usage.input_tokens
        self._counts["output_tokens"] += reply.usage.output_tokens
        if reply.cost_micros is None and self._prices is not None:
            return msgspec.structs.replace(reply, cost_micros=cost_of(reply.usage, self._prices))
        return reply

    def _failed(self, failure: LlmFailure) -> LlmFailure:
        self._failures[failure.kind.value] += 1
        return failure

    def _log_refusal(self, failure: LlmFailure, body: bytes, request: LlmRequest) -> None:
        if self._log is not None:
            text = body[: 4 * _LOGGED_MAX_CHARS].decode("utf-8", "replace")[:_LOGGED_MAX_CHARS]
            self._log.warning(
                "llm_refused",
                correlation=request.correlation,
                kind=failure.kind.value,
                status=failure.status,
                provider_text=text,
            )

    def _note_retry(self, failure: LlmFailure, pause_s: float, request: LlmRequest) -> None:
        if self._log is not None:
            self._log.info(
                "llm_retry",
                correlation=request.correlation,
                kind=failure.kind.value,
                bad_reply=failure.bad_reply,
                pause_s=round(pause_s, 3),
            )


async def _beginning(reply: WireReply, most: int) -> bytes:
    """Return the beginning of a body that only has to be understood roughly; its status has come already."""
    kept = bytearray()
    with trio.move_on_after(_REFUSAL_S):
        try:
            while len(kept) < most and (data := await reply.receive()):
                kept += data[: most - len(kept)]
        except LlmFailure:
            pass  # what came so far still says more than nothing
    return bytes(kept)
