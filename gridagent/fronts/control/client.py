"""The other end of the control endpoint: one connection of a command, a test or a tool.

Owns the greeting and the reading of replies under deadlines; trusts the service only when it knows the
endpoint file's instance. Raises `NotRunning` and `EndpointRefused`, each with a sentence for an operator.
Used by the command line; knows no terminal.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, TypeVar

import msgspec
import trio

from gridagent.config.secrets import SecretStr
from gridagent.controls import Control, ControlReply
from gridagent.errors import LimitExceeded, OperatorError, RemoteProtocolError
from gridagent.fronts.control.frames import LineBuffer, decode_reply, encode_request
from gridagent.fronts.control.rendezvous import Endpoint
from gridagent.fronts.control.words import (
    PROTOCOL_VERSION,
    Answered,
    ApprovalRow,
    AuditChecked,
    AuditRow,
    BackUp,
    CheckAudit,
    Done,
    DoubtRow,
    Ended,
    ExportAudit,
    ExportHeld,
    FileWritten,
    ForgetHeld,
    HeldGone,
    HeldRow,
    Hello,
    HoldAll,
    ListApprovals,
    ListDoubts,
    ListHeld,
    Missed,
    Observe,
    Observed,
    Omitted,
    Refused,
    Reply,
    Request,
    SearchAudit,
    SendControl,
    ShowStatus,
    ShowStorage,
    StatusRow,
    StorageRow,
    TailAudit,
    Welcome,
)
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import MESSAGE_MAX_BYTES
from gridagent.runtime.ports import Network

__all__ = ("ControlClient", "EndpointRefused", "NotRunning", "StreamItem", "open_client")

CONNECT_TIMEOUT_S: Final = 5.0
REPLY_TIMEOUT_S: Final = 30.0
"""Longer than the service waits for an avatar."""
_CHUNK_BYTES: Final = 64 * 1024

StreamItem: TypeAlias = StatusRow | Observed | Missed | Omitted | Ended | Refused
"""What comes of observing."""


R = TypeVar("R", bound=Reply)


class NotRunning(OperatorError):
    """No service can be reached."""

    code = "not_running"


class EndpointRefused(OperatorError):
    """The service did not carry out a request; ``reason`` is its stable code."""

    code = "endpoint_refused"

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class ControlClient:
    """One authenticated connection; made by `open_client`. One request at a time."""

    __slots__ = ("_buffer", "_number", "_stream", "_timeout_s", "service_version")

    def __init__(self, stream: trio.abc.Stream, *, timeout_s: float = REPLY_TIMEOUT_S) -> None:
        self._stream = stream
        self._buffer = LineBuffer(MESSAGE_MAX_BYTES)
        self._number = 0
        self._timeout_s = timeout_s
        self.service_version = ""

    async def greet(self, token: SecretStr, *, instance: str) -> None:
        """Show the token and look who answers.

        Raises:
            NotRunning: something else answers on the port, or nothing does.
            EndpointRefused: the service does not accept the token or the version.
        """
        hello = Hello(id=self._next_number(), protocol=PROTOCOL_VERSION, token=token.reveal())
        await self._send(encode_request(hello, MESSAGE_MAX_BYTES))
        reply = await self._reply()
        if isinstance(reply, Refused):
            raise EndpointRefused(reply.code, f"the service refused the connection: {reply.message}")
        if not isinstance(reply, Welcome) or reply.instance != instance:
            raise NotRunning(
                "another program answers on the control port of a service that is gone; start the service again"
            )
        self.service_version = reply.version

    async def status(self, avatar: AvatarKey | None = None) -> tuple[StatusRow, ...]:
        """Return the status of one avatar or of all."""
        rows = await self._rows(ShowStatus(id=self._next_number(), avatar=avatar))
        return tuple(row for row in rows if isinstance(row, StatusRow))

    async def approvals(self, avatar: AvatarKey | None = None) -> tuple[ApprovalRow, ...]:
        """Return the approvals that wait."""
        rows = await self._rows(ListApprovals(id=self._next_number(), avatar=avatar))
        return tuple(row for row in rows if isinstance(row, ApprovalRow))

    async def audit(self, avatar: AvatarKey | None = None, *, most: int = 20) -> tuple[AuditRow, ...]:
        """Return the newest audit records, oldest first."""
        rows = await self._rows(TailAudit(id=self._next_number(), avatar=avatar, most=most))
        return tuple(row for row in rows if isinstance(row, AuditRow))

    async def in_doubt(self, avatar: AvatarKey | None = None) -> tuple[DoubtRow, ...]:
        """Return every effect of which nobody knows whether it happened."""
        rows = await self._rows(ListDoubts(id=self._next_number(), avatar=avatar))
        return tuple(row for row in rows if isinstance(row, DoubtRow))

    async def search_audit(self, wanted: SearchAudit) -> tuple[AuditRow, ...]:
        """Return one page of the stored audit trail, the oldest first."""
        rows = await self._rows(msgspec.structs.replace(wanted, id=self._next_number()))
        return tuple(row for row in rows if isinstance(row, AuditRow))

    async def verify_audit(self) -> AuditChecked:
        """Have the whole audit trail checked; takes as long as it takes."""
        return await self._one(CheckAudit(id=self._next_number()), AuditChecked)

    async def export_audit(self, file: str) -> FileWritten:
        """Have the audit trail written to a new file; takes as long as it takes."""
        return await self._one(ExportAudit(id=self._next_number(), file=file), FileWritten)

    async def back_up(self, file: str) -> FileWritten:
        """Have the database copied to a new file; takes as long as it takes."""
        return await self._one(BackUp(id=self._next_number(), file=file), FileWritten)

    async def held(self, person: AvatarId, avatar: AvatarKey | None = None) -> tuple[HeldRow, ...]:
        """Return the newest of what is remembered of a person."""
        rows = await self._rows(ListHeld(id=self._next_number(), avatar=avatar, person=person))
        return tuple(row for row in rows if isinstance(row, HeldRow))

    async def export_held(self, person: AvatarId, file: str, avatar: AvatarKey | None = None) -> FileWritten:
        """Have all that is remembered of a person written to a new file."""
        request = ExportHeld(id=self._next_number(), avatar=avatar, person=person, file=file)
        return await self._one(request, FileWritten)

    async def forget_held(self, person: AvatarId, avatar: AvatarKey | None = None) -> HeldGone:
        """Have all that is stored of a person deleted."""
        return await self._one(ForgetHeld(id=self._next_number(), avatar=avatar, person=person), HeldGone)

    async def storage(self, *, retry: bool = False) -> StorageRow:
        """Return how storage is; first try to leave safe mode, if that is wished."""
        return await self._one(ShowStorage(id=self._next_number(), retry=retry), StorageRow)

    async def control(self, control: Control, avatar: AvatarKey | None = None) -> tuple[AvatarKey, ControlReply]:
        """Send one control; returns who answered, and what.

        Raises:
            LimitExceeded: the control does not fit into a frame.

        Cancellation: the control may be carried out all the same.
        """
        await self._ask(SendControl(id=self._next_number(), avatar=avatar, control=control))
        reply = self._checked(await self._reply())
        if not isinstance(reply, Answered):
            raise RemoteProtocolError("the service answered a control with something else")
        return reply.avatar, reply.answer

    async def hold_all(self) -> tuple[tuple[AvatarKey, ControlReply], ...]:
        """Throw the kill switch of every avatar (Spec: POL-12)."""
        rows = await self._rows(HoldAll(id=self._next_number()))
        return tuple((row.avatar, row.answer) for row in rows if isinstance(row, Answered))

    async def observe(self, avatars: tuple[AvatarKey, ...] = ()) -> AsyncGenerator[StreamItem, None]:
        """Yield a status of each avatar, then observations, until every avatar has stopped.

        Raises:
            NotRunning: the service is gone.
            EndpointRefused: it does not let this connection observe.
        """
        await self._ask(Observe(id=self._next_number(), avatars=avatars))
        began = False
        while True:
            reply = await self._reply(patient=True)
            if isinstance(reply, Done):
                return
            if isinstance(reply, Refused) and not began:
                self._checked(reply)
            began = True
            if isinstance(reply, StatusRow | Observed | Missed | Omitted | Ended | Refused):
                yield reply

    # --- the wire -----------------------------------------------------------------------------------

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    async def _rows(self, request: Request) -> list[Reply]:
        await self._ask(request)
        rows: list[Reply] = []
        while not isinstance(reply := self._checked(await self._reply()), Done):
            rows.append(reply)
        return rows

    async def _one(self, request: Request, kind: type[R]) -> R:
        await self._ask(request)
        reply = self._checked(await self._reply(patient=True))
        if not isinstance(reply, kind):
            raise RemoteProtocolError("the service answered a question with something else")
        return reply

    @staticmethod
    def _checked(reply: Reply) -> Reply:
        if isinstance(reply, Refused):
            raise EndpointRefused(reply.code, f"the service refused: {reply.message}")
        return reply

    async def _ask(self, request: Request) -> None:
        await self._send(encode_request(request, MESSAGE_MAX_BYTES))

    async def _send(self, line: bytes) -> None:
        try:
            with trio.fail_after(self._timeout_s):
                await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError) as error:
            raise NotRunning("the service is gone or does not answer; look at its log") from error

    async def _reply(self, *, patient: bool = False) -> Reply:
        """Wait for one reply; a stream's next may take as long as it likes."""
        with trio.CancelScope() as scope:
            if not patient:
                scope.deadline = trio.current_time() + self._timeout_s
            return decode_reply(await self._line())
        raise NotRunning("the service does not answer in time; look at its log")

    async def _line(self) -> bytes:
        try:
            while (line := self._buffer.next_line()) is None:
                data = await self._stream.receive_some(_CHUNK_BYTES)
                if not data:
                    raise NotRunning("the service ended the connection; look at its log")
                self._buffer.feed(bytes(data))
        except LimitExceeded as error:
            raise RemoteProtocolError("the service sent a frame over the bound") from error
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise NotRunning("the service ended the connection; look at its log") from error
        return line


@asynccontextmanager
async def open_client(
    network: Network, endpoint: Endpoint, token: SecretStr, *, timeout_s: float = REPLY_TIMEOUT_S
) -> AsyncIterator[ControlClient]:
    """Connect to a service and show the token.

    Args:
        network: opens the connection.
        endpoint: where it listens, from `gridagent.fronts.control.rendezvous.find_endpoint`.
        token: its token.
        timeout_s: seconds a reply may take.

    Raises:
        NotRunning: nobody answers there, or somebody else does.
        EndpointRefused: the service does not accept the token or the version.
    """
    try:
        stream = await network.connect_tcp(endpoint.host, endpoint.port, timeout_s=CONNECT_TIMEOUT_S)
    except (OSError, trio.TooSlowError) as error:
        raise NotRunning(
            f"no service answers on {endpoint.host} port {endpoint.port}, where the last one (process {endpoint.pid}) "
            "listened; start one with: gridagent run"
        ) from error
    client = ControlClient(stream, timeout_s=timeout_s)
    try:
        await client.greet(token, instance=endpoint.instance)
        yield client
    finally:
        await trio.aclose_forcefully(stream)
