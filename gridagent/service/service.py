"""Many avatars in one process: each its own supervised session, one nursery for all.

Owns the supervisor of the sessions and the handles to them. Knows no protocol and no adapter: whoever
opens it supplies a backend factory an avatar. Its invariants: nothing outlives `open_service`; one
avatar's failure never stops another's (Spec: SUP-3, SUP-7, SUP-11).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

import attrs
import msgspec

from gridagent.errors import OperatorError
from gridagent.grid.base import BackendFactory
from gridagent.ids import AvatarKey
from gridagent.limits import AVATARS_PER_SERVICE_MAX
from gridagent.observations import AgentState
from gridagent.policy import AuditRecord, Gateway, Instant, Policy
from gridagent.runtime.ports import Ports
from gridagent.runtime.restart import Backoff, RestartClass, RestartIntensity
from gridagent.runtime.supervisor import ChildExit, ChildSpec, ExitReason, Supervisor, open_supervisor
from gridagent.service.audit import AuditTrail
from gridagent.session import Mind, Session, SessionHandle, SessionSettings, SessionStatus
from gridagent.session.connection import LogError
from gridagent.session.faculties import Faculties
from gridagent.session.orders import GiveCode, Reloader
from gridagent.storage.avatar import AvatarStore
from gridagent.storage.base import Store

__all__ = ("AvatarSpec", "Hosted", "OpenMind", "Service", "open_service")

_TOKEN_BYTES: Final = 16
_NO_RESTARTS: Final = RestartIntensity(max_restarts=0, window_s=60.0)


@attrs.frozen(kw_only=True)
class Hosted:
    """A mind, and what answers its errands."""

    mind: Mind
    faculties: Faculties | None = None
    """None can answer nothing."""


OpenMind: TypeAlias = Callable[[Store | None], Awaitable[Hosted]]
"""Makes a mind that goes on from what a store kept."""


@attrs.frozen(kw_only=True)
class AvatarSpec:
    """Everything one avatar's session is made of."""

    settings: SessionSettings
    policy: Policy
    mind: Mind | OpenMind
    """What thinks; or what makes it, given the store."""
    backend: BackendFactory
    reload: Reloader | None = None
    give_code: GiveCode | None = None
    """Takes an operator's one-time code for the next login; None where the grid knows none."""


def _ignore(code: str, error: BaseException) -> None:
    """Log nowhere: the default for embedding."""


class Service:
    """The running avatars; made by `open_service` only."""

    __slots__ = ("_handles", "_sessions", "audit")

    def __init__(self, sessions: Mapping[AvatarKey, Session], audit: AuditTrail) -> None:
        self._sessions = sessions
        self._handles = {key: SessionHandle(session) for key, session in sessions.items()}
        self.audit = audit
        """Every decision and outcome of this process, newest last, bounded (Spec: POL-10)."""

    @property
    def avatars(self) -> tuple[AvatarKey, ...]:
        """The avatars of this service, in the order they were given."""
        return tuple(self._handles)

    def avatar(self, key: str | None = None) -> SessionHandle:
        """Return the handle of one avatar; without a key, of the only one.

        Raises:
            OperatorError: there is no such avatar, or no key was given and there are several.
        """
        known = ", ".join(self._handles)
        if key is None:
            if len(self._handles) != 1:
                raise OperatorError(f"name one avatar: {known}")
            return next(iter(self._handles.values()))
        handle = self._handles.get(AvatarKey(key))
        if handle is None:
            raise OperatorError(f"there is no avatar {key!r} in this service; it has: {known}")
        return handle

    def status(self) -> tuple[SessionStatus, ...]:
        """Return the status of every avatar."""
        return tuple(session.status() for session in self._sessions.values())

    async def wait_stopped(self) -> None:
        """Wait until every avatar has stopped or failed.

        Cancellation: safe.
        """
        for session in self._sessions.values():
            await session.stopped.wait()

    async def shut_down(self) -> None:
        """Stop every avatar in order and wait until nothing of them is left; may be called again.

        Cancellation: safe; the shutdown goes on (Spec: SUP-3).
        """
        self.close()
        await self.wait_stopped()

    def close(self) -> None:
        """Ask every avatar to stop in order, without waiting; idempotent."""
        for handle in self._handles.values():
            handle.close()

    @property
    def failed(self) -> tuple[AvatarKey, ...]:
        """The avatars that failed for good."""
        return tuple(key for key, session in self._sessions.items() if session.core.agent is AgentState.FAILED)


