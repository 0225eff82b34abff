"""The trio shell of the control endpoint: connections, deadlines, and performing what was asked.

Owns the places for connections and streams, and the sending under a deadline; what may be said when is
`gridagent.fronts.control.conversation`. Holds a `Service` and nothing that could cause anything but its
controls (Spec: MND-18). The command line serves it on loopback; tests hand it streams in memory.

Invariants: nothing raises out of `ControlServer.handle`; a client that does not read is
dropped after ``send_timeout_s`` and holds nobody else up (Fault: 34); whoever holds the token gets a
connection, however many strangers hold one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Final, TypeAlias

import attrs
import msgspec
import trio

from gridagent.config.secrets import SecretStr
from gridagent.controls import Control, ControlReply, Hold
from gridagent.errors import GridAgentError, OperatorError, ResourceBusy, ResourceClosed
from gridagent.fronts.control.archive import Archive, list_doubts
from gridagent.fronts.control.conversation import ControlConversation, Farewell
from gridagent.fronts.control.frames import encode_reply
from gridagent.fronts.control.limits import ControlLimits
from gridagent.fronts.control.words import (
    Answered,
    ApprovalRow,
    AuditRow,
    BackUp,
    CheckAudit,
    Done,
    DoubtRow,
    Ended,
    ExportAudit,
    ExportHeld,
    ForgetHeld,
    HoldAll,
    ListApprovals,
    ListDoubts,
    ListHeld,
    Missed,
    Observe,
    Observed,
    Refused,
    Reply,
    Request,
    SearchAudit,
    SendControl,
    ShowStatus,
    ShowStorage,
    StatusRow,
    TailAudit,
    Welcome,
)
from gridagent.ids import AvatarKey
from gridagent.limits import clip
from gridagent.observations import Observation
from gridagent.runtime.ports import Network
from gridagent.service.api import Lagged, Service, SessionHandle, SessionStatus

__all__ = ("ControlServer", "ControlStatistics", "serve_control")

HeldRequest: TypeAlias = ListHeld | ExportHeld | ForgetHeld
StorageRequest: TypeAlias = SearchAudit | CheckAudit | ExportAudit | BackUp | ShowStorage | HeldRequest
LogError: TypeAlias = Callable[[str, BaseException], None]

_CHUNK_BYTES: Final = 16 * 1024
_SEND_BYTES: Final = 64 * 1024
_LISTED: Final = 8
"""Approvals and doubtful effects named in a status row; the rest is counted."""
_SPARE: Final = 8
"""Connections beyond the limit that are accepted to be told so."""

_NO_STORAGE: Final = "this service keeps effects in memory only; start it with a configuration file"
_STOPPED: Final = ControlReply(accepted=False, code="stopped", message="the avatar has stopped; start it again first")
_SLOW: Final = ControlReply(
    accepted=False, code="slow", message="no answer in time; it may still be carried out: look at the status"
)


@attrs.define(kw_only=True)
class ControlStatistics:
    """Counts since the start."""

    accepted: int = 0
    refused: int = 0
    """Connections turned away because all places were taken."""
    evicted: int = 0
    """Connections without a token that made room."""
    unauthenticated: int = 0
    broken_rules: int = 0
    """Connections closed for breaking a rule of the protocol after the token was shown."""
    slow: int = 0
    """Readers dropped because they did not read."""
    failed: int = 0
    """Connections that ended by a fault of our own; the log has each."""


class _Connection:
    """One place: the stream, the conversation, and the scope that ends both."""

    __slots__ = ("conversation", "limits", "pending", "scope", "slow", "stream")

    def __init__(self, stream: trio.abc.Stream, conversation: ControlConversation, limits: ControlLimits) -> None:
        self.stream = stream
        self.conversation = conversation
        self.limits = limits
        self.scope = trio.CancelScope()
        self.pending = trio.Lock()
        self.slow = False

    async def receive(self) -> bytes:
        """Return what came in; nothing when the client left."""
        try:
            return bytes(await self.stream.receive_some(_CHUNK_BYTES))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def send(self, replies: Iterable[Reply]) -> None:
        """Send replies in order, each part under the deadline; a client that is gone or slow ends the connection.

        Cancellation: a part may have been sent; the connection is of no further use.
        """
        out = bytearray()
        async with self.pending:  # a stream has one task an avatar
            for reply in replies:
                line = encode_reply(reply, self.limits.frame_max_bytes)
                if out and len(out) + len(line) > _SEND_BYTES:
                    await self._send(out)
                    out.clear()
                out += line
            if out:
                await self._send(out)

    async def _send(self, data: bytearray) -> None:
        with trio.move_on_after(self.limits.send_timeout_s) as deadline:
            try:
                await self.stream.send_all(bytes(data))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                deadline.cancel(reason="the client left")
            else:
                return
        self.slow = deadline.deadline <= trio.current_time()
        self.scope.cancel(reason="the client does not read" if self.slow else "the client left")
        await trio.lowlevel.checkpoint()


class ControlServer:
    """Serves one service to those who hold the token.

    Args:
        service: whose avatars are controlled and observed.
        token: what a client must show.
        version: of the program, told in the welcome.
        instance: of this run, as the endpoint file tells it.
        limits: sizes, rates and times.
        log_error: takes a stable code and the error of a connection that ended by a fault of our own.
        archive: storage; None when effects are kept in memory only.
    """

    def __init__(
        self,
        service: Service,
        *,
        token: SecretStr,
        version: str,
        instance: str,
        limits: ControlLimits | None = None,
        log_error: LogError | None = None,
        archive: Archive | None = None,
    ) -> None:
        self.statistics = ControlStatistics()
        self.limits = ControlLimits() if limits is None else limits
        self._service = service
        self._log_error = log_error
        self._archive = archive
        self._token = token
        self._version = version
        self._instance = instance
        self._places: OrderedDict[int, _Connection] = OrderedDict()  # oldest first; at most connections_max
        self._streams = 0

    # --- connections ------------------------------------------------------------------------------

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection until it ends; closes the stream.

        Cancellation: closes the connection.
        """
        conversation = ControlConversation(
            self._token,
            version=self._version,
            instance=self._instance,
            limits=self.limits,
            now=trio.current_time(),
        )
        connection = _Connection(stream, conversation, self.limits)
        try:
            with connection.scope:
                if self._take_place(connection):
                    await self._converse(connection)
                else:
                    self.statistics.refused += 1
                    await connection.send([Refused(code="too_many_connections", message="close one and try again")])
        except Exception as error:  # noqa: BLE001 - one connection's fault ends no other, and no avatar (Spec: SUP-7)
            self.statistics.failed += 1
            if self._log_error is not None:
                self._log_error("control_connection_failed", error)
        finally:
            self.statistics.slow += connection.slow
            self._places.pop(id(connection), None)
            with suppress(trio.BrokenResourceError):  # some streams say goodbye while they close
                await trio.aclose_forcefully(stream)

    def _take_place(self, connection: _Connection) -> bool:
        if len(self._places) >= self.limits.connections_max:
            stranger = next((each for each in self._places.values() if not each.conversation.trusted), None)
            if stranger is None:
                return False
            self.statistics.evicted += 1
            del self._places[id(stranger)]
            stranger.scope.cancel(reason="its place is needed")
        self.statistics.accepted += 1
        self._places[id(connection)] = connection
        return True

    async def _converse(self, connection: _Connection) -> None:
        conversation = connection.conversation
        while True:
            said = conversation.next_said(trio.current_time())
            match said:
                case None:
                    if not await self._receive(connection):
                        return
                case Farewell():
                    await self._part(connection, said)
                    return
                case Welcome():
                    await connection.send([said])
                case Observe():
                    await self._observe(connection, said)
                    return
                case _:
                    await connection.send(await self._perform(said))

    async def _receive(self, connection: _Connection) -> bool:
        """Wait for bytes or for the conversation's timer; False when the connection is to be closed."""
        conversation = connection.conversation
        due = conversation.timer()
        with trio.CancelScope() as scope:
            if due is not None:
                scope.deadline = due
            data = await connection.receive()
            conversation.feed(data)
            return bool(data)
        await self._part(connection, conversation.on_timer())
        return False

    async def _part(self, connection: _Connection, farewell: Farewell) -> None:
        if farewell.last.code == "unauthenticated":
            self.statistics.unauthenticated += 1
        else:
            self.statistics.broken_rules += 1
        await connection.send([farewell.last])

    # --- requests ---------------------------------------------------------------------------------

    async def _perform(self, request: Request) -> list[Reply]:  # noqa: PLR0911 - one branch a request
        try:
            match request:
                case ShowStatus():
                    return _rows(request.id, [_status_row(request.id, each) for each in self._statuses(request.avatar)])
                case ListApprovals():
                    now = trio.current_time()
                    statuses = self._statuses(request.avatar)
                    return _rows(request.id, [row for each in statuses for row in _approvals(request.id, each, now)])
                case TailAudit():
                    return _rows(request.id, self._audit(request))
                case HoldAll():
                    return _rows(request.id, await self._hold_all(request.id))
                case SendControl():
                    handle = self._service.avatar(request.avatar)
                    answer = await self._control(handle, request.control)
                    return [Answered(id=request.id, avatar=handle.key, answer=answer)]
                case ListDoubts():
                    return _rows(request.id, list(await self._doubts(request)))
                case Observe():
                    raise AssertionError("a stream is no request with an end")
                case _:
                    return await self._archived(request)
        except OperatorError as error:
            return [Refused(id=request.id, code="unknown_avatar", message=clip(str(error), 256))]

    def _statuses(self, avatar: AvatarKey | None) -> tuple[SessionStatus, ...]:
        return self._service.status() if avatar is None else (self._service.avatar(avatar).status(),)

    def _audit(self, request: TailAudit) -> list[Reply]:
        wanted = None if request.avatar is None else self._service.avatar(request.avatar).key
        records = [(key, record) for key, record in self._service.audit if wanted in {None, key}]
        return [
            AuditRow(id=request.id, avatar=key, record=msgspec.Raw(msgspec.json.encode(record)))
            for key, record in records[-request.most :]
        ]

    async def _doubts(self, request: ListDoubts) -> list[DoubtRow]:
        keys = self._service.avatars if request.avatar is None else (request.avatar,)
        return await list_doubts([self._service.avatar(key) for key in keys], self._archive, number=request.id)

    async def _archived(self, request: StorageRequest) -> list[Reply]:
        """Answer what only storage can; whatever it cannot do is a refusal, and the connection goes on."""
        if self._archive is None:
            return [Refused(id=request.id, code="no_storage", message=_NO_STORAGE)]
        if isinstance(request, ExportAudit | ExportHeld | BackUp) and not PurePath(request.file).is_absolute():
            return [Refused(id=request.id, code="relative_path", message="name the file by its absolute path")]
        keys: tuple[AvatarKey, ...] = ()
        if isinstance(request, HeldRequest):
            keys = self._service.avatars if request.avatar is None else (self._service.avatar(request.avatar).key,)
        try:
            rows = await _ask(self._archive, request, keys)
        except GridAgentError as error:
            return [Refused(id=request.id, code=clip(error.code, 64), message=clip(str(error), 256))]
        stamped: list[Reply] = [msgspec.structs.replace(row, id=request.id) for row in rows]
        return _rows(request.id, stamped) if isinstance(request, SearchAudit | ListHeld) else stamped

    async def _control(self, handle: SessionHandle, control: Control) -> ControlReply:
        with trio.move_on_after(self.limits.control_timeout_s):
            try:
                return await handle.control(control)
            except ResourceClosed:
                return _STOPPED
        return _SLOW

    async def _hold_all(self, number: int) -> list[Reply]:
        """Hold every avatar at once: one that is slow to answer keeps no other waiting (Spec: POL-12)."""
        replies: dict[AvatarKey, ControlReply] = {}

        async def hold(handle: SessionHandle) -> None:
            replies[handle.key] = await self._control(handle, Hold())

        async with trio.open_nursery() as nursery:
            for key in self._service.avatars:
                nursery.start_soon(hold, self._service.avatar(key))
        return [Answered(id=number, avatar=key, answer=replies[key]) for key in self._service.avatars]

    # --- streams ----------------------------------------------------------------------------------

    async def _observe(self, connection: _Connection, request: Observe) -> None:
        try:
            handles = [self._service.avatar(key) for key in request.avatars or self._service.avatars]
        except OperatorError as error:
            await connection.send([Refused(id=request.id, code="unknown_avatar", message=clip(str(error), 256))])
            return
        if self._streams >= self.limits.streams_max:
            words = f"{self.limits.streams_max} connections observe already; close one and try again"
            await connection.send([Refused(id=request.id, code="too_many_streams", message=words)])
            return
        self._streams += 1
        try:
            async with trio.open_nursery(strict_exception_groups=True) as nursery:
                nursery.start_soon(self._listen_for_end, connection, nursery.cancel_scope)
                async with trio.open_nursery(strict_exception_groups=True) as avatars:
                    for handle in dict.fromkeys(handles):
                        avatars.start_soon(self._stream, connection, request.id, handle)
                await connection.send([Done(id=request.id, count=len(handles))])
                nursery.cancel_scope.cancel(reason="every avatar has stopped")
        finally:
            self._streams -= 1

    async def _listen_for_end(self, connection: _Connection, scope: trio.CancelScope) -> None:
        """End the stream when the client leaves; whatever else it sends breaks a rule."""
        while True:
            said = connection.conversation.next_said(trio.current_time())
            if isinstance(said, Farewell):
                await self._part(connection, said)
                break
            data = await connection.receive()
            if not data:
                break
            connection.conversation.feed(data)
        scope.cancel(reason="the client is done")

    async def _stream(self, connection: _Connection, number: int, handle: SessionHandle) -> None:
        name = f"control-{number}"
        try:
            with handle.observe(name) as subscription:
                await connection.send([_status_row(number, handle.status())])
                while True:
                    batch = await subscription.receive_batch()
                    await connection.send(map(partial(_seen, number, handle.key), batch))
        except ResourceBusy as error:
            await connection.send([Refused(id=number, code="too_many_observers", message=clip(str(error), 256))])
        except (trio.EndOfChannel, ResourceClosed):
            await connection.send([Ended(id=number, avatar=handle.key)])


