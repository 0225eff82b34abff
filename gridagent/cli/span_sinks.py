"""Where a run's spans are handed over: a collector over HTTP, or a file with one message a line (Spec: OPS-2).

Owns one message's way out and what its failures mean; knows no queue and no retry. The HTTP is the model's hardened
transport: one exact URL, no redirects, no proxies, every reply bounded. Used by `gridagent.cli.tracing`.

Invariant: no error from here holds a token, a URL's query or anything that a collector said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

import trio

from gridagent.cli.log_file import FilePurpose, LogFile
from gridagent.config.model import LogConfig
from gridagent.config.secrets import EndpointUrl, SecretStr, derived_forms
from gridagent.errors import OutcomeUnknown
from gridagent.language import FailureKind, LlmFailure
from gridagent.limits import KIB
from gridagent.llm.base import WireRequest
from gridagent.observability import Redactor, TextStream
from gridagent.runtime.ports import Blocking

__all__ = ("SEND_S", "SpanCollector", "SpanFile", "SpanGoal", "Unsent", "token_header")

SEND_S: Final = 10.0
"""Longest that handing over one message may take."""
_REPLY_MAX_BYTES: Final = 64 * KIB
_AGAIN: Final = frozenset({429, 502, 503, 504})
"""Answers after which OTLP sends the same again."""
_OK: Final = range(200, 300)
_FILE: Final = FilePurpose(
    name="file of traces", key="$.tracing.file", mend="set it to a file that this user may write, or remove it"
)


class Unsent(Exception):
    """A message was not handed over."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again
        """Whether the same message may get through later."""


class SpanGoal(Protocol):
    """Takes messages of spans, one at a time."""

    async def send(self, message: bytes) -> bytes:
        """Hand over one message and return what was answered.

        Raises:
            Unsent: it was not, as far as anybody knows.
        """
        ...

    async def aclose(self) -> None:
        """Let go of what is open."""
        ...


class SpanFile:
    """A file with one message a line, set aside as the log is.

    Args:
        path: of the file.
        bounds: how large it may be, and how many are kept.
        complain: told in one sentence that it cannot be set aside.
        blocking: where it is written.

    Raises:
        ConfigError: it cannot be opened.
    """

    __slots__ = ("_blocking", "_file")

    def __init__(self, path: Path, bounds: LogConfig, complain: TextStream, blocking: Blocking) -> None:
        self._blocking = blocking
        self._file = LogFile(
            path, max_bytes=bounds.max_bytes, keep=bounds.keep_files, complain=complain.write, purpose=_FILE
        )

    async def send(self, message: bytes) -> bytes:
        """Write one line."""
        try:
            await self._blocking.run(self._write, message.decode(), name="traces")
        except OSError as error:
            raise Unsent(error.strerror or "unknown error", again=True) from None
        except OutcomeUnknown:
            raise Unsent("the disk did not answer in time", again=False) from None  # it may have been written
        return b""

    def _write(self, line: str) -> None:
        self._file.write(f"{line}\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    async def aclose(self) -> None:
        """Close the file; idempotent."""
        self.close()


class SpanCollector:
    """A collector that takes OTLP over HTTP as JSON.

    Args:
        endpoint: its one exact URL.
        headers: sent with each message.
    """

    __slots__ = ("_transport",)

    def __init__(self, endpoint: EndpointUrl, headers: dict[str, SecretStr]) -> None:
        from gridagent.llm.transport import HttpTransport  # noqa: PLC0415 - only who asks pays for it

        self._transport = HttpTransport(endpoint, headers=headers, body_max_bytes=_REPLY_MAX_BYTES, concurrency_max=1)

    async def send(self, message: bytes) -> bytes:
        """Send one message and return the answer."""
        try:
            with trio.fail_after(SEND_S):
                return await self._post(message)
        except trio.TooSlowError:
            raise Unsent(FailureKind.TIMEOUT.value, again=True) from None
        except LlmFailure as error:
            raise Unsent(error.kind.value, again=error.kind is not FailureKind.REJECTED) from None

    async def _post(self, message: bytes) -> bytes:
        reply = await self._transport.post(WireRequest(body=message))
        try:
            if reply.status not in _OK:
                raise Unsent(f"status {reply.status}", again=reply.status in _AGAIN)
            pieces = []
            while piece := await reply.receive():
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            await reply.aclose()

    async def aclose(self) -> None:
        """Close its connection."""
        await self._transport.aclose()


def token_header(name: str, token: SecretStr | None, redactor: Redactor) -> dict[str, SecretStr]:
    """Return the header that carries a token: in ``Authorization``, one of one word is a bearer's.

    Args:
        name: of the header.
        token: what the file holds; None sends none.
        redactor: learns what stands behind a scheme, which is secret without it too.
    """
    if token is None:
        return {}
    scheme, space, rest = token.reveal().partition(" ")
    if space:
        redactor.learn("tracing.token", derived_forms(rest))
        return {name: token}
    return {name: SecretStr(f"Bearer {scheme}") if name.casefold() == "authorization" else token}