@asynccontextmanager
async def open_service(
    avatars: Sequence[AvatarSpec],
    *,
    ports: Ports,
    log_error: LogError = _ignore,
    audit: AuditTrail | None = None,
    store: Store | None = None,
) -> AsyncIterator[Service]:
    """Run avatars for as long as the ``async with`` block lasts.

    Args:
        avatars: one spec an avatar, with distinct keys.
        ports: clock, randomness and ids; `gridagent.runtime.system` has the real ones.
        log_error: takes a stable code and the error; the text goes to the redacted log and nowhere else.
        audit: where decisions are recorded; None keeps the newest in memory.
        store: where effects, budgets, approvals and audit survive; None keeps them for this process only.

    Yields:
        The running service. Leaving the block stops every avatar in order, bounded, before it returns.

    Raises:
        OperatorError: two avatars share a key, there are more than 1,024, or an earlier run cannot be gone on from.
        StorageFailed: the store failed while an avatar's earlier runs were read.

    Cancellation: the same orderly stop, bounded by each avatar's shutdown time-out.
    """
    if len(avatars) > AVATARS_PER_SERVICE_MAX:
        raise OperatorError(f"a service runs at most {AVATARS_PER_SERVICE_MAX} avatars, not {len(avatars)}")
    trail = AuditTrail() if audit is None else audit
    with ExitStack() as leaving:
        sessions: dict[AvatarKey, Session] = {}
        for spec in avatars:
            key = spec.settings.key
            if key in sessions:
                raise OperatorError(f"two avatars are called {key!r}; give each a name of its own")
            keeper = None if store is None else await AvatarStore.open(store, key)
            hosted = await spec.mind(store) if callable(spec.mind) else Hosted(mind=spec.mind)
            if keeper is None:
                sessions[key] = _session(spec, hosted, ports, trail, log_error)
            else:
                sessions[key] = _kept_session(spec, hosted, ports, trail, log_error, keeper, leaving)

        def on_exit(end: ChildExit) -> None:
            if end.error is not None and end.reason is not ExitReason.STOPPED:
                log_error("session_ended", end.error)

        service = Service(sessions, trail)
        async with open_supervisor(
            _NO_RESTARTS,
            clock=ports.clock,
            rng=ports.randomness.stream("service.restarts"),
            backoff=Backoff(1.0, 1.0, 0.0),
            on_exit=on_exit,
            name="avatars",
        ) as supervisor:
            try:
                for spec in avatars:
                    _start(supervisor, spec, sessions[spec.settings.key])
                yield service
            finally:
                service.close()


def _session(spec: AvatarSpec, hosted: Hosted, ports: Ports, trail: AuditTrail, log_error: LogError) -> Session:
    record = partial(trail.record, spec.settings.key)
    gateway = Gateway(spec.policy, tokens=partial(ports.ids.token, _TOKEN_BYTES), audit=record)
    return Session(
        settings=spec.settings,
        gateway=gateway,
        mind=hosted.mind,
        backend=spec.backend,
        faculties=hosted.faculties,
        ports=ports,
        log_error=log_error,
        reload=spec.reload,
        give_code=spec.give_code,
    )


def _kept_session(
    spec: AvatarSpec,
    hosted: Hosted,
    ports: Ports,
    trail: AuditTrail,
    log_error: LogError,
    keeper: AvatarStore,
    leaving: ExitStack,
) -> Session:
    """Build a session that goes on where its avatar's last run ended or was cut off (Spec: EFX-2)."""

    def audit(record: AuditRecord) -> None:
        trail.record(spec.settings.key, record)
        keeper.audit(record)

    snapshot = keeper.recovered.snapshot
    gateway, ended = Gateway.restore(
        spec.policy,
        snapshot,
        Instant(wall=ports.clock.wall(), monotonic=ports.clock.monotonic()),
        tokens=partial(ports.ids.token, _TOKEN_BYTES),
        audit=audit,
        changes=keeper.change,
        intents=True,
    )
    session = Session(
        settings=msgspec.structs.replace(spec.settings, last_generation=int(snapshot.generation)),
        gateway=gateway,
        mind=hosted.mind,
        backend=spec.backend,
        faculties=hosted.faculties,
        ports=ports,
        log_error=log_error,
        reload=spec.reload,
        give_code=spec.give_code,
        keeper=keeper,
        recovered=ended,
    )
    if keeper.safe_mode is not None:
        session.storage_changed(keeper.safe_mode.fault.value)
    leaving.callback(keeper.watch(lambda mode: session.storage_changed(None if mode is None else mode.fault.value)))
    return session


def _start(supervisor: Supervisor, spec: AvatarSpec, session: Session) -> None:
    supervisor.start(
        ChildSpec(
            name=spec.settings.key,
            run=session.run,
            # A session that failed is over: its avatar is reported as failed and its siblings live on.
            restart=RestartClass.TEMPORARY,
            shutdown_s=spec.settings.shutdown_timeout_s,
            ask=session.owner_gone,
        )
    )