async def _ask(  # noqa: PLR0911 - one branch a request
    archive: Archive, request: StorageRequest, avatars: Sequence[AvatarKey]
) -> Sequence[Reply]:
    match request:
        case SearchAudit():
            return await archive.search(request)
        case CheckAudit():
            return [await archive.verify()]
        case ExportAudit():
            return [await archive.export(request.file)]
        case BackUp():
            return [await archive.back_up(request.file)]
        case ListHeld():
            return await archive.held(avatars, request.person)
        case ExportHeld():
            return [await archive.export_held(avatars, request.person, request.file)]
        case ForgetHeld():
            return [await archive.forget_held(avatars, request.person)]
        case ShowStorage():
            return [await archive.retry() if request.retry else archive.state()]


def _seen(number: int, key: AvatarKey, item: Observation | Lagged) -> Reply:
    if isinstance(item, Lagged):
        return Missed(id=number, avatar=key, missed=item.missed)
    return Observed(id=number, observation=item)


def _rows(number: int, rows: list[Reply]) -> list[Reply]:
    return [*rows, Done(id=number, count=len(rows))]


def _status_row(number: int, status: SessionStatus) -> Reply:
    gateway = status.gateway
    shown = msgspec.structs.replace(
        status,
        gateway=msgspec.structs.replace(
            gateway, approvals=gateway.approvals[:_LISTED], in_doubt=gateway.in_doubt[:_LISTED]
        ),
    )
    return StatusRow(id=number, status=shown, approvals=len(gateway.approvals), in_doubt=len(gateway.in_doubt))


def _approvals(number: int, status: SessionStatus, now: float) -> list[Reply]:
    return [
        ApprovalRow(
            id=number,
            avatar=status.key,
            approval_id=each.approval_id,
            action=each.action,
            summary=each.summary,
            principal=clip(each.principal, 64),
            rule=clip(each.rule, 64),
            expires_in_s=max(0.0, each.expires_at - now),
        )
        for each in status.gateway.approvals
    ]


async def serve_control(
    server: ControlServer,
    network: Network,
    *,
    host: str,
    port: int,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve on loopback until cancelled.

    Args:
        server: handles each connection.
        network: opens the listener.
        host: a loopback address; the configuration takes no other.
        port: 0 lets the system choose.
        task_status: told the bound port.

    Raises:
        OperatorError: the address cannot be used.

    Cancellation: closes the listener and every connection.
    """
    try:
        await network.serve_tcp(
            server.handle,
            host=host,
            port=port,
            connections_max=server.limits.connections_max + _SPARE,
            task_status=task_status,
        )
    except OSError as error:
        raise OperatorError(
            f"the control endpoint cannot listen on {host} port {port} ({error.strerror or 'unknown error'}); "
            "set control.port to 0 or to a free port"
        ) from error
