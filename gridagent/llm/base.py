"""The ports of the room: what a language model is, what carries bytes to one, and what knows its wire.

Owns three protocols and no behaviour. `LanguageModel` is what the rest of the project sees; whoever speaks it
(an endpoint, the built-in offline model, a test's script) can stand in for any other. `Transport` is what a
simulation replaces. `Codec` turns requests into bytes and bytes into replies without any IO.

Invariant: every way to fail is an `LlmFailure`, and nothing here can cause anything in the world
(Spec: MND-1, MND-18).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from gridagent.language import LlmDelta, LlmFailure, LlmReply, LlmRequest

__all__ = ("Codec", "LanguageModel", "ModelStream", "ReplyDecoder", "Transport", "WireReply", "WireRequest")


class ModelStream(Protocol):
    """A reply on its way. Read it in the task that opened it."""

    def __aiter__(self) -> ModelStream: ...

    async def __anext__(self) -> LlmDelta:
        """Return the next delta; the last one is a `ReplyDone`.

        Raises:
            StopAsyncIteration: the `ReplyDone` was read.
            LlmFailure: the reply will not become whole. What was read before is worth nothing.

        Cancellation: ends the reply; leave the block.
        """
        ...


class LanguageModel(Protocol):
    """Something that answers. Several tasks may use one at once."""

    async def complete(self, request: LlmRequest) -> LlmReply:
        """Return the whole answer.

        Raises:
            LlmFailure: there is none, and why.

        Cancellation: safe at any point; no slot and no connection is kept.
        """
        ...

    def stream(self, request: LlmRequest) -> AbstractAsyncContextManager[ModelStream]:
        """Open an answer that comes in pieces; leaving the block ends it, read or not.

        Raises:
            LlmFailure: on entering, when no reply begins.

        Cancellation: as `complete`.
        """
        ...


# --- bytes ----------------------------------------------------------------------------------------


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent; to where and with which key only the transport knows."""

    body: bytes
    streaming: bool = False
    """Whether events are wanted rather than one document."""
    no_cache: bool = False
    """Whether caches on the way are asked to stand aside."""


class WireReply(Protocol):
    """A reply whose head has come."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    def header(self, name: str) -> str:
        """Return one header's value, at most 256 characters of it; empty where there is none."""
        ...

    async def receive(self) -> bytes:
        """Return the next piece of the decompressed body, at most 64 KiB; empty at its end.

        Raises:
            LlmFailure: the body is over its bound, broken, or late.
        """
        ...

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, and close it otherwise. Idempotent."""
        ...


class Transport(Protocol):
    """Carries requests to one endpoint."""

    async def post(self, request: WireRequest) -> WireReply:
        """Send a request and return when the head of the reply is there; the caller closes it.

        Raises:
            LlmFailure: there is no reply.

        Cancellation: safe; no connection is kept.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection; what is under way fails."""
        ...


# --- codec ----------------------------------------------------------------------------------------


class ReplyDecoder(Protocol):
    """Reads one streamed reply: feed it bytes, in pieces of any size; sans-IO."""

    @property
    def complete(self) -> bool:
        """Whether the reply said that it is done; what still comes is not needed."""
        ...

    @property
    def ending(self) -> bool:
        """Whether the reply said why it stops: nothing but its usage is still to come."""
        ...

    def feed(self, data: bytes) -> Sequence[LlmDelta]:
        """Take bytes and return what they mean.

        Raises:
            LlmFailure: they mean no reply.
        """
        ...

    def finish(self) -> LlmReply:
        """Return the whole reply; called once, when no more bytes come.

        Raises:
            LlmFailure: it is not whole.
        """
        ...


class Codec(Protocol):
    """One provider's wire format."""

    def encode(self, request: LlmRequest, *, streaming: bool) -> bytes:
        """Return the body to send.

        Raises:
            LlmFailure: it is larger than the request allows.
        """
        ...

    def decode(self, body: bytes, request: LlmRequest) -> LlmReply:
        """Read a whole body that came with status 200.

        Raises:
            LlmFailure: it is no reply.
        """
        ...

    def decoder(self, request: LlmRequest) -> ReplyDecoder:
        """Return a decoder for one streamed reply."""
        ...

    def refusal(self, status: int, body: bytes, request: LlmRequest) -> LlmFailure:
        """Say what a status other than 200 means.

        Args:
            status: as it came.
            body: at most the first 64 KiB of what came with it.
            request: what was asked.
        """
        ...
